"""Rows of trained models: one per stage, backbone, corpus, context, evaluator and metric."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from todflow.errors import TodflowError
from todflow.tables.cells import empty, join, measured, setting
from todflow.tables.measurements import CONTEXTS, Figure, Tested
from todflow.tables.places import MAIN, SFT, WHOLE
from todflow.tables.published import Published, System
from todflow.tables.seeds import t_interval

UNDEFINED = {
    "act_f1": "Undefined: this corpus has no dialogue acts.",
    "joint_goal_accuracy": "Undefined: the output has no belief states.",
}
Key = tuple[str, str, str]  # backbone, dataset, stage


class Models(NamedTuple):
    """What a run's models are, which decides whether they are stand-ins.

    backbones: the config's by name; only a name that means the paper's pretrained model is no
    stand-in. reasons: by corpus, what else makes its models stand-ins. arms: by name, what an RL arm
    changes in the settings. episodes: of RL, by corpus.
    """

    backbones: Mapping[str, dict]
    reasons: Mapping[str, list[str]]
    arms: Mapping[str, dict]
    episodes: Mapping[str, int]


def system_name(stage: str, backbone: str) -> str:
    """What tables call a model: SFT, SFT+RL, or SFT+RL with the name of an arm."""
    if stage == SFT:
        return f"SFT {backbone}"
    arm = "" if stage == MAIN else f", arm {arm_of(stage)}"
    return f"SFT+RL {backbone}{arm}"


def arm_of(stage: str) -> str:
    """The name of an RL stage's arm."""
    return stage.removeprefix("rl-")


class Trained:
    """The tested models of a run, and the rows that they fill; shares of a corpus are left out."""

    def __init__(self, published: Published, scale: str, models: Models, tested: list[Tested]):
        self.known = published.trained
        self.position = published.position
        self.scale = scale
        self.models = models
        # (backbone, dataset, stage) -> (context, evaluator) -> seeds in order
        self.tested: dict[Key, dict[tuple[str, str], list[Tested]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for each in sorted(tested, key=lambda each: each.place.seed):
            place = each.place
            if place.share == WHOLE:
                key = place.backbone, place.dataset, place.stage
                self.tested[key][each.context, each.score.evaluator].append(each)

    def rows(self) -> list[dict]:
        """Rows of this project: those that published.yaml lists, then other models."""
        listed = [(row["backbone"], row["dataset"], SFT) for row in self.known["rows"]]
        arms = [f"rl-{arm}" for arm in self.models.arms]
        others = sorted(
            set(self.tested) - set(listed),
            # SFT first, then the arms as the config has them.
            key=lambda key: (key[2] != SFT, key[:2], arms.index(key[2]) if key[2] in arms else -1),
        )
        rows = []
        for key in listed + others:
            backbone, dataset, stage = key
            found = self.tested.get(key, {})
            status, why = self._status(key, bool(found))
            if not found:
                note = f"{why} Not run: this backbone on this corpus wasn't part of this run."
                rows += [
                    empty(self.known["paper"], system_name(stage, backbone), dataset, metric, note)
                    for metric in self.known["metrics"][dataset]
                ]
            for scored in sorted(found, key=self._position):
                rows += self._scored(found[scored], status, why)
        return rows

    def in_paper_row(self, system: System, dataset: str, metric: str) -> dict | None:
        """What a row of the paper's gets in `metric` from the model that it means; None: nothing."""
        row = self.known["paper_rows"].get(system.name)
        if row is None or dataset not in system.evaluators:
            return None
        key = row["backbone"], dataset, row["stage"]
        status, _ = self._status(key, True)
        found = self.tested.get(key, {})
        tested = found.get((self.known["paper_context"], system.evaluators[dataset]), [])
        if status != "reproduced" or not tested:
            return None
        if any(each.score.scored != each.score.expected for each in tested):
            return None
        return self._row(tested, metric, status, [])

    def _position(self, key: tuple[str, str]) -> tuple:
        context, evaluator = key
        return CONTEXTS.index(context), *self.position(evaluator)

    def _status(self, key: Key, measured: bool) -> tuple[str, str]:
        backbone, dataset, stage = key
        why = []
        if dataset in self.known["made_datasets"]:
            why.append("Stand-in corpus: dialogues made by this project.")
        why += self.models.reasons.get(dataset, []) if measured else []
        papers = self.known["paper_backbones"].get(backbone)
        given = self.models.backbones.get(backbone)
        # Where nothing was measured, the config needn't have the paper's backbone.
        waiting = papers and given is None and not measured
        pretrained = given and papers and given.get("kind") == "pretrained"
        if not waiting and not (pretrained and given.get("name") == papers):
            why.append("Stand-in model: trained from scratch or unlike the paper's Flan-T5.")
        if stage == SFT:
            if why:
                return "stand_in", " ".join(why)
            return "reproduced", "The paper's Table 1 has no row for SFT alone."
        episodes, papers = self.models.episodes.get(dataset, 0), int(self.known["paper_episodes"])
        if episodes < papers:
            why.append(f"Stand-in training: {episodes:,} episodes of RL, the paper has {papers:,}.")
        return "stand_in" if why else "reproduced", join([*why, self._arm(stage)])

    def _arm(self, stage: str) -> str:
        """What an arm changes in the settings of RL, as a sentence."""
        changes = self.models.arms.get(arm_of(stage)) or {}
        return "".join(
            f"RL with {name} {str(value).lower()}. " for name, value in changes.items()
        ).strip()

    def _scored(self, tested: list[Tested], status: str, why: str) -> list[dict]:
        first = tested[0]
        name = system_name(first.place.stage, first.place.backbone)
        context = ""
        if first.context == "gold":
            name, context = f"{name} (gold context)", "The gold previous turn is given as context."
        return [
            {
                "paper": self.known["paper"],
                "system": name,
                "dataset": first.place.dataset,
                "metric": metric,
                **self._row(tested, metric, status, [why, context]),
            }
            for metric in self.known["metrics"][first.place.dataset]
        ]

    def _row(self, tested: list[Tested], metric: str, status: str, notes: list[str]) -> dict:
        figure, interval = _pool(metric, tested)
        return {
            **measured(figure, status, self.scale),
            **setting(tested[0].score),
            "seeds": " ".join(str(each.place.seed) for each in tested),
            "provenance": " ".join(each.score.path for each in tested),
            "note": join([*notes, interval]),
        }


def _pool(metric: str, tested: list[Tested]) -> tuple[Figure, str]:
    """One figure for all seeds of a row, and what its interval means."""
    scores = [each.score for each in tested]
    figures = [score.figures[metric] for score in scores]
    first = figures[0]
    for score, figure in zip(scores, figures, strict=True):
        if (
            setting(score) != setting(scores[0])
            or figure.n != first.n
            or (figure.value is None) != (first.value is None)
        ):
            raise TodflowError(
                f"{score.path}: {metric} isn't measured on the same turns as in {scores[0].path};"
                " score all seeds of a row alike"
            )
    if first.value is None:
        return first, UNDEFINED[metric]
    if len(figures) == 1:
        return first, (
            "One seed; no interval was measured."
            if first.low is None
            else "One seed; 95 % bootstrap interval over dialogues."
        )
    mean, low, high = t_interval([figure.value for figure in figures])
    return Figure(mean, low, high, first.n), (
        f"Mean of {len(figures)} seeds; 95 % t-interval over seeds."
    )
