"""Stage: a share of a training table, by whole dialogues (step-reward paper, Figure 3).

    python -m todflow.subset --config '{"seed": 1, "percent": 5}' --turns T --out S --log L

One seed has one order of the dialogues, and a share is the beginning of it: a smaller share is part of
every larger one, and runs of one seed see the same dialogues whatever is trained on them. Which ones
those are can be read from the table itself, its `dialogue_id`.
"""

import argparse
import random
from pathlib import Path

import pandas as pd

from todflow.corpora.turns import read_turns, write_turns
from todflow.errors import TodflowError
from todflow.seq2seq.settings import require
from todflow.stage import parser, run

# Dialogues of the training split as the paper counts them, where the table has fewer: three of
# In-Car's have no turn.
RELEASED = {"incar": 2425}


def size(dialogues: int, percent: int) -> int:
    """How many dialogues a share is, rounded down: 121 of 2,425 are 5 %."""
    return dialogues * percent // 100


def draw(table: pd.DataFrame, path: str | Path, seed: int, percent: int) -> pd.DataFrame:
    """The turns of a share of the dialogues of a training table, in the table's order.

    Raises TodflowError, with the table's `path`, if that is not a single dialogue.
    """
    names = table["dialogue_id"].drop_duplicates().tolist()
    dataset = table["dataset"].iloc[0] if names else ""
    count = size(RELEASED.get(dataset, len(names)), percent)
    if not count:
        raise TodflowError(
            f"{path}: {percent} % of its {len(names)} dialogues are none; take a larger share"
        )
    random.Random(f"{seed}/subset").shuffle(names)
    return table[table["dialogue_id"].isin(names[:count])]


def main(args: argparse.Namespace) -> None:
    """Draw and write."""
    require(args.config, ("seed", "percent"))
    write_turns(args.out, draw(read_turns(args.turns), args.turns, **args.config))


def _options() -> argparse.ArgumentParser:
    options = parser("Draw a share of a training table.")
    options.add_argument("--turns", type=Path, required=True, help="the training table")
    options.add_argument("--out", type=Path, required=True, help="table to write")
    return options


if __name__ == "__main__":
    run(_options(), main)
