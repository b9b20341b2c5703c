"""Stage: a published system's own outputs -> a score, or the reason why they can't be scored, as JSON.

Other people's files may be malformed, and one of them shouldn't keep the others out of the table: what
is wrong with a file stands in the score's place, {"name": evaluator, "refused": reason}.
"""

import argparse
import logging
import sys

from todflow.errors import TodflowError
from todflow.files import sha256, write_json
from todflow.score_multiwoz import NAMED, gold_of_files, options, score
from todflow.stage import run


def main(args: argparse.Namespace) -> None:
    """Score the outputs, missing dialogues and turns allowed, and note which file it was."""
    name = args.config["name"]
    gold = gold_of_files(args.gold, args.database)
    try:
        result = score(
            gold,
            args.predictions,
            NAMED[name],
            args.config["samples"],
            args.config["seed"],
            partial=True,
        )
        if result["name"] != name:
            raise TodflowError(f"{args.predictions}: no predicted states; see {result['name']}")
    except TodflowError as error:
        # Anything else that is wrong is this workflow's own affair.
        if str(args.predictions) not in str(error):
            raise
        reason = str(error).replace(str(args.predictions), args.predictions.name)
        logging.error("%s", reason)
        print(f"rescore {name}: {reason}; left out", file=sys.__stderr__, flush=True)
        result = {"name": name, "refused": reason}
    else:
        result["predictions"] = {
            "file": args.predictions.name,
            "sha256": sha256(args.predictions),
        }
    write_json(args.out, result)


if __name__ == "__main__":
    run(options(__doc__), main)
