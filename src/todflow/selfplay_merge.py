"""Stage: the self-play corpus from its shares, one table of turns a split.

    python -m todflow.selfplay_merge --config '{"dialogues": {...}, "seed": 1}' --shards S [S ...]
        --out results/corpora/selfplay --report R --log L

Takes the candidates in order and keeps, for each split, the wanted number of dialogues whose goal no
kept dialogue has, in any split.
"""

import argparse
import json
from pathlib import Path

import pandas

from todflow.corpora.turns import read_turns, write_turns
from todflow.errors import TodflowError
from todflow.files import write_json
from todflow.selfplay import SPLITS, candidates
from todflow.stage import parser, run


def choose(config: dict, goals: dict[str, str]) -> dict[str, list[str]]:
    """{split: ids of the dialogues to keep}; `goals` is {id: goal as JSON} of all candidates played.

    Raises TodflowError when a candidate was not played, or a split's spare candidates do not suffice.
    """
    kept: dict[str, list[str]] = {split: [] for split in SPLITS}
    seen: set[str] = set()
    for split, seed in candidates(config):
        name = f"selfplay-{split}-{seed}"
        if name not in goals:
            raise TodflowError(f"self-play: dialogue {name} is in no share; merge all shares of one run")
        goal = json.dumps(json.loads(goals[name]), sort_keys=True)
        if goal not in seen and len(kept[split]) < config["dialogues"][split]:
            seen.add(goal)
            kept[split].append(name)
    for split, wanted in config["dialogues"].items():
        if len(kept[split]) < wanted:
            raise TodflowError(
                f"self-play: only {len(kept[split])} of {wanted} {split} dialogues have a goal of their "
                f"own; ask for fewer dialogues"
            )
    return kept


def main(args: argparse.Namespace) -> None:
    """Write train, valid and test, and a report with their sizes."""
    table = pandas.concat([read_turns(path) for path in args.shards])
    dialogues = dict(list(table.groupby("dialogue_id", sort=False)))
    kept = choose(args.config, {name: turns["goal"].iloc[0] for name, turns in dialogues.items()})
    report = {"dataset": "selfplay", "candidates": len(dialogues), "splits": {}}
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
    options.add_argument("--shards", type=Path, nargs="+", required=True, help="every share, parquet")
    options.add_argument("--out", type=Path, required=True, help="folder of the split tables")
    options.add_argument("--report", type=Path, required=True, help="sizes, JSON")
    return options


if __name__ == "__main__":
    run(_options(), main)
