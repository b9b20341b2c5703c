"""Stage: NLPO with step rewards on MultiWOZ, validated by one of its legacy evaluators.

A stage of its own for the reason that todflow.seq2seq.train_multiwoz has.
"""

import argparse
from pathlib import Path

from todflow import stage
from todflow.nlpo.train import options, train
from todflow.seq2seq.train_multiwoz import scorer


def main(args: argparse.Namespace) -> None:
    """Train on MultiWOZ."""
    train(args, "todflow.nlpo.train_multiwoz", args.database, scorer)


def _options() -> argparse.ArgumentParser:
    result = options(__doc__.splitlines()[0])
    result.add_argument("--database", type=Path, required=True, help="database of the preparation")
    return result


if __name__ == "__main__":
    stage.run(_options(), main)
