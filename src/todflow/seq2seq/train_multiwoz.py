"""Stage: supervised fine-tuning on MultiWOZ, validated by one of its legacy evaluators.

A stage of its own, so that a change to MultiWOZ's evaluators leaves models of other corpora alone.
The standard evaluator is no choice here: it has references for the test split alone.
"""

import argparse
from pathlib import Path

import pandas as pd

from todflow import stage
from todflow.corpora.multiwoz.state import parse
from todflow.errors import TodflowError
from todflow.files import read_json
from todflow.metrics import bleu
from todflow.metrics.multiwoz.gold import gold_of
from todflow.metrics.multiwoz.legacy import Legacy
from todflow.metrics.multiwoz.outcome import whole
from todflow.predictions_multiwoz import SystemTurn
from todflow.score_multiwoz import NAMED
from todflow.seq2seq.train import options, train
from todflow.seq2seq.validate import Scorer

LEGACY = {name: setting for name, setting in NAMED.items() if setting.evaluator == "legacy"}


def scorer(evaluator: str, table: pd.DataFrame, database: Path) -> Scorer:
    """A function from predictions for `table` (same rows) to inform, success, bleu, combined, x100.

    `database` is the file that MultiWOZ's preparation writes.
    """
    if evaluator not in LEGACY:
        raise TodflowError(f"config: 'evaluator': {evaluator!r} is none of {', '.join(LEGACY)}")
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


def main(args: argparse.Namespace) -> None:
    """Train on MultiWOZ."""
    train(args, "todflow.seq2seq.train_multiwoz", args.database, scorer)


def _options() -> argparse.ArgumentParser:
    result = options(__doc__.splitlines()[0])
    result.add_argument("--database", type=Path, required=True, help="database of the preparation")
    return result


if __name__ == "__main__":
    stage.run(_options(), main)
