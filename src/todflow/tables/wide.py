"""The papers' own form of a table: several lines per system, a column per figure.

A system of this project has two lines, `published` and `reproduced`, one under the other; a
baseline that the paper only quotes has the first, and one `re-scored` line for each evaluator that
its published outputs were put through; a row of ours that isn't in the paper has a line for each
evaluator.
"""

from dataclasses import dataclass, field

import pandas as pd

from todflow.tables.published import NO_FIGURE, Printed, Published, System

OURS = "Not in the paper"
Cell = tuple[str, str]  # dataset, metric


@dataclass(frozen=True)
class Line:
    """What one line says: `figures` is published, reproduced or re-scored; `cells` rows of the tidy
    table by (dataset, metric)."""

    figures: str
    cells: dict[Cell, dict[str, str]] = field(default_factory=dict)

    def shown(self, cell: Cell) -> str:
        """The figure of a cell, "" if there is none."""
        column = "published" if self.figures == "published" else "reproduced"
        return self.cells.get(cell, {}).get(column, "")

    def statuses(self) -> list[str]:
        """The statuses of the cells, each once."""
        return list(dict.fromkeys(cell["status"] for cell in self.cells.values()))

    @property
    def idle(self) -> bool:
        """Whether nothing was measured for it."""
        return self.figures != "published" and self.statuses() == ["not_run"]

    def evaluators(self) -> str:
        """The evaluators behind the figures and, where they were made here, their setting."""
        if self.idle:
            return ""
        labels = dict.fromkeys(
            label(cell, whole=self.figures != "published") for cell in self.cells.values()
        )
        return " · ".join(filter(None, labels))

    def notes(self, known: list[str]) -> list[str]:
        """What the cells' notes say besides `known`, each sentence once."""
        said = [
            sentence.rstrip(".") + "."
            for cell in self.cells.values()
            for sentence in cell["note"].split(". ")
            if sentence and sentence not in " ".join(known)
        ]
        return list(dict.fromkeys(said))


@dataclass(frozen=True)
class Group:
    """One system of the wide table. `footnotes` are about the published figures; `own` marks a
    system that the paper's table doesn't have."""

    system: str
    section: str
    own: bool
    footnotes: list[str]
    lines: list[Line]

    def status(self, line: Line) -> list[str]:
        """What a line is called by."""
        if line.figures != "published":
            return line.statuses()
        ours = any(other.figures == "reproduced" for other in self.lines)
        return ["published" if ours else "published_only"]


def label(row: dict[str, str], whole: bool = True) -> str:
    """A row's evaluator; with `whole`, also whose state it used and how many dialogues."""
    parts = [row["evaluator"]]
    if whole and row["evaluator"]:
        parts += [f"{row['state']} state"] if row["state"] else []
        parts += [f"{row['dialogues']} dialogues"] if row["dialogues"] else []
    return ", ".join(parts)


def columns(table: pd.DataFrame, published: Published, own: Printed) -> list[Cell]:
    """(dataset, metric) of each column: a paper's, then the same metrics on corpora of ours."""
    wanted = [(dataset, metric) for dataset, metrics in own.columns.items() for metric in metrics]
    metrics = {metric for _, metric in wanted}
    elsewhere = {dataset for each in published.tables for dataset in each.columns}
    ours = table[(table["paper"] == own.paper) & ~table["dataset"].isin(elsewhere)]
    more = zip(ours["dataset"], ours["metric"], strict=True)
    return wanted + [cell for cell in dict.fromkeys(more) if cell[1] in metrics]


def title(published: Published, own: Printed, dataset: str, metric: str) -> str:
    """A column's heading; the dataset is left out where the paper's table has only one."""
    name = published.metrics[metric]
    return f"{published.datasets[dataset]} {name}" if len(own.columns) > 1 else name


def groups(table: pd.DataFrame, published: Published, own: Printed) -> list[Group]:
    """The systems of a printed table in the tidy table's order; our own rows last, one a dataset."""
    shown = set(columns(table, published, own))
    systems = {system.name: system for system in own.systems}
    elsewhere = {
        system.name
        for each in published.tables
        if each.paper == own.paper and each is not own
        for system in each.systems
    }
    found: dict[tuple[str, str], list[dict]] = {}
    for row in table[table["paper"] == own.paper].to_dict("records"):
        if (row["dataset"], row["metric"]) not in shown:
            continue
        if row["system"] in systems:
            found.setdefault((row["system"], ""), []).append(row)
        elif row["system"] not in elsewhere:
            found.setdefault((row["system"], row["dataset"]), []).append(row)
    result = []
    for (name, dataset), rows in found.items():
        if system := systems.get(name):
            notes = _footnotes(published, own, system)
            result.append(Group(name, system.section, False, notes, lines(rows, system)))
        else:
            where = f" on {published.datasets[dataset]}" if len(own.columns) > 1 else ""
            result.append(Group(name + where, OURS, True, [], lines(rows)))
    return result


def lines(rows: list[dict[str, str]], system: System | None = None) -> list[Line]:
    """The lines that rows of one system make; `system` is what the paper prints of it, if it does."""
    found: dict[tuple[str, str], Line] = {}
    for row in rows:
        # A quoted baseline isn't run here; that its row says so is about its outputs.
        rescored = row["status"] == "rescored" or (
            system is not None and (row["status"], system.status) == ("not_run", "published_only")
        )
        if rescored:
            kinds = [("re-scored", row["evaluator"])]
        elif system is None:
            kinds = [("reproduced", row["evaluator"])]
        else:
            kinds = [("published", "")]
            kinds += [("reproduced", "")] if row["status"] != "published_only" else []
        for kind in kinds:
            line = found.setdefault(kind, Line(kind[0]))
            line.cells[row["dataset"], row["metric"]] = row
    return list(found.values())


def _footnotes(published: Published, own: Printed, system: System) -> list[str]:
    notes = [system.note]
    for dataset, metrics in own.columns.items():
        for metric in metrics:
            notes.append(published.misprints.get((own.paper, system.name, dataset, metric), ""))
    if any(text == "-" for figures in system.figures.values() for text in figures.values()):
        notes.append(NO_FIGURE["-"])
    return [note for note in notes if note]


def wide(table: pd.DataFrame, published: Published, paper: str) -> pd.DataFrame:
    """The wide form of one paper's Table 1, every cell as text."""
    own = published.table(paper, "Table 1")
    wanted = columns(table, published, own)
    rows = []
    for group in groups(table, published, own):
        for line in group.lines:
            known = group.footnotes
            notes = known if line.figures == "published" else line.notes(known)
            figures = [line.shown(cell) for cell in wanted]
            about = [group.section, group.system, line.figures, line.evaluators()]
            rows.append([*about, *figures, "; ".join(group.status(line)), " ".join(notes)])
    titles = [title(published, own, *cell) for cell in wanted]
    heads = ["section", "system", "figures", "evaluator", *titles, "status", "note"]
    return pd.DataFrame(rows, columns=heads)
