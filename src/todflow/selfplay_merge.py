"""Stage: the self-play corpus from its shares, one table of turns a split.

    python -m todflow.selfplay_merge --config '{"dialogues": {...}, "seed": 1}' --shards S [S ...]
        --out results/corpora/selfplay --report R --log L

Takes the candidates in order and keeps, for each split, the wanted number of dialogues that the
user completed and whose goal no kept dialogue has, in any split.
"""

import argparse
import json
from pathlib import Path

import pandas

from todflow.corpora.turns import write_turns
from todflow.errors import TodflowError
from todflow.files import write_json
from todflow.selfplay import SPLITS, candidates
from todflow.stage import parser, run


def choose(config: dict, played: dict[str, tuple[str, bool]]) -> dict[str, list[str]]:
    """{split: ids of the dialogues to keep}.

    `played` is {id: (goal as JSON, completed)} of all candidates.
    Raises TodflowError when a candidate was not played, or a split's spare candidates do not
    suffice.
    """
    kept: dict[str, list[str]] = {split: [] for split in SPLITS}
    seen: set[str] = set()
    for split, seed in candidates(config):
        name = f"selfplay-{split}-{seed}"
        if name not in played:
            raise TodflowError(
                f"self-play: dialogue {name} is in no share; merge all shares of one run"
            )
        goal, completed = played[name]
        goal = json.dumps(json.loads(goal), sort_keys=True)
        if completed and goal not in seen and len(kept[split]) < config["dialogues"][split]:
            seen.add(goal)
            kept[split].append(name)
    for split, wanted in config["dialogues"].items():
        if len(kept[split]) < wanted:
            raise TodflowError(
                f"self-play: only {len(kept[split])} of {wanted} {split} dialogues are complete "
                f"and have a goal of their own; ask for fewer dialogues"
            )
    return kept


def main(args: argparse.Namespace) -> None:
    """Write train, valid and test, and a report with their sizes."""
    table = pandas.concat([pandas.read_parquet(path) for path in args.shards])
    dialogues = dict(list(table.groupby("dialogue_id", sort=False)))
    first = table.drop_duplicates("dialogue_id")
    played = zip(first["goal"], first["complete"], strict=True)
    kept = choose(args.config, dict(zip(first["dialogue_id"], played, strict=True)))
    report = {
        "dataset": "selfplay",
        "candidates": len(first),
        "completed": int(first["complete"].sum()),
        "splits": {},
    }
    for split, names in kept.items():
        rows = pandas.concat([dialogues[name] for name in names])
        write_turns(args.out / f"{split}.parquet", rows)
        words = {column: rows[column].str.split() for column in ("user", "response_delex")}
        report["splits"][split] = {
            "dialogues": len(names),
            "turns": len(rows),
            "turns_per_dialogue": round(len(rows) / len(names), 2),
            "words_per_user_turn": round(words["user"].str.len().mean(), 2),
            "words_per_response": round(words["response_delex"].str.len().mean(), 2),
            "vocabulary_user": words["user"].explode().nunique(),
            "vocabulary_response": words["response_delex"].explode().nunique(),
        }
    write_json(args.report, report)


def _options() -> argparse.ArgumentParser:
    options = parser("Merge the shares of the self-play corpus.")
    options.add_argument(
        "--shards", type=Path, nargs="+", required=True, help="every share, parquet"
    )
    options.add_argument("--out", type=Path, required=True, help="folder of the split tables")
    options.add_argument("--report", type=Path, required=True, help="sizes, JSON")
    return options


if __name__ == "__main__":
    run(_options(), main)
