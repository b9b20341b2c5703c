"""Which runs an artefact rests on: their scores, episodes and chosen iterations, by run."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from todflow.errors import TodflowError
from todflow.step_reward import rl_curve
from todflow.tables.cells import setting
from todflow.tables.measurements import Tested, read_tested
from todflow.tables.places import MAIN, SFT, Place, place_of

MATCH = ("match", "succ_f1", "bleu", "combined")
INFORM = ("inform", "success", "bleu", "combined")


def metrics_of(dataset: str) -> tuple[str, ...]:
    """The four figures that papers print for a corpus."""
    return INFORM if dataset.startswith("multiwoz") else MATCH


class Played(NamedTuple):
    """An RL run: episodes played in all, and the iteration whose weights were kept (0: SFT's)."""

    episodes: int
    kept: int


@dataclass(frozen=True)
class Cell:
    """Several seeds of one figure: mean, standard deviation (None with one seed), seeds in order."""

    mean: float
    spread: float | None
    seeds: tuple[int, ...]


class Runs:
    """The scores of some runs, one context and evaluator a corpus, and the curves of RL runs."""

    def __init__(self, scores: Iterable[str | Path], curves: Iterable[str | Path]):
        self.tested: dict[Place, Tested] = {}
        for path in scores:
            tested = read_tested(path)
            if tested.place in self.tested:
                raise TodflowError(
                    f"{tested.score.path}: a second score of one run; give one context and evaluator"
                )
            self.tested[tested.place] = tested
        self.played = {
            place_of(path): Played(int(curve["episodes"].max()), rl_curve.chosen(curve))
            for path in curves
            if place_of(path).stage != SFT
            for curve in [rl_curve.read_curve(path)]
        }

    def models(self) -> list[tuple[str, str]]:
        """(dataset, backbone) of all runs, in the order in which they were given."""
        return list(dict.fromkeys((place.dataset, place.backbone) for place in self.tested))

    def shares(self, dataset: str, backbone: str) -> list[int]:
        """The shares of a corpus that were trained on, in percent."""
        found = {p.share for p in self.tested if (p.dataset, p.backbone) == (dataset, backbone)}
        return sorted(found)

    def stages(self, dataset: str, backbone: str) -> list[str]:
        """SFT, the main arm, other arms, as far as they were run."""
        found = [p.stage for p in self.tested if (p.dataset, p.backbone) == (dataset, backbone)]
        return sorted(dict.fromkeys(found), key=lambda stage: (stage != SFT, stage != MAIN))

    def group(self, dataset: str, backbone: str, share: int, stage: str) -> list[Tested]:
        """The seeds of one model, in order; all scored alike (TodflowError if not)."""
        found = sorted(
            (
                tested
                for place, tested in self.tested.items()
                if place._replace(seed=0) == (dataset, backbone, 0, share, stage)
            ),
            key=lambda tested: tested.place.seed,
        )
        for each in found[1:]:
            if (each.context, setting(each.score)) != (found[0].context, setting(found[0].score)):
                raise TodflowError(
                    f"{each.score.path}: isn't scored as {found[0].score.path}; score all seeds alike"
                )
        return found

    def about(self, tested: list[Tested]) -> dict[str, str]:
        """How the seeds of one model were trained and scored, as columns of a table."""
        played = [self.played[each.place] for each in tested if each.place in self.played]
        episodes = sorted({each.episodes for each in played})
        return {
            "context": tested[0].context,
            **setting(tested[0].score),
            "episodes": "-".join(
                str(count) for count in dict.fromkeys((*episodes[:1], *episodes[-1:]))
            ),
            "kept_iterations": " ".join(str(each.kept) for each in played),
            "seeds": " ".join(str(each.place.seed) for each in tested),
            "n": str(len(tested)),
        }


def cell(tested: list[Tested], metric: str) -> Cell:
    """One figure of the seeds of a model."""
    values = [each.score.figures[metric].value for each in tested]
    spread = statistics.stdev(values) if len(values) > 1 else None
    return Cell(statistics.fmean(values), spread, tuple(each.place.seed for each in tested))


ABOUT = (
    "context",
    "evaluator",
    "vintage",
    "state",
    "dialogues",
    "episodes",
    "kept_iterations",
    "seeds",
    "n",
)


def stage_name(stage: str, arms: Mapping[str, Mapping]) -> str:
    """What a stage is called in text: SFT, + R_u only, .., and what an arm of one's own changes."""
    arm = stage.removeprefix("rl-")
    if stage in NAMES:
        return NAMES[stage]
    changes = ", ".join(f"{key} {str(value).lower()}" for key, value in arms.get(arm, {}).items())
    return f"SFT + RL, {changes}" if changes else f"SFT + RL, arm {arm}"


NAMES = {
    SFT: "SFT",
    MAIN: "SFT + RL, R_u and R_g",
    "rl-u": "SFT + RL, R_u only",
    "rl-g": "SFT + RL, R_g only",
    "rl-sparse": "SFT + RL, sparse (same total, at the end)",
}
