"""Published and measured figures in one tidy table: one line per system, dataset and metric.

Three rules hold in it. A cell that wasn't measured is empty and its note says why. A published
figure stands in the column `published` only. A stand-in (made corpus, another model, another
setting of the simulation, fewer dialogues than the paper's) has a row of its own and never fills
a paper's row.
"""

from collections import defaultdict
from pathlib import Path

import pandas as pd

from todflow.errors import TodflowError
from todflow.tables.measurements import (
    CONTEXTS,
    Figure,
    Score,
    Simulation,
    read_score,
    read_simulation,
)
from todflow.tables.published import NO_FIGURE, Printed, Published, Simulated, System
from todflow.tables.seeds import t_interval

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
    "scale",
    "provenance",
]
METHODS = {"wilson": "Wilson", "bootstrap": "bootstrap"}
SHORT = ", short run"  # ends the name of a simulation with fewer dialogues than the paper's
STATUSES = ("reproduced", "published_only", "stand_in", "not_run")


def build(
    published: Published, scores: list, simulations: list, scale: str, backbones: dict[str, dict]
) -> pd.DataFrame:
    """The tidy table, every column as text, in the order of published.yaml.

    `scores` and `simulations` are paths of measurement files, in any order; `scale` is the config's
    label, `backbones` its backbones by name: only a name that means the paper's pretrained model is
    no stand-in. `n` is what a figure averages over, `seeds` the seeds behind it. Raises
    TodflowError for a malformed file, and for seeds of one row that were scored differently.
    """
    builder = _Builder(published, scale, backbones, simulations, scores)
    empty = dict.fromkeys(COLUMNS, "")
    rows = [empty | row for paper in published.papers for row in builder.rows(paper)]
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)


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
        backbones: dict[str, dict],
        simulations: list,
        scores: list,
    ):
        self.published = published
        self.scale = scale
        self.backbones = backbones
        found = sorted((read_simulation(path) for path in simulations), key=lambda each: each.path)
        self.simulations = {f"{each.system}/{each.setting}": each for each in found}
        self.scores: dict[tuple[str, str], dict[str, list[Score]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for score in sorted((read_score(path) for path in scores), key=lambda each: each.seed):
            self.scores[score.backbone, score.dataset][score.context].append(score)

    def rows(self, paper: str) -> list[dict]:
        """A paper's rows as printed, then this project's own rows beside them."""
        rows = []
        for table in self.published.tables:
            if table.paper == paper:
                for system in table.systems:
                    rows += self._printed(table, system)
        rows += self._own_simulations(paper)
        if self.published.sft["paper"] == paper:
            rows += self._sft()
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
                if simulation and self._is_short(simulation, place):
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
                rows.append(row | {"note": _join(notes)})
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
                    _empty(paper, place.system, place.dataset, metric, note)
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
            rows.append(row | {"note": _join([size, place.note, row.pop("interval")])})
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
        return self._cell(figure, status) | {
            "seeds": "" if simulation.seed is None else str(simulation.seed),
            "evaluator": simulation.setting,
            "provenance": simulation.path,
            "interval": interval,
        }

    # -- this project's own rows: supervised fine-tuning

    def _sft(self) -> list[dict]:
        sft = self.published.sft
        listed = [(row["backbone"], row["dataset"]) for row in sft["rows"]]
        rows = []
        for backbone, dataset in listed + sorted(set(self.scores) - set(listed)):
            contexts = self.scores.get((backbone, dataset), {})
            status, why = self._sft_status(backbone, dataset, bool(contexts))
            if not contexts:
                note = f"{why} Not run: this backbone on this corpus wasn't part of this run."
                rows += [
                    _empty(sft["paper"], f"SFT {backbone}", dataset, metric, note)
                    for metric in sft["metrics"]
                ]
            for context in CONTEXTS:
                if context in contexts:
                    rows += self._scored(contexts[context], status, why)
        return rows

    def _sft_status(self, backbone: str, dataset: str, measured: bool) -> tuple[str, str]:
        sft = self.published.sft
        why = []
        if dataset in sft["made_datasets"]:
            why.append("Stand-in corpus: dialogues made by this project.")
        papers = sft["paper_backbones"].get(backbone)
        given = self.backbones.get(backbone)
        # Where nothing was measured, the config needn't have the paper's backbone.
        waiting = papers and given is None and not measured
        pretrained = given and papers and given.get("kind") == "pretrained"
        if not waiting and not (pretrained and given.get("name") == papers):
            why.append("Stand-in model: trained from scratch or unlike the paper's Flan-T5.")
        if why:
            return "stand_in", " ".join(why)
        return "reproduced", "The paper's Table 1 has no row for SFT alone."

    def _scored(self, scores: list[Score], status: str, why: str) -> list[dict]:
        first = scores[0]
        for score in scores[1:]:
            if score.evaluator != first.evaluator:
                raise TodflowError(
                    f"{score.path}: evaluator '{score.evaluator}' isn't that of {first.path}"
                    f" ('{first.evaluator}'); score all seeds of a row alike"
                )
        name = f"SFT {first.backbone}"
        context = ""
        if first.context == "gold":
            name, context = f"{name} (gold context)", "The gold previous turn is given as context."
        rows = []
        for metric in self.published.sft["metrics"]:
            figure, interval = _pool(metric, scores)
            row = {
                "paper": self.published.sft["paper"],
                "system": name,
                "dataset": first.dataset,
                "metric": metric,
                **self._cell(figure, status),
                "seeds": " ".join(str(score.seed) for score in scores),
                "evaluator": first.evaluator,
                "provenance": " ".join(score.path for score in scores),
                "note": _join([why, context, interval]),
            }
            rows.append(row)
        return rows

    def _cell(self, figure: Figure, status: str) -> dict:
        return {
            "reproduced": _two_decimals(figure.value),
            "ci_low": _two_decimals(figure.low),
            "ci_high": _two_decimals(figure.high),
            "n": str(figure.n),
            "status": status,
            "scale": self.scale,
        }


def _pool(metric: str, scores: list[Score]) -> tuple[Figure, str]:
    """One figure for all seeds of a row, and what its interval means."""
    figures = [score.figures[metric] for score in scores]
    first = figures[0]
    for score, figure in zip(scores, figures, strict=True):
        if figure.n != first.n or (figure.value is None) != (first.value is None):
            raise TodflowError(
                f"{score.path}: {metric} isn't measured on the same turns as in {scores[0].path};"
                " score all seeds of a row alike"
            )
    if first.value is None:
        return first, "Undefined: this corpus has no dialogue acts."
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


def _empty(paper: str, system: str, dataset: str, metric: str, note: str) -> dict:
    row = {"paper": paper, "system": system, "dataset": dataset, "metric": metric}
    return row | {"status": "not_run", "note": note}


def _two_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _join(notes: list[str]) -> str:
    return " ".join(note for note in notes if note)
