"""The paper's claims as differences between runs, and a verdict on each by a fixed rule."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from todflow.progress import Progress
from todflow.step_reward.paired import Difference, Interval, Paired, Term
from todflow.step_reward.tallies import Judge
from todflow.tables.places import MAIN, SFT, WHOLE, Place, place_of

REPRODUCED, NOT, INCONCLUSIVE = "reproduced", "not reproduced", "inconclusive"
NOT_RUN = "not run"
SEEDS = 3  # fewer seeds have no spread to speak of
RELEVANT = 0.5  # points; a gain below it is none
KEPT = 1.5  # points of BLEU that may be lost
LOW = 20  # percent of the training dialogues, at most, that count as low-resource


class Rule(NamedTuple):
    """Reproduced: all of both intervals above `above`. Not reproduced: all of both below `below`."""

    above: float
    below: float


GAIN = Rule(0.0, RELEVANT)
KEEP = Rule(-KEPT, -KEPT)


@dataclass(frozen=True)
class Comparison:
    """A difference of one metric between two stages: `better` minus `worse`.

    low: the same difference on shares up to LOW, minus the one on all data.
    """

    label: str
    better: str
    worse: str
    metric: str = "combined"
    rule: Rule | None = GAIN
    low: bool = False


@dataclass(frozen=True)
class Claim:
    """A claim holds if all of its comparisons do. `printed`: what the paper says, in words."""

    title: str
    comparisons: tuple[Comparison, ...]
    printed: str = ""


def _step(metric: str, label: str, rule: Rule | None = GAIN) -> Comparison:
    return Comparison(label, MAIN, SFT, metric, rule)


CLAIMS = (
    Claim("RL beats SFT in Combined", (_step("combined", "both rewards - SFT"),)),
    Claim(
        "Both rewards are needed",
        (
            Comparison("both - R_u only", MAIN, "rl-u"),
            Comparison("both - R_g only", MAIN, "rl-g"),
        ),
    ),
    Claim(
        "A dense reward beats a sparse one",
        (Comparison("both, dense - both, sparse", MAIN, "rl-sparse"),),
        "Stated, not measured: no such run is printed.",
    ),
    Claim(
        "The gain is larger in low-resource",
        (Comparison(f"gain on <= {LOW} % - gain on all data", MAIN, SFT, low=True),),
        "Drawn only, and against other systems, not against SFT.",
    ),
    Claim("BLEU is about kept", (_step("bleu", "both rewards - SFT, BLEU", KEEP),)),
)


class Finding(NamedTuple):
    """What came out of a comparison: None where its runs aren't there, and `missing` says which."""

    comparison: Comparison
    difference: Difference | None
    verdict: str
    missing: str = ""


@dataclass
class Evidence:
    """The counts of the test dialogues of every run of one corpus and backbone."""

    judge: Judge
    paired: Paired
    rows: dict[tuple[int, int, str], np.ndarray] = field(default_factory=dict)

    def find(self, comparison: Comparison) -> Finding:
        """The comparison over the seeds that have all of its runs."""
        if comparison.low:
            shares = sorted({share for _, share, _ in self.rows if share <= LOW})
            if not shares:
                return Finding(comparison, None, NOT_RUN, f"no share of {LOW} % or less was run")
            parts = [(1 / len(shares), share) for share in shares] + [(-1.0, WHOLE)]
        else:
            parts = [(1.0, WHOLE)]
        wanted = [
            (sign * weight, share, stage)
            for weight, share in parts
            for sign, stage in ((1, comparison.better), (-1, comparison.worse))
        ]
        seeds = sorted({seed for seed, _, _ in self.rows})
        terms: dict[int, list[Term]] = {}
        for seed in seeds:
            if all((seed, share, stage) in self.rows for _, share, stage in wanted):
                terms[seed] = [
                    (weight, self.rows[seed, share, stage]) for weight, share, stage in wanted
                ]
        if not terms:
            stages = {stage for _, _, stage in self.rows}
            gone = [s for s in (comparison.better, comparison.worse) if s not in stages]
            why = f"no run of {' or '.join(gone)}" if gone else "no seed has all of the runs"
            return Finding(comparison, None, NOT_RUN, why)
        figure = self._figure(comparison.metric)
        found = self.paired.difference(terms, figure)
        return Finding(comparison, found, verdict(found, comparison.rule))

    def gains(self) -> list[tuple[int, Difference]]:
        """RL minus SFT in Combined, by share of the training dialogues."""
        found = []
        for share in sorted({share for _, share, _ in self.rows}):
            terms = {
                seed: [(1.0, self.rows[seed, share, MAIN]), (-1.0, self.rows[seed, share, SFT])]
                for seed, other, stage in self.rows
                if (other, stage) == (share, MAIN) and (seed, share, SFT) in self.rows
            }
            if terms:
                found.append((share, self.paired.difference(terms, self._figure("combined"))))
        return found

    def _figure(self, metric: str) -> Callable[[np.ndarray], np.ndarray]:
        return lambda totals: self.judge.figures(totals)[metric]


