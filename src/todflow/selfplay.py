"""Stage: play and word a share of the self-play corpus (agenda user against the handcrafted
system).

    python -m todflow.selfplay --config '{"dialogues": {"train": 1600, "valid": 200, "test": 200},
        "seed": 1, "shard": 0, "shards": 8}' --convlab results/convlab/manifest.json --out S --log L

Every split gets spare candidates, since two seeds can draw the same goal and some dialogues fail;
`selfplay_merge` keeps the first that the user completed and that have a goal of their own.
`initiative` in the configuration fixes how many acts the user says a turn (default: drawn from 1
to 4, as in ConvLab-3).
"""

import argparse
import json
import random
from copy import deepcopy
from pathlib import Path

import pandas

from todflow.convlab_bridge import annotation
from todflow.convlab_bridge.hdc import Hdc, unified_act
from todflow.convlab_bridge.runtime import open_convlab, reseed
from todflow.convlab_bridge.session import play, user_goal
from todflow.convlab_bridge.slots import STATE_SLOTS
from todflow.convlab_bridge.wording import Wording, sayable, tokenise
from todflow.corpora.turns import COLUMNS
from todflow.errors import TodflowError
from todflow.files import write_table
from todflow.metrics.spans import state_span
from todflow.progress import Progress
from todflow.stage import parser, run

SPLITS = ("train", "valid", "test")


def candidates(config: dict) -> list[tuple[str, int]]:
    """(split, goal seed) of all dialogues to play, no seed twice; 15 % and five to spare."""
    wanted = config["dialogues"]
    splits = [split for split in SPLITS for _ in range(wanted[split] * 115 // 100 + 5)]
    seeds = random.Random(config["seed"]).sample(range(1, 100001), len(splits))
    return list(zip(splits, seeds, strict=True))


def rows_of(user, system: Hdc, wording: Wording, split: str, seed: int) -> list[dict]:
    """The corpus rows of one dialogue, one an exchange.

    The answer to the user's closing act is kept, though the user never hears it. A further column,
    `complete`, says whether the user got everything. Raises TodflowError when no template has
    words for an utterance.
    """
    goal, state, played = "", {}, []
    for exchange in play(user, system, seed):
        goal = goal or json.dumps(user_goal(user))
        annotation.add_told(state, exchange.user_acts, user.get_goal(), STATE_SLOTS)
        said = sayable([unified_act(act) for act in system.bot_acts])
        booked = next(
            (domain for intent, domain, *_ in exchange.system_acts if intent == "book"), ""
        )
        played.append(
            (exchange.user_acts, said, annotation.system_acts(said, booked), deepcopy(state))
        )
    # Words are drawn after the dialogue, so that its course does not depend on them.
    reseed(seed)
    rows = []
    for turn, (user_acts, said, acts, state) in enumerate(played):
        response, response_delex = wording.system(said)
        state = {d: {s: tokenise(v) for s, v in slots.items()} for d, slots in state.items()}
        domains = [domain for _, domain, _, _ in [*user_acts, *acts] if domain != "general"]
        row = {
            "dataset": "selfplay",
            "split": split,
            "dialogue_id": f"selfplay-{split}-{seed}",
            "turn": turn,
            "user": wording.user(user_acts),
            "response": response,
            "response_delex": response_delex,
            "state_span": state_span(state),
            "act_span": annotation.act_span(acts),
            "state": json.dumps(state),
            "acts": json.dumps(acts),
            "domain": " ".join(dict.fromkeys(domains)) or "general",
            "goal": goal,
            "complete": user.goal.task_complete(),
        }
        for field in ("user", "response"):
            if not row[field]:
                raise TodflowError(
                    f"self-play, goal seed {seed}, turn {turn}: no template for the {field}'s acts "
                    f"{user_acts if field == 'user' else said}; add words for them to wording.py"
                )
        rows.append(row)
    return rows


def main(args: argparse.Namespace) -> None:
    """Play the share's dialogues and write their rows, in the order of `candidates`."""
    mine = candidates(args.config)[args.config["shard"] :: args.config["shards"]]
    rows = []
    with open_convlab(args.convlab) as convlab:
        user, system, wording = convlab.user(args.config.get("initiative")), Hdc(), Wording()
        progress = Progress(f"self-play {args.out}", len(mine), "dialogues")
        for done, (split, seed) in enumerate(mine):
            rows += rows_of(user, system, wording, split, seed)
            progress.update(done + 1)
        progress.close()
    write_table(args.out, pandas.DataFrame(rows, columns=[*COLUMNS, "complete"]))


def _options() -> argparse.ArgumentParser:
    options = parser("Play and word a share of the self-play corpus.")
    options.add_argument(
        "--convlab", type=Path, required=True, help="manifest of the runtime folder"
    )
    options.add_argument("--out", type=Path, required=True, help="the share's rows, parquet")
    return options


if __name__ == "__main__":
    run(_options(), main)
