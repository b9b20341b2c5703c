"""The measurement files that the tables are made of, read and checked.

Figures are x100 where they are shares; a count of turns is a plain number.
"""

import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from todflow.errors import TodflowError
from todflow.tables.places import Place, place_of

SCORES = (
    "match",
    "succ_f1",
    "bleu",
    "bleu_without_markers",
    "combined",
    "joint_goal_accuracy",
    "act_f1",
)
SIMULATED = (
    "turns",
    "inform_precision",
    "inform_recall",
    "inform_f1",
    "book",
    "success",
    "success_strict",
    "complete",
)
MULTIWOZ = ("inform", "success", "bleu", "combined", "joint_goal_accuracy", "act_f1")
CONTEXTS = ("generated", "gold")
STATES = ("predicted", "gold")  # whose belief state the venues of a MultiWOZ score come from
INTERVALS = ("wilson", "bootstrap")  # methods behind a simulation's intervals
# What one figure averages over. Intervals resample dialogues whatever the unit is.
UNITS = {
    "match": "match_denominator",
    "bleu": "n_turns",
    "bleu_without_markers": "n_turns",
    "joint_goal_accuracy": "n_turns",
    "act_f1": "n_turns",
}


@dataclass(frozen=True)
class Figure:
    """A value (None: undefined), its 95 % interval (None: not given), and how many it averages.

    `method` is the interval's, one of INTERVALS; scores have bootstrap intervals only.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str = "bootstrap"


@dataclass(frozen=True)
class Score:
    """One output under one evaluator, which `evaluator` names (standard-v1, incar-galaxy, ..).

    `vintage` ("" where the evaluator has none) and `state` (one of STATES) say how a MultiWOZ
    score was made; others leave them empty. `scored` of `expected` dialogues were there, `uneven`
    of them with another number of turns than the split has.
    """

    path: str
    evaluator: str
    vintage: str
    state: str
    scored: int
    expected: int
    uneven: int
    figures: dict[str, Figure]

    @property
    def dialogues(self) -> str:
        """How many were scored: 1000, or "999 of 1000" where some are missing."""
        whole = self.scored == self.expected
        return str(self.scored) if whole else f"{self.scored} of {self.expected}"


@dataclass(frozen=True)
class Tested:
    """A trained model's score: test-{context}.{evaluator}.score.json in the folder of its run."""

    place: Place
    context: str
    score: Score


@dataclass(frozen=True)
class Rescored:
    """A published system's own output, scored here: results/rescored/{system}.{evaluator}.score.json.

    `score` is None if its file of outputs was refused; then `refused` says why.
    """

    system: str
    evaluator: str
    score: Score | None
    refused: str


@dataclass(frozen=True)
class Simulation:
    """One simulated system: results/simulate/{system}/{setting}/metrics.json; `seed` if given.

    `definition` is what the setting's name means: {"initiative": 4, "counting": "convlab2"}, say.
    """

    path: str
    system: str
    setting: str
    definition: dict[str, int | str | None]
    seed: int | None
    figures: dict[str, Figure]


def read_tested(path: str | Path) -> Tested:
    """Read a model's score file; what was trained on what is taken from its path.

    Raises TodflowError.
    """
    file = _File(path)
    name = re.fullmatch(r"test-(\w+)\.([\w-]+)\.score\.json", Path(path).name)
    if not name or name[1] not in CONTEXTS:
        file.fail("path", "isn't test-<generated|gold>.<evaluator>.score.json")
    place = place_of(path)
    context, evaluator = name.groups()
    score = _multiwoz(file) if place.dataset.startswith("multiwoz") else _dialogue_match(file)
    _check_name(file, evaluator, score.evaluator)
    return Tested(place, context, score)


def read_rescored(path: str | Path) -> Rescored:
    """Read the score of a published system's output. Raises TodflowError."""
    file = _File(path)
    name = re.fullmatch(r"([\w.-]+)\.([\w-]+)\.score\.json", Path(path).name)
    if not name or Path(path).parent.name != "rescored":
        file.fail("path", "isn't rescored/<system>.<evaluator>.score.json")
    system, evaluator = name.groups()
    if "refused" in file.data:
        _check_name(file, evaluator, file.text(file.data, "name"))
        return Rescored(system, evaluator, None, file.text(file.data, "refused"))
    score = _multiwoz(file)
    _check_name(file, evaluator, score.evaluator)
    return Rescored(system, evaluator, score, "")


def _check_name(file: "_File", named: str, found: str) -> None:
    if named != found:
        file.fail("path", f"says otherwise than the file, which is of evaluator {found}")


def _dialogue_match(file: "_File") -> Score:
    """A score of In-Car's or the self-play corpus' evaluator, which wants every dialogue."""
    counts = {
        name: file.count(file.data, name, "")
        for name in ("n_dialogues", "n_turns", "match_denominator")
    }
    return Score(
        path=file.path,
        evaluator=file.text(file.data, "evaluator"),
        vintage="",
        state="",
        scored=counts["n_dialogues"],
        expected=counts["n_dialogues"],
        uneven=0,
        # The act F1 of a corpus without acts isn't in the file.
        figures=_figures(file, SCORES, counts, optional=("act_f1",)),
    )


