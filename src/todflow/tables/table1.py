"""Published and measured figures in one tidy table: one line per system, dataset and metric.

Three rules hold in it. A cell that wasn't measured is empty and its note says why. A published
figure stands in the column `published` only. A stand-in (made corpus, another model, another
setting of the simulation, fewer dialogues than the paper's) has a row of its own and never fills
a paper's row; nor does a baseline's published output that was scored here (status `rescored`), one
row an evaluator under the system's own name.
"""

from pathlib import Path

import pandas as pd

from todflow.errors import TodflowError
from todflow.tables.cells import empty, join, measured
from todflow.tables.measurements import (
    Simulation,
    read_rescored,
    read_simulation,
    read_tested,
    read_unreleased,
)
from todflow.tables.outputs import Baselines
from todflow.tables.published import NO_FIGURE, Printed, Published, Simulated, System
from todflow.tables.trained import Models, Trained

COLUMNS = [
    "paper",
    "system",
    "dataset",
    "metric",
    "published",
    "reproduced",
    "ci_low",
    "ci_high",
    "n",
    "seeds",
    "status",
    "note",
    "evaluator",
    "vintage",
    "state",
    "dialogues",
    "scale",
    "provenance",
]
METHODS = {"wilson": "Wilson", "bootstrap": "bootstrap"}
SHORT = ", short run"  # ends the name of a simulation with fewer dialogues than the paper's
STATUSES = ("reproduced", "rescored", "published_only", "stand_in", "not_run")


def build(
    published: Published,
    scores: list,
    simulations: list,
    scale: str,
    backbones: dict[str, dict],
    rescored: list,
    outputs: dict[str, dict],
    training: list,
    pretrained: dict[str, str | None],
    arms: dict[str, dict],
    episodes: dict[str, int],
) -> pd.DataFrame:
    """The tidy table, every column as text, in the order of published.yaml.

    `scores`, `simulations` and `rescored` are paths of measurement files, in any order; `scale` is
    the config's label, `backbones` its backbones by name, `outputs` its files of published outputs
    (see `Baselines`), `pretrained` the corpus that training on a corpus begins with, or None.
    `training` are paths of MultiWOZ's training tables, `arms` and `episodes` as in `Models`.
    `n` is what a figure averages over, `seeds` the seeds behind it. Raises TodflowError for a
    malformed file, and for seeds of one row that were scored differently.
    """
    models = Models(backbones, _reasons(training, pretrained), arms, episodes)
    builder = _Builder(
        published,
        scale,
        Trained(published, scale, models, [read_tested(path) for path in scores]),
        Baselines(published, scale, outputs, [read_rescored(path) for path in rescored]),
        [read_simulation(path) for path in simulations],
    )
    blank = dict.fromkeys(COLUMNS, "")
    rows = [blank | row for paper in published.papers for row in builder.rows(paper)]
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)


def _reasons(training: list, pretrained: dict[str, str | None]) -> dict[str, list[str]]:
    """What makes the models of a corpus stand-ins whatever they are, by corpus."""
    reasons: dict[str, list[str]] = {}
    for corpus, made, turns in map(read_unreleased, training):
        if made:
            reasons[corpus] = [
                f"Stand-in corpus: the system acts of {made:,} of {turns:,} training turns aren't"
                " the release's own."
            ]
    for corpus, first in pretrained.items():
        if first:
            reasons.setdefault(corpus, []).append(
                f"Stand-in training: on the {first} corpus first."
            )
    return reasons


def to_csv(table: pd.DataFrame) -> str:
    """The table as CSV text; the same table gives the same bytes everywhere."""
    return table.to_csv(index=False, lineterminator="\n")


