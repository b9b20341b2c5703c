"""Scores of a validation split while training, with the evaluators of `todflow.score`: In-Car, self-play."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from todflow.errors import TodflowError
from todflow.files import read_json
from todflow.metrics.tally import figures
from todflow.predictions import Answer
from todflow.score import EVALUATORS, gold_dialogues, intents, predicted_dialogues, slots_of
from todflow.score import tallies

Scorer = Callable[[pd.DataFrame], dict[str, float]]
SHOWN = ("match", "succ_f1", "bleu", "combined")


def scorer(evaluator: str, table: pd.DataFrame, entities: Path | None) -> Scorer:
    """A function from predictions for `table` (same rows) to SHOWN, x100.

    `entities` is the file with In-Car's entity map, which its evaluators need.
    """
    if evaluator not in EVALUATORS:
        known = ", ".join(EVALUATORS)
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
