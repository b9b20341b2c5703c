"""Rows of supervised fine-tuning: one per backbone, corpus, context, evaluator and metric."""

from collections import defaultdict

from todflow.errors import TodflowError
from todflow.tables.cells import empty, join, measured, setting
from todflow.tables.measurements import CONTEXTS, Figure, Tested
from todflow.tables.published import Published
from todflow.tables.seeds import t_interval

UNDEFINED = {
    "act_f1": "Undefined: this corpus has no dialogue acts.",
    "joint_goal_accuracy": "Undefined: the output has no belief states.",
}


class Supervised:
    """The tested models of a run, and the rows that they fill.

    `backbones` are the config's by name: only a name that means the paper's pretrained model is no
    stand-in. `reasons` has, by corpus, what else makes its models stand-ins.
    """

    def __init__(
        self,
        published: Published,
        scale: str,
        backbones: dict[str, dict],
        reasons: dict[str, list[str]],
        tested: list[Tested],
    ):
        self.sft = published.sft
        self.position = published.position
        self.scale = scale
        self.backbones = backbones
        self.reasons = reasons
        # (backbone, dataset) -> (context, evaluator) -> seeds in order
        self.tested: dict[tuple[str, str], dict[tuple[str, str], list[Tested]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for each in sorted(tested, key=lambda each: each.seed):
            key = each.context, each.score.evaluator
            self.tested[each.backbone, each.dataset][key].append(each)

    def rows(self) -> list[dict]:
        """Rows of this project: those that published.yaml lists, then other backbones."""
        listed = [(row["backbone"], row["dataset"]) for row in self.sft["rows"]]
        rows = []
        for backbone, dataset in listed + sorted(set(self.tested) - set(listed)):
            found = self.tested.get((backbone, dataset), {})
            status, why = self._status(backbone, dataset, bool(found))
            if not found:
                note = f"{why} Not run: this backbone on this corpus wasn't part of this run."
                rows += [
                    empty(self.sft["paper"], f"SFT {backbone}", dataset, metric, note)
                    for metric in self.sft["metrics"][dataset]
                ]
            for key in sorted(found, key=self._position):
                rows += self._scored(found[key], status, why)
        return rows

    def in_paper_row(self, system: str, dataset: str, metric: str) -> dict | None:
        """What the one row of the paper's that is SFT alone gets in `metric`; None: nothing."""
        row = self.sft["paper_row"]
        if (system, dataset) != (row["system"], row["dataset"]):
            return None
        status, _ = self._status(row["backbone"], dataset, True)
        found = self.tested.get((row["backbone"], dataset), {})
        tested = found.get((row["context"], row["evaluator"]), [])
        if status != "reproduced" or not tested:
            return None
        if any(each.score.scored != each.score.expected for each in tested):
            return None
        return self._row(tested, metric, status, [])

    def _position(self, key: tuple[str, str]) -> tuple:
        context, evaluator = key
        return CONTEXTS.index(context), *self.position(evaluator)

    def _status(self, backbone: str, dataset: str, measured: bool) -> tuple[str, str]:
        why = []
        if dataset in self.sft["made_datasets"]:
            why.append("Stand-in corpus: dialogues made by this project.")
        why += self.reasons.get(dataset, []) if measured else []
        papers = self.sft["paper_backbones"].get(backbone)
        given = self.backbones.get(backbone)
        # Where nothing was measured, the config needn't have the paper's backbone.
        waiting = papers and given is None and not measured
        pretrained = given and papers and given.get("kind") == "pretrained"
        if not waiting and not (pretrained and given.get("name") == papers):
            why.append("Stand-in model: trained from scratch or unlike the paper's Flan-T5.")
        if why:
            return "stand_in", " ".join(why)
        return "reproduced", "The paper's Table 1 has no row for SFT alone."

    def _scored(self, tested: list[Tested], status: str, why: str) -> list[dict]:
        first = tested[0]
        name = f"SFT {first.backbone}"
        context = ""
        if first.context == "gold":
            name, context = f"{name} (gold context)", "The gold previous turn is given as context."
        return [
            {
                "paper": self.sft["paper"],
                "system": name,
                "dataset": first.dataset,
                "metric": metric,
                **self._row(tested, metric, status, [why, context]),
            }
            for metric in self.sft["metrics"][first.dataset]
        ]

    def _row(self, tested: list[Tested], metric: str, status: str, notes: list[str]) -> dict:
        figure, interval = _pool(metric, tested)
        return {
            **measured(figure, status, self.scale),
            **setting(tested[0].score),
            "seeds": " ".join(str(each.seed) for each in tested),
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
