"""What the papers print: figures, the evaluators behind them, and which measurement goes where.

Everything is in published.yaml, beside this file; here it is read and checked.
"""

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import yaml

from todflow.errors import TodflowError

STATUSES = ("published_only", "not_run")
NO_FIGURE = {
    "-": "The paper prints no figure here.",
    "drawn": "The paper only draws this value; it prints no number.",
}
FIGURE = re.compile(r"\d{1,3}(\.\d+)?")


@dataclass(frozen=True)
class System:
    """One row of a printed table.

    `figures[dataset][metric]` is the text as printed, or a key of NO_FIGURE.
    """

    name: str
    section: str
    status: str
    reason: str
    note: str
    evaluators: dict[str, str]
    figures: dict[str, dict[str, str]]


@dataclass(frozen=True)
class Printed:
    """One printed table or figure; `dialogues` is the number behind it, where it is stated."""

    paper: str
    source: str
    dialogues: int | None
    columns: dict[str, list[str]]
    systems: tuple[System, ...]


@dataclass(frozen=True)
class Simulated:
    """Where the simulation `origin` ("system/setting") belongs: a paper's row or our `own`.

    It belongs there only if its setting means `definition`.
    """

    origin: str
    definition: dict[str, int | str | None]
    paper: str
    system: str
    dataset: str
    own: bool
    metrics: list[str]
    note: str


@dataclass(frozen=True)
class Outputs:
    """Whose row a file of published outputs fills: a system of the paper's table, or one of ours."""

    file: str
    system: str
    note: str


@dataclass(frozen=True)
class Rescoring:
    """Published outputs that are scored here, beside a paper's figures."""

    paper: str
    metrics: list[str]
    files: tuple[Outputs, ...]


@dataclass(frozen=True)
class Published:
    """All of published.yaml. `misprints[paper, system, dataset, metric]` is a figure's note."""

    papers: dict[str, str]
    datasets: dict[str, str]
    metrics: dict[str, str]
    evaluators: dict[str, str]
    tables: tuple[Printed, ...]
    misprints: dict[tuple[str, str, str, str], str]
    simulations: tuple[Simulated, ...]
    trained: dict
    rescored: Rescoring

    def position(self, evaluator: str) -> tuple[int, str]:
        """Where an evaluator's rows stand: as published.yaml lists them, others last, by name."""
        known = list(self.evaluators)
        return known.index(evaluator) if evaluator in known else len(known), evaluator

    def table(self, paper: str, source: str) -> Printed:
        """One printed table, by its paper and its number there."""
        return next(each for each in self.tables if (each.paper, each.source) == (paper, source))


