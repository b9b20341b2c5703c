"""Scores of a validation split while training, with the evaluators of `todflow.score`."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from todflow.corpora.multiwoz.state import parse
from todflow.errors import TodflowError
from todflow.files import read_json
from todflow.metrics import bleu
from todflow.metrics.multiwoz.gold import gold_of
from todflow.metrics.multiwoz.legacy import Legacy
from todflow.metrics.multiwoz.outcome import whole
from todflow.metrics.tally import figures
from todflow.predictions import Answer
from todflow.predictions_multiwoz import SystemTurn
from todflow.score import EVALUATORS, gold_dialogues, intents, predicted_dialogues, slots_of
from todflow.score import tallies
from todflow.score_multiwoz import NAMED

# The standard evaluator has references for the test split alone.
LEGACY = {name: setting for name, setting in NAMED.items() if setting.evaluator == "legacy"}

Scorer = Callable[[pd.DataFrame], dict[str, float]]
SHOWN = ("match", "succ_f1", "bleu", "combined")


def scorer(
    evaluator: str, table: pd.DataFrame, entities: Path | None, database: Path | None
) -> Scorer:
    """A function from predictions for `table` (same rows) to the figures that a curve shows, x100:
    SHOWN, or MultiWOZ's inform, success, bleu, combined.

    `entities` is the file with In-Car's entity map, `database` MultiWOZ's: what their evaluators
    need.
    """
    if evaluator in LEGACY:
        if database is None:
            raise TodflowError(f"--database: {evaluator} needs the database of MultiWOZ's preparation")
        return _multiwoz_scorer(evaluator, table, database)
    if evaluator not in EVALUATORS:
        known = ", ".join([*EVALUATORS, *LEGACY])
        raise TodflowError(f"config: 'evaluator': {evaluator!r} is none of {known}")
    if evaluator != "selfplay" and entities is None:
        raise TodflowError(f"--entities: {evaluator} needs the entity map of In-Car's preparation")
    names: Mapping[str, str] = read_json(entities) if entities else {}
    slots, domains = slots_of(evaluator, table), intents(table)
    gold = gold_dialogues(table, slots)

    def score(predictions: pd.DataFrame) -> dict[str, float]:
        answers: dict[str, list[Answer]] = {name: [] for name in gold}
        for row in predictions.itertuples(index=False):
            answers[row.dialogue_id].append(Answer(row.state_span, row.act_span, row.response))
        made = predicted_dialogues(answers, gold, slots, domains, Path("validation output"))
        rows = tallies(evaluator, gold, made, domains, names)
        found = figures(rows.sum(axis=0), EVALUATORS[evaluator])
        return {name: float(found[name]) for name in SHOWN}

    return score


def _multiwoz_scorer(evaluator: str, table: pd.DataFrame, database: Path) -> Scorer:
    setting = LEGACY[evaluator]
    legacy = Legacy(gold_of(table, read_json(database)))

    def score(predictions: pd.DataFrame) -> dict[str, float]:
        dialogues: dict[str, list[SystemTurn]] = {}
        for row in predictions.itertuples(index=False):
            turn = SystemTurn(row.response, parse(row.state_span))
            dialogues.setdefault(row.dialogue_id, []).append(turn)
        outcomes = legacy.outcomes(dialogues, setting.state, setting.booking_gate)
        return whole(outcomes, bleu.score)

    return score
