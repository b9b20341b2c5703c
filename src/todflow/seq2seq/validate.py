"""Scores of a validation split while training, with the evaluators of `todflow.metrics`."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from todflow.corpora.incar import INFORMABLE
from todflow.errors import TodflowError
from todflow.files import read_json
from todflow.metrics import incar
from todflow.metrics.dialogues import Dialogue, Turn
from todflow.metrics.spans import parse_state
from todflow.metrics.tally import figures

Scorer = Callable[[pd.DataFrame, pd.DataFrame], dict[str, float]]
SHOWN = ("match", "succ_f1", "bleu", "combined")


def scorer(evaluator: str, entities: Path | None) -> Scorer:
    """A function from a corpus table and its predictions table (same rows) to SHOWN, x100.

    `evaluator` is incar-galaxy or incar-labes; both need the entity map.
    """
    variant = evaluator.removeprefix("incar-")
    if variant not in incar.SAME:
        raise TodflowError(f"evaluator: {evaluator} is unknown; use incar-galaxy or incar-labes")
    if entities is None:
        raise TodflowError(f"evaluator {evaluator} needs an entity map; give --entities")
    names = read_json(entities)

    def score(table: pd.DataFrame, predictions: pd.DataFrame) -> dict[str, float]:
        gold = _dialogues(table, "response_delex")
        made = _dialogues(predictions, "response")
        rows = [incar.tally(gold[name], made[name], names, variant).row() for name in gold]
        found = figures(np.sum(rows, axis=0), incar.EPSILON[variant])
        return {name: float(found[name]) for name in SHOWN}

    return score


def _dialogues(table: pd.DataFrame, response: str) -> dict[str, Dialogue]:
    found: dict[str, Dialogue] = {}
    for name, span, text in zip(table["dialogue_id"], table["state_span"], table[response]):
        found.setdefault(name, []).append(Turn(parse_state(span, INFORMABLE), text))
    return found