def _multiwoz(file: "_File") -> Score:
    """A score of one of MultiWOZ's evaluators, which count the dialogues that they were given."""
    counts = {
        name: file.count(file.data, name, "") for name in ("n_dialogues", "n_expected", "n_turns")
    }
    if counts["n_dialogues"] > counts["n_expected"]:
        file.fail("n_dialogues", "is more than n_expected")
    name = file.text(file.data, "name")
    vintage = file.data.get("vintage")
    if vintage is not None:
        vintage = file.text(file.data, "vintage")
    state = file.text(file.data, "state")
    if state not in STATES:
        file.fail("state", f"is none of {', '.join(STATES)}")
    return Score(
        path=file.path,
        evaluator=name,
        vintage=vintage or "",
        state=state,
        scored=counts["n_dialogues"],
        expected=counts["n_expected"],
        uneven=len(file.mapping(file.data, "partial", "")),
        # A system's output may have no states or no acts.
        figures=_figures(file, MULTIWOZ, counts, optional=("joint_goal_accuracy", "act_f1")),
    )


def _figures(
    file: "_File", metrics: tuple[str, ...], counts: dict[str, int], optional: tuple[str, ...]
) -> dict[str, Figure]:
    intervals = file.mapping(file.data, "ci", "")
    figures = {}
    for metric in metrics:
        value = file.number(file.data, metric, "", optional=metric in optional)
        interval = intervals.get(metric)
        low, high = (
            file.interval(interval, f"ci.{metric}") if interval is not None else (None, None)
        )
        figures[metric] = Figure(value, low, high, counts[UNITS.get(metric, "n_dialogues")])
    return figures


def read_simulation(path: str | Path) -> Simulation:
    """Read a metrics file, whose folders must be its system and setting. Raises TodflowError."""
    file = _File(path)
    system, setting = file.text(file.data, "system"), file.text(file.data, "setting")
    if Path(path).parts[-3:-1] != (system, setting):
        file.fail("path", f"says otherwise than the file, which is about {system}/{setting}")
    definition = file.mapping(file.data, "definition", "")
    if "initiative" not in definition or definition["initiative"] is not None:
        file.count(definition, "initiative", "definition.")
    file.text(definition, "counting", "definition.")
    metrics = file.mapping(file.data, "metrics", "")
    figures = {}
    for metric in SIMULATED:
        place = f"metrics.{metric}"
        entry = file.mapping(metrics, metric, "metrics.")
        n = file.count(entry, "n", f"{place}.")
        # Nothing to average (no dialogue with a booking, say) leaves value and interval undefined.
        value = file.number(entry, "value", f"{place}.", optional=n == 0)
        interval = entry.get("ci")
        low, high = file.interval(interval, f"{place}.ci") if value is not None else (None, None)
        method = file.text(entry, "interval", f"{place}.")
        if method not in INTERVALS:
            file.fail(f"{place}.interval", f"is none of {', '.join(INTERVALS)}")
        figures[metric] = Figure(value, low, high, n, method)
    seed = file.count(file.data, "seed", "") if "seed" in file.data else None
    return Simulation(file.path, system, setting, definition, seed, figures)


def read_unreleased(path: str | Path) -> tuple[str, int, int]:
    """(corpus, turns whose acts aren't the release's own, all turns) of a training table.

    MultiWOZ's table says of each turn who annotated its system acts (`todflow.corpora.turns`).
    Raises TodflowError.
    """
    try:
        table = pd.read_parquet(path, columns=["dataset", "act_source"])
    except (OSError, ValueError) as error:
        where = Path(os.path.relpath(path)).as_posix()
        raise TodflowError(
            f"{where}: no table with act_source ({' '.join(str(error).split())[:100]});"
            " prepare the corpus again"
        ) from None
    source = table["act_source"]
    other = ~(source.str.startswith("gold") | (source == "none"))
    return table["dataset"].iloc[0], int(other.sum()), len(table)


class _File:
    """A JSON object, with checks whose errors name the file and the field."""

    def __init__(self, path: str | Path):
        self.path = Path(os.path.relpath(path)).as_posix()
        try:
            self.data = json.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            self.fail("file", "is missing")
        except ValueError as error:
            self.fail("file", f"isn't JSON ({error})")
        if not isinstance(self.data, dict):
            self.fail("file", "isn't a JSON object")

    def fail(self, field: str, problem: str):
        raise TodflowError(
            f"{self.path}: {field} {problem}; delete the file and run its stage again"
        )

    def _get(self, entry: dict, key: str, prefix: str):
        if key not in entry:
            self.fail(f"{prefix}{key}", "is missing")
        return entry[key]

    def mapping(self, entry: dict, key: str, prefix: str) -> dict:
        value = self._get(entry, key, prefix)
        if not isinstance(value, dict):
            self.fail(f"{prefix}{key}", "isn't an object")
        return value

    def text(self, entry: dict, key: str, prefix: str = "") -> str:
        value = self._get(entry, key, prefix)
        if not isinstance(value, str) or not value:
            self.fail(f"{prefix}{key}", "isn't a name")
        return value

    def count(self, entry: dict, key: str, prefix: str) -> int:
        value = self._get(entry, key, prefix)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.fail(f"{prefix}{key}", "isn't a count")
        return value

    def number(self, entry: dict, key: str, prefix: str, optional: bool = False) -> float | None:
        if optional and entry.get(key) is None:
            return None
        value = self._get(entry, key, prefix)
        if not _is_number(value):
            self.fail(f"{prefix}{key}", "isn't a number")
        return float(value)

    def interval(self, value: object, field: str) -> tuple[float, float]:
        if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)):
            self.fail(field, "isn't [low, high]")
        if value[0] > value[1]:
            self.fail(field, "has its low end above its high end")
        return float(value[0]), float(value[1])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