def from_csv(path: str | Path) -> pd.DataFrame:
    """Read what `to_csv` wrote, every cell as the text that it is."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(table.columns) != COLUMNS:
        raise TodflowError(f"{path}: columns aren't {', '.join(COLUMNS)}; make the table again")
    return table


class _Builder:
    def __init__(
        self,
        published: Published,
        scale: str,
        trained: Trained,
        baselines: Baselines,
        simulations: list[Simulation],
    ):
        self.published = published
        self.scale = scale
        self.trained = trained
        self.baselines = baselines
        self.simulations = {
            f"{each.system}/{each.setting}": each
            for each in sorted(simulations, key=lambda each: each.path)
        }

    def rows(self, paper: str) -> list[dict]:
        """A paper's rows as printed, then this project's own rows beside them."""
        rows = []
        for table in self.published.tables:
            if table.paper == paper:
                for system in table.systems:
                    rows += self._printed(table, system)
                    if table.source == "Table 1":
                        rows += self.baselines.beside(paper, system)
        quoted = {system.name for system in self.published.table(paper, "Table 1").systems}
        rows += self.baselines.own(paper, quoted)
        rows += self._own_simulations(paper)
        if self.published.trained["paper"] == paper:
            rows += self.trained.rows()
        return rows

    # -- the papers' rows

    def _printed(self, table: Printed, system: System) -> list[dict]:
        rows = []
        for dataset, metrics in table.columns.items():
            place, simulation = self._simulation_of(table, system.name, dataset)
            for metric in metrics:
                text = system.figures[dataset][metric]
                notes = [
                    "" if table.source == "Table 1" else f"{table.source} of the paper.",
                    system.note,
                    self.published.misprints.get((table.paper, system.name, dataset, metric), ""),
                    NO_FIGURE.get(text, ""),
                ]
                row = {
                    "paper": table.paper,
                    "system": system.name,
                    "dataset": dataset,
                    "metric": metric,
                    "published": "" if text in NO_FIGURE else text,
                    "status": system.status,
                    "evaluator": "" if text == "-" else system.evaluators[dataset],
                }
                tuned = self.trained.in_paper_row(system, dataset, metric)
                if tuned:
                    row |= tuned
                    notes.append(row["note"])
                elif simulation and self._is_short(simulation, place):
                    played = simulation.figures["turns"].n
                    notes.append(
                        f"Not run at the paper's size: {played} of {table.dialogues} dialogues were"
                        " played, which a stand-in row shows."
                    )
                elif simulation:
                    row |= self._simulated(simulation, metric, "reproduced")
                    notes += [place.note, row.pop("interval")]
                elif place and place.origin in self.simulations:
                    notes.append(f"Not run: {place.origin} isn't the paper's setting in this run.")
                else:
                    notes.append(system.reason)
                rows.append(row | {"note": join(notes)})
        return rows

    def _simulation_of(
        self, table: Printed, system: str, dataset: str
    ) -> tuple[Simulated | None, Simulation | None]:
        for place in self.published.simulations:
            if (place.paper, place.system, place.dataset) == (table.paper, system, dataset):
                return place, self._of(place)
        return None, None

    def _of(self, place: Simulated) -> Simulation | None:
        """The simulation of this place, unless its setting's name means something else."""
        simulation = self.simulations.get(place.origin)
        return simulation if simulation and simulation.definition == place.definition else None

    # -- this project's own rows: simulations

    def _own_simulations(self, paper: str) -> list[dict]:
        rows, listed = [], {p.origin for p in self.published.simulations if self._of(p)}
        for place in self.published.simulations:
            simulation = self._of(place)
            if place.paper != paper:
                continue
            short = simulation is not None and self._is_short(simulation, place)
            if place.own and simulation is None:
                why = (
                    f"{place.origin} isn't this setting in this run"
                    if place.origin in self.simulations
                    else "the setting wasn't part of this run"
                )
                note = f"{place.note} Not run: {why}."
                rows += [
                    empty(paper, place.system, place.dataset, metric, note)
                    for metric in place.metrics
                ]
            elif place.own or short:
                name = place.system if place.own else f"{place.system}{SHORT}"
                rows += self._own_rows(place, simulation, name, short)
        for origin in sorted(set(self.simulations) - listed):
            simulation = self.simulations[origin]
            meaning = ", ".join(
                f"{key} {'null' if value is None else value}"
                for key, value in sorted(simulation.definition.items())
            )
            place = Simulated(
                origin=origin,
                definition=simulation.definition,
                paper="react",
                system=origin,
                dataset="simulation",
                own=True,
                metrics=[],
                note=f"Not a setting of the paper: {meaning}.",
            )
            if paper == place.paper:
                for row in self._own_rows(place, simulation, origin, True):
                    # Not the name alone: it may be that of an evaluator that this isn't.
                    rows.append(row | {"evaluator": f"{simulation.setting} (unlisted)"})
        return rows

    def _own_rows(
        self, place: Simulated, simulation: Simulation, name: str, stand_in: bool
    ) -> list[dict]:
        rows = []
        size = f"Stand-in: {simulation.figures['turns'].n} dialogues." if stand_in else ""
        for metric in place.metrics or simulation.figures:
            row = {"paper": place.paper, "system": name, "dataset": place.dataset, "metric": metric}
            row |= self._simulated(simulation, metric, "stand_in" if stand_in else "reproduced")
            rows.append(row | {"note": join([size, place.note, row.pop("interval")])})
        return rows

    def _is_short(self, simulation: Simulation, place: Simulated) -> bool:
        """Whether fewer dialogues were played than the paper's figures rest on."""
        needed = max(
            (table.dialogues or 0)
            for table in self.published.tables
            if table.paper == place.paper and place.dataset in table.columns
        )
        return simulation.figures["turns"].n < needed

    def _simulated(self, simulation: Simulation, metric: str, status: str) -> dict:
        figure = simulation.figures[metric]
        if figure.value is None:
            interval = "Undefined: no simulated dialogue has such a figure."
        else:
            method = METHODS[figure.method]
            interval = f"95 % {method} interval over dialogues."
        return measured(figure, status, self.scale) | {
            "seeds": "" if simulation.seed is None else str(simulation.seed),
            "evaluator": simulation.setting,
            "dialogues": str(simulation.figures["turns"].n),
            "provenance": simulation.path,
            "interval": interval,
        }