def load(path: str | Path | None = None) -> Published:
    """Read and check the published figures (default: the file in this package).

    Raises TodflowError that names the place of the first unknown name, missing key or odd figure.
    """
    source = Path(path) if path else resources.files(__package__) / "published.yaml"
    try:
        # The base loader leaves every scalar as text, and so every figure as it is printed.
        raw = yaml.load(source.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise TodflowError(f"{source.name}: not YAML: {' '.join(str(error).split())}") from None
    return _Reader(source.name, raw).published()


class _Reader:
    """Turns the raw mapping into `Published`; errors name the file and the place in it."""

    def __init__(self, file: str, raw: object):
        self.file = file
        self.raw = raw
        self.names = {}
        for group in ("papers", "datasets", "metrics", "evaluators"):
            self.names[group] = self._key(raw, group, "top level")

    def published(self) -> Published:
        tables = tuple(
            self._table(table, f"tables[{number}]")
            for number, table in enumerate(self._key(self.raw, "tables", "top level"))
        )
        return Published(
            **self.names,
            tables=tables,
            misprints=self._misprints(tables),
            simulations=tuple(
                self._simulated(part, f"simulations[{number}]")
                for number, part in enumerate(self._key(self.raw, "simulations", "top level"))
            ),
            trained=self._trained(tables),
            rescored=self._rescored(),
        )

    def _table(self, raw: dict, place: str) -> Printed:
        columns = self._key(raw, "columns", place)
        for dataset, metrics in columns.items():
            self._known("datasets", dataset, f"{place}.columns")
            for metric in metrics:
                self._known("metrics", metric, f"{place}.columns.{dataset}")
        dialogues = raw.get("dialogues")
        if dialogues is not None and not dialogues.isdecimal():
            self._fail(f"{place}.dialogues", f"'{dialogues}' isn't a count")
        return Printed(
            paper=self._known("papers", self._key(raw, "paper", place), f"{place}.paper"),
            source=self._key(raw, "source", place),
            dialogues=int(dialogues) if dialogues else None,
            columns=columns,
            systems=tuple(
                self._system(system, columns, f"{place}.systems[{number}]")
                for number, system in enumerate(self._key(raw, "systems", place))
            ),
        )

    def _system(self, raw: dict, columns: dict, place: str) -> System:
        name = self._key(raw, "system", place)
        place = f"{place} ({name})"
        status = self._key(raw, "status", place)
        if status not in STATUSES:
            self._fail(f"{place}.status", f"'{status}' is none of {', '.join(STATUSES)}")
        figures = self._key(raw, "figures", place)
        if set(figures) != set(columns):
            self._fail(f"{place}.figures", f"needs exactly the datasets {', '.join(columns)}")
        evaluators = self._key(raw, "evaluator", place)
        for dataset, row in figures.items():
            metrics = columns[dataset]
            if len(row) != len(metrics):
                self._fail(
                    f"{place}.figures.{dataset}", f"has {len(row)} figures, not {len(metrics)}"
                )
            for text in row:
                if text not in NO_FIGURE and not FIGURE.fullmatch(text):
                    self._fail(f"{place}.figures.{dataset}", f"'{text}' isn't a printed figure")
            if any(text != "-" for text in row):
                evaluator = self._key(evaluators, dataset, f"{place}.evaluator")
                self._known("evaluators", evaluator, f"{place}.evaluator.{dataset}")
        return System(
            name=name,
            section=self._key(raw, "section", place),
            status=status,
            reason=self._key(raw, "reason", place) if status == "not_run" else "",
            note=raw.get("note", ""),
            evaluators=evaluators,
            figures={
                dataset: dict(zip(metrics, figures[dataset], strict=True))
                for dataset, metrics in columns.items()
            },
        )

    def _misprints(self, tables: tuple[Printed, ...]) -> dict[tuple[str, str, str, str], str]:
        cells = {
            (table.paper, system.name, dataset, metric)
            for table in tables
            for system in table.systems
            for dataset, metrics in table.columns.items()
            for metric in metrics
        }
        notes = {}
        for number, raw in enumerate(self._key(self.raw, "misprints", "top level")):
            place = f"misprints[{number}]"
            cell = tuple(
                self._key(raw, key, place) for key in ("paper", "system", "dataset", "metric")
            )
            if cell not in cells:
                self._fail(place, f"there is no cell {' / '.join(cell)}")
            notes[cell] = self._key(raw, "note", place)
        return notes

    def _simulated(self, raw: dict, place: str) -> Simulated:
        metrics = self._key(raw, "metrics", place)
        for metric in metrics:
            self._known("metrics", metric, f"{place}.metrics")
        definition = self._key(raw, "definition", place)
        initiative = self._key(definition, "initiative", f"{place}.definition")
        if initiative != "null" and not initiative.isdecimal():
            self._fail(f"{place}.definition.initiative", f"'{initiative}' isn't a count or null")
        own = self._key(raw, "own", place)
        if own not in ("yes", "no"):
            self._fail(f"{place}.own", f"'{own}' is neither yes nor no")
        return Simulated(
            origin=self._key(raw, "from", place),
            definition={
                "initiative": None if initiative == "null" else int(initiative),
                "counting": self._key(definition, "counting", f"{place}.definition"),
            },
            paper=self._known("papers", self._key(raw, "paper", place), f"{place}.paper"),
            system=self._key(raw, "system", place),
            dataset=self._known("datasets", self._key(raw, "dataset", place), f"{place}.dataset"),
            own=own == "yes",
            metrics=metrics,
            note=self._key(raw, "note", place),
        )

    def _trained(self, tables: tuple[Printed, ...]) -> dict:
        raw = self._key(self.raw, "trained", "top level")
        for key in ("paper_backbones", "paper_context", "paper_episodes", "made_datasets"):
            self._key(raw, key, "trained")
        paper = self._known("papers", self._key(raw, "paper", "trained"), "trained.paper")
        for dataset, metrics in self._key(raw, "metrics", "trained").items():
            self._known("datasets", dataset, "trained.metrics")
            for metric in metrics:
                self._known("metrics", metric, f"trained.metrics.{dataset}")
        for number, row in enumerate(self._key(raw, "rows", "trained")):
            place = f"trained.rows[{number}]"
            self._key(row, "backbone", place)
            self._key(raw["metrics"], self._key(row, "dataset", place), "trained.metrics")
        systems = {each.name for table in tables if table.paper == paper for each in table.systems}
        for system, row in self._key(raw, "paper_rows", "trained").items():
            for key in ("backbone", "stage"):
                self._key(row, key, f"trained.paper_rows.{system}")
            if system not in systems:
                self._fail("trained.paper_rows", f"there is no row {system}")
        return raw

    def _rescored(self) -> Rescoring:
        raw = self._key(self.raw, "rescored", "top level")
        metrics = self._key(raw, "metrics", "rescored")
        for metric in metrics:
            self._known("metrics", metric, "rescored.metrics")
        return Rescoring(
            paper=self._known("papers", self._key(raw, "paper", "rescored"), "rescored.paper"),
            metrics=metrics,
            files=tuple(
                Outputs(
                    *(
                        self._key(part, key, f"rescored.files[{number}]")
                        for key in ("file", "system", "note")
                    )
                )
                for number, part in enumerate(self._key(raw, "files", "rescored"))
            ),
        )

    def _key(self, raw: object, key: str, place: str):
        if not isinstance(raw, dict) or key not in raw:
            self._fail(place, f"needs the key '{key}'")
        return raw[key]

    def _known(self, group: str, name: str, place: str) -> str:
        if name not in self.names[group]:
            self._fail(place, f"'{name}' isn't listed under {group}")
        return name

    def _fail(self, place: str, problem: str):
        raise TodflowError(f"{self.file}: {place}: {problem}")
