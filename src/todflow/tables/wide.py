"""The papers' own Table 1 form: a line per system, a column per figure, published above reproduced.

A system of this project has two lines, `published` and `reproduced`, one under the other; a
baseline that the paper only quotes has the first alone, a row of ours that isn't in the paper the
second.
"""

from dataclasses import dataclass

import pandas as pd

from todflow.tables.published import NO_FIGURE, Printed, Published

LINES = ("published", "reproduced")
OURS = "This project"


@dataclass(frozen=True)
class Group:
    """One system of the wide table, with its cells of the tidy table by (dataset, metric).

    `footnotes` are about the published figures; `own` marks a row that the paper doesn't have.
    """

    system: str
    section: str
    own: bool
    footnotes: list[str]
    cells: dict[tuple[str, str], dict[str, str]]

    def has(self, line: str) -> bool:
        """Whether `line` (one of LINES) says anything about this system."""
        if line == "published":
            return not self.own
        return any(cell["status"] != "published_only" for cell in self.cells.values())

    def statuses(self) -> list[str]:
        """The statuses of the cells, each once."""
        return list(dict.fromkeys(cell["status"] for cell in self.cells.values()))

    def notes(self) -> list[str]:
        """What the cells' notes say besides the footnotes, each sentence once."""
        known = " ".join(self.footnotes)
        said = [
            sentence.rstrip(".") + "."
            for cell in self.cells.values()
            for sentence in cell["note"].split(". ")
            if sentence and sentence not in known
        ]
        return list(dict.fromkeys(said))


def printed(published: Published, paper: str) -> Printed:
    """A paper's Table 1."""
    return next(
        each for each in published.tables if (each.paper, each.source) == (paper, "Table 1")
    )


def columns(table: pd.DataFrame, published: Published, paper: str) -> list[tuple[str, str]]:
    """(dataset, metric) of each column: the paper's, then the same metrics on corpora of ours."""
    own = printed(published, paper).columns
    wanted = [(dataset, metric) for dataset, metrics in own.items() for metric in metrics]
    metrics = {metric for _, metric in wanted}
    elsewhere = {dataset for each in published.tables for dataset in each.columns}
    ours = table[(table["paper"] == paper) & ~table["dataset"].isin(elsewhere)]
    more = zip(ours["dataset"], ours["metric"], strict=True)
    return wanted + [cell for cell in dict.fromkeys(more) if cell[1] in metrics]


def title(published: Published, paper: str, dataset: str, metric: str) -> str:
    """A column's heading; the dataset is left out where the paper's table has only one."""
    name = published.metrics[metric]
    return (
        f"{published.datasets[dataset]} {name}"
        if len(printed(published, paper).columns) > 1
        else name
    )


def groups(table: pd.DataFrame, published: Published, paper: str) -> list[Group]:
    """The wide table's systems in the tidy table's order; our own rows last, one a dataset."""
    shown = set(columns(table, published, paper))
    own = printed(published, paper)
    systems = {system.name: system for system in own.systems}
    found: dict[tuple[str, str], dict] = {}
    for row in table[table["paper"] == paper].to_dict("records"):
        if (row["dataset"], row["metric"]) in shown:
            place = "" if row["system"] in systems else row["dataset"]
            found.setdefault((row["system"], place), {})[row["dataset"], row["metric"]] = row
    result = []
    for (name, dataset), cells in found.items():
        if system := systems.get(name):
            notes = [
                system.note,
                *(published.misprints.get((paper, name, *cell), "") for cell in cells),
            ]
            if any(system.figures[cell[0]][cell[1]] == "-" for cell in cells):
                notes.append(NO_FIGURE["-"])
            result.append(
                Group(name, system.section, False, [note for note in notes if note], cells)
            )
        else:
            where = f" on {published.datasets[dataset]}" if len(own.columns) > 1 else ""
            result.append(Group(name + where, OURS, True, [], cells))
    return result


def wide(table: pd.DataFrame, published: Published, paper: str) -> pd.DataFrame:
    """The wide form of one paper's Table 1, every cell as text."""
    wanted = columns(table, published, paper)
    lines = []
    for group in groups(table, published, paper):
        for line in filter(group.has, LINES):
            figures = [group.cells.get(cell, {}).get(line, "") for cell in wanted]
            if line == "published":
                status = "published" if group.has("reproduced") else "published_only"
                notes = group.footnotes
            else:
                status, notes = "; ".join(group.statuses()), group.notes()
            lines.append([group.section, group.system, line, *figures, status, " ".join(notes)])
    titles = [title(published, paper, *cell) for cell in wanted]
    return pd.DataFrame(lines, columns=["section", "system", "figures", *titles, "status", "note"])