def gather(
    predictions: Iterable[Path],
    judges: Mapping[str, Judge],
    samples: int,
    seed: int,
) -> dict[tuple[str, str], Evidence]:
    """(dataset, backbone) -> the counts of all of its runs, each scored once.

    Runs may be given twice. All are paired on the same resamples of a corpus' test dialogues.
    """
    runs: dict[Place, Path] = {place_of(path): path for path in predictions}
    paired = {
        name: Paired(judge.dialogues, samples, seed)
        for name, judge in judges.items()
        if any(place.dataset == name for place in runs)
    }
    evidence: dict[tuple[str, str], Evidence] = {}
    progress = Progress("judge claims", len(runs), "runs")
    for done, (place, path) in enumerate(runs.items()):
        judge = judges[place.dataset]
        key = place.dataset, place.backbone
        part = evidence.setdefault(key, Evidence(judge, paired[place.dataset]))
        part.rows[place.seed, place.share, place.stage] = judge.rows(Path(path))
        progress.update(done + 1)
    progress.close()
    return evidence


def verdict(found: Difference, rule: Rule | None) -> str:
    """By the rule, of the pooled interval over dialogues and the one over seeds together."""
    if rule is None:
        return ""
    if found.over is None or len(found.seeds) < SEEDS:
        return INCONCLUSIVE
    both: tuple[Interval, Interval] = (found.dialogues, found.over)
    if all(low > rule.above for low, _ in both):
        return REPRODUCED
    if all(high < rule.below for _, high in both):
        return NOT
    return INCONCLUSIVE


def overall(findings: Iterable[Finding]) -> str:
    """The verdict on a claim of several comparisons: the worst of theirs."""
    verdicts = [finding.verdict for finding in findings]
    order = (NOT, NOT_RUN, INCONCLUSIVE, REPRODUCED)
    return next(each for each in order if each in verdicts)


def others(
    stages: Iterable[str], metrics: Mapping[str, str], names: Mapping[str, str]
) -> tuple[Comparison, ...]:
    """Differences that no claim of the paper is about: single metrics, and the config's other arms.

    `metrics` and `names` say what metrics and stages are called.
    """
    known = {SFT, MAIN} | {each.worse for claim in CLAIMS for each in claim.comparisons}
    single = [
        Comparison(f"both rewards - SFT, {name}", MAIN, SFT, metric, None)
        for metric, name in metrics.items()
    ]
    alone = [
        Comparison(f"{names[stage]} - SFT", stage, SFT, rule=None)
        for stage in ("rl-u", "rl-g", "rl-sparse")
        if stage in stages
    ]
    arms = [
        Comparison(f"both rewards - {names[stage]}", MAIN, stage, rule=None)
        for stage in dict.fromkeys(stages)
        if stage not in known
    ]
    return (*single, *alone, *arms)
