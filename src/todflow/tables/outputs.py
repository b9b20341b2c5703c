"""Rows of published systems whose own outputs were scored here."""

from collections import defaultdict

from todflow.tables.cells import empty, join, measured, setting
from todflow.tables.measurements import Rescored
from todflow.tables.published import Outputs, Published, System


class Baselines:
    """The outputs that a run scored, and the rows that they fill.

    `files` has, for every file of outputs that the config names, {"corpus": whose references and
    column it goes with, "missing": why it couldn't be scored, or ""}.
    """

    def __init__(
        self, published: Published, scale: str, files: dict[str, dict], rescored: list[Rescored]
    ):
        self.known = published.rescored
        self.scale = scale
        self.files = files
        self.rescored: dict[str, list[Rescored]] = defaultdict(list)
        for each in sorted(rescored, key=lambda each: published.position(each.evaluator)):
            self.rescored[each.system].append(each)

    def beside(self, paper: str, system: System) -> list[dict]:
        """Rows that follow the published figures of a paper's system."""
        return [
            row
            for part in self.known.files
            if (self.known.paper, part.system) == (paper, system.name) and part.file in self.files
            for row in self._rows(part)
        ]

    def own(self, paper: str, systems: set[str]) -> list[dict]:
        """Rows of systems that the paper's Table 1, whose `systems` these are, doesn't have."""
        if paper != self.known.paper:
            return []
        listed = {part.file: part for part in self.known.files}
        return [
            row
            for file in self.files
            if (part := listed.get(file, Outputs(file, file, ""))).system not in systems
            for row in self._rows(part)
        ]

    def _rows(self, part: Outputs) -> list[dict]:
        dataset, missing = (self.files[part.file][key] for key in ("corpus", "missing"))
        place = self.known.paper, part.system, dataset
        rows = []
        for each in self.rescored.get(part.file, []):
            for metric in self.known.metrics:
                if each.score is None:
                    note = f"Not re-scored: {each.refused}."
                    rows.append(empty(*place, metric, note) | {"evaluator": each.evaluator})
                    continue
                figure = each.score.figures[metric]
                interval = (
                    "No interval was measured."
                    if figure.low is None
                    else "95 % bootstrap interval over dialogues."
                )
                rows.append(
                    dict(zip(("paper", "system", "dataset"), place, strict=True))
                    | {"metric": metric}
                    | measured(figure, "rescored", self.scale)
                    | setting(each.score)
                    | {
                        "provenance": each.score.path,
                        "note": join([part.note, _uneven(each.score.uneven), interval]),
                    }
                )
        if missing:
            rows += [
                empty(*place, metric, f"Not re-scored: {missing}.") for metric in self.known.metrics
            ]
        return rows


def _uneven(count: int) -> str:
    """What to say of dialogues that have another number of turns than the split's."""
    if not count:
        return ""
    which = "1 dialogue has" if count == 1 else f"{count} dialogues have"
    return (
        f"{which} another number of turns than the test split; scored turn by turn from the first."
    )
