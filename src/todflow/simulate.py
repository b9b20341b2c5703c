"""Stage: simulated dialogues between convlab's agenda user and a system; one share of a run.

    python -m todflow.simulate --config '{"system": "hdc", "setting": {"initiative": 4, "counting":
        "convlab2"}, "dialogues": 1000, "seed": 20200202, "shard": 0, "shards": 8}'
        --convlab results/convlab/manifest.json --out T --results R --log L

`initiative` is how many acts the user says a turn at most, null for ConvLab-3's draw from 1 to 4;
`counting` is the evaluator's way, "convlab2" or "convlab3". A dialogue depends on its goal seed
alone, so any number of shares gives the same dialogues.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pandas

from todflow.convlab_bridge.evaluators import COUNTINGS, make_evaluator
from todflow.convlab_bridge.hdc import Hdc
from todflow.convlab_bridge.runtime import open_convlab
from todflow.convlab_bridge.session import System, goal_seeds, play, user_goal
from todflow.errors import TodflowError
from todflow.files import write_table
from todflow.progress import Progress
from todflow.stage import parser, run

# Name -> what makes the system, called when convlab is open.
SYSTEMS: dict[str, Callable[[], System]] = {"hdc": Hdc}


def check_config(config: dict) -> None:
    """Raises TodflowError for a system, initiative or counting that there is not."""
    initiative, counting = (config["setting"].get(name) for name in ("initiative", "counting"))
    if config["system"] not in SYSTEMS:
        raise TodflowError(
            f"config: 'system': {config['system']!r} is none of {', '.join(SYSTEMS)}"
        )
    if initiative not in (None, 1, 2, 3, 4):
        raise TodflowError(
            f"config: 'setting.initiative': {initiative!r}; give 1 to 4, or null to draw it"
        )
    if counting not in COUNTINGS:
        raise TodflowError(
            f"config: 'setting.counting': {counting!r} is none of {', '.join(COUNTINGS)}"
        )


def simulate(user, system: System, evaluator, dialogue: int, seed: int) -> tuple[list[dict], dict]:
    """Play one dialogue: its transcript, one row an exchange, and its result row.

    Inform precision, recall and F1 are None where the goal requests nothing, `book` is None where
    it books nothing: the averages leave such dialogues out. `turns` counts both sides. `success`
    is without the bookings' constraints in the tracked state, `success_strict` with them.
    """
    exchanges, goal = [], None
    for exchange in play(user, system, seed, evaluator):
        goal = goal or json.dumps(user_goal(user))
        exchanges.append(exchange)
    rows = [
        {
            "dialogue": dialogue,
            "turn": turn,
            "user_acts": json.dumps(exchange.user_acts),
            "system_acts": json.dumps(exchange.system_acts),
            "state": json.dumps(_filled(exchange.belief_state)),
        }
        for turn, exchange in enumerate(exchanges)
    ]
    evaluator.task_success()
    true_positives, false_positives, false_negatives = evaluator.inform_F1(aggregate=False)
    precision, recall, f1 = evaluator.inform_F1()
    result = {
        "dialogue": dialogue,
        "goal_seed": seed,
        "goal": goal,
        "turns": 2 * len(exchanges),
        "inform_tp": true_positives,
        "inform_fp": false_positives,
        "inform_fn": false_negatives,
        "inform_precision": precision,
        "inform_recall": recall,
        "inform_f1": f1,
        "book": evaluator.book_rate(),
        "success": bool(evaluator.success),
        "success_strict": bool(evaluator.success_strict),
        # The user's own verdict, as the published figure has it, not the evaluator's.
        "complete": bool(user.goal.task_complete()),
    }
    return rows, result


def _filled(state: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    filled = {
        domain: {slot: value for slot, value in slots.items() if value}
        for domain, slots in state.items()
    }
    return {domain: slots for domain, slots in filled.items() if slots}


def main(args: argparse.Namespace) -> None:
    """Play every `shards`-th dialogue from number `shard` on."""
    check_config(args.config)
    setting = args.config["setting"]
    numbered = list(enumerate(goal_seeds(args.config["seed"], args.config["dialogues"])))
    mine = numbered[args.config["shard"] :: args.config["shards"]]
    transcripts, results = [], []
    with open_convlab(args.convlab) as convlab:
        user = convlab.user(setting["initiative"])
        system = SYSTEMS[args.config["system"]]()
        evaluator = make_evaluator(setting["counting"])
        progress = Progress(f"simulate {args.out}", len(mine), "dialogues")
        for done, (dialogue, seed) in enumerate(mine):
            rows, result = simulate(user, system, evaluator, dialogue, seed)
            transcripts += rows
            results.append(result)
            progress.update(done + 1)
        progress.close()
    write_table(
        args.out, pandas.DataFrame(transcripts, columns=list(TRANSCRIPT)).astype(TRANSCRIPT)
    )
    write_table(args.results, pandas.DataFrame(results, columns=list(RESULTS)).astype(RESULTS))


# Columns and their types, fixed so that a share without, say, any booking has them too.
TRANSCRIPT = {
    "dialogue": "int32", "turn": "int32", "user_acts": "str", "system_acts": "str", "state": "str",
}  # fmt: skip
RESULTS = {
    "dialogue": "int32", "goal_seed": "int32", "goal": "str", "turns": "int32",
    "inform_tp": "int32", "inform_fp": "int32", "inform_fn": "int32",
    "inform_precision": "float64", "inform_recall": "float64", "inform_f1": "float64",
    "book": "float64", "success": "bool", "success_strict": "bool", "complete": "bool",
}  # fmt: skip


def _options() -> argparse.ArgumentParser:
    options = parser("Play a share of a simulation.")
    options.add_argument(
        "--convlab", type=Path, required=True, help="manifest of the runtime folder"
    )
    options.add_argument("--out", type=Path, required=True, help="transcripts, parquet")
    options.add_argument("--results", type=Path, required=True, help="one row a dialogue, parquet")
    return options


if __name__ == "__main__":
    run(_options(), main)
