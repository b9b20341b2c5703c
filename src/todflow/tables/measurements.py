"""The measurement files that the tables are made of, read and checked.

Figures are x100 where they are shares; a count of turns is a plain number.
"""

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

from todflow.errors import TodflowError

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
CONTEXTS = ("generated", "gold")
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
    """A tested model: results/{dataset}/{backbone}/seed{seed}/sft/test-{context}.score.json."""

    path: str
    dataset: str
    backbone: str
    seed: int
    context: str
    evaluator: str
    figures: dict[str, Figure]


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


def read_score(path: str | Path) -> Score:
    """Read a score file; what was trained on what is taken from its path. Raises TodflowError."""
    file = _File(path)
    parts = Path(path).parts[-5:]
    seed = parts[2].removeprefix("seed") if len(parts) == 5 else ""
    context = parts[-1].removeprefix("test-").removesuffix(".score.json")
    if not seed.isdecimal() or parts[3] != "sft" or context not in CONTEXTS:
        file.fail(
            "path",
            "isn't <dataset>/<backbone>/seed<seed>/sft/test-<generated|gold>.score.json",
        )
    intervals = file.mapping(file.data, "ci", "")
    counts = {
        name: file.count(file.data, name, "")
        for name in ("n_dialogues", "n_turns", "match_denominator")
    }
    figures = {}
    for metric in SCORES:
        # The act F1 of a corpus without acts isn't in the file.
        value = file.number(file.data, metric, "", optional=metric == "act_f1")
        interval = intervals.get(metric)
        low, high = (
            file.interval(interval, f"ci.{metric}") if interval is not None else (None, None)
        )
        figures[metric] = Figure(value, low, high, counts[UNITS.get(metric, "n_dialogues")])
    evaluator = file.text(file.data, "evaluator")
    return Score(file.path, parts[0], parts[1], int(seed), context, evaluator, figures)


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
