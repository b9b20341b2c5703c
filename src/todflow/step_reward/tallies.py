"""What every test dialogue counts for under an evaluator, so that systems can be compared in pairs.

The same counts as in the score files: the scoring stages' own functions make them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from todflow import score, score_multiwoz
from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.files import read_json
from todflow.metrics import bleu
from todflow.metrics.multiwoz import corpus_bleu, outcome
from todflow.metrics.multiwoz.legacy import Legacy
from todflow.metrics.multiwoz.standard import Standard
from todflow.metrics.tally import figures
from todflow.predictions import read_predictions
from todflow.predictions_multiwoz import read_answers, select

# Summed rows (..., columns) -> figures (x100), each (...).
Figures = Callable[[np.ndarray], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Judge:
    """One evaluator on one test split. `rows` takes a file of predictions to one row of counts a
    dialogue, in the order of the split; `figures` what such rows add up to."""

    dialogues: int
    turns: int
    rows: Callable[[Path], np.ndarray]
    figures: Figures


def judge(dataset: str, evaluator: str, gold: Path, extra: Path | None) -> Judge:
    """The judge of a corpus; `extra` is In-Car's entity map or MultiWOZ's database.

    Raises TodflowError.
    """
    if dataset.startswith("multiwoz"):
        return _multiwoz(evaluator, gold, extra)
    table = read_turns(gold)
    slots, domains = score.slots_of(evaluator, table), score.intents(table)
    dialogues = score.gold_dialogues(table, slots)
    entities = read_json(extra) if extra else {}

    def rows(predictions: Path) -> np.ndarray:
        answers = read_predictions(predictions)
        predicted = score.predicted_dialogues(answers, dialogues, slots, domains, predictions)
        return score.tallies(evaluator, dialogues, predicted, domains, entities)

    epsilon = score.EVALUATORS[evaluator]
    return Judge(len(dialogues), len(table), rows, lambda totals: figures(totals, epsilon))


def _multiwoz(evaluator: str, gold: Path, database: Path | None) -> Judge:
    setting = score_multiwoz.NAMED.get(evaluator)
    if setting is None or database is None:
        raise TodflowError(f"{gold}: no database or unknown evaluator {evaluator}; give both")
    split = score_multiwoz.gold_of_files(gold, database)
    expected = {name: len(dialogue) for name, dialogue in split.dialogues.items()}
    standard = setting.evaluator == "standard"
    judged = Standard(split, setting.vintage) if standard else Legacy(split)
    score_bleu = corpus_bleu.score if standard else bleu.score
    gate = () if standard else (setting.booking_gate,)

    def rows(path: Path) -> np.ndarray:
        answers, _ = select(read_answers(path).dialogues, expected, path)
        return outcome.rows(judged.outcomes(answers, setting.state, *gate))

    return Judge(
        len(expected),
        sum(expected.values()),
        rows,
        lambda totals: outcome.figures(totals, score_bleu),
    )
