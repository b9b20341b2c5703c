"""Stage: predictions against a split -> figures with confidence intervals, as JSON."""

import argparse
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from todflow.corpora.incar import INFORMABLE
from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.files import read_json, write_json
from todflow.metrics import incar, selfplay, sequicity
from todflow.metrics.bootstrap import intervals
from todflow.metrics.dialogues import Dialogue, Turn
from todflow.metrics.spans import State, parse_acts, parse_state
from todflow.metrics.tally import figures
from todflow.predictions import Answer, read_predictions, shown
from todflow.stage import parser, run

# Evaluator -> BLEU's epsilon.
EVALUATORS = {
    "incar-galaxy": incar.EPSILON["galaxy"],
    "incar-labes": incar.EPSILON["labes"],
    "incar-sequicity": sequicity.EPSILON,
    "selfplay": selfplay.EPSILON,
}

# More bootstrap samples than this need gigabytes, and move no interval.
MAX_SAMPLES = 100_000

Slots = Mapping[str, frozenset[str] | tuple[str, ...]]


def add_report_options(command: argparse.ArgumentParser) -> None:
    """Add what every command that scores takes: the bootstrap's options, and where to write."""
    command.add_argument(
        "--samples", type=int, default=1000, help="bootstrap samples (default: 1000)"
    )
    command.add_argument("--seed", type=int, default=1, help="seed of the bootstrap (default: 1)")
    command.add_argument("--out", type=Path, help="JSON file to write")


def check_sampling(settings: Mapping[str, object], name: str) -> None:
    """Refuse a wrong `samples` or `seed`; `name` is the format of a setting's name in messages."""
    for setting, least, most, remedy in (
        ("samples", 1, MAX_SAMPLES, f"give a whole number from 1 to {MAX_SAMPLES}"),
        ("seed", 0, None, "give a whole number, 0 or more"),
    ):
        value = settings.get(setting)
        # Python counts True as an integer.
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or value < least or (most is not None and value > most):
            raise TodflowError(f"{name.format(setting)}: {value!r:.60}; {remedy}")


def check_out(path: Path) -> None:
    """Refuse a file that can't be written, before anything is computed; leaves nothing behind."""
    remedy = "give a file in a folder that can be written to"
    try:
        if path.exists() and not path.is_file():
            raise TodflowError(f"--out: {path} is a folder or device; {remedy}")
        folder = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
        if not folder.is_dir():
            raise TodflowError(f"--out: {path} lies below {folder}, which is no folder; {remedy}")
        # Asking for permissions would not tell of a file system that is read-only.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise TodflowError(f"--out: {path}: {error.strerror}; {remedy}") from None


def write_report(path: Path, result: dict) -> None:
    """Write the figures as JSON; a `TodflowError` where that fails in spite of `check_out`."""
    try:
        write_json(path, result)
    except OSError as error:
        raise TodflowError(
            f"--out: {path}: {error.strerror}; give a file that can be written"
        ) from None
    except UnicodeError as error:
        raise TodflowError(f"--out: {path}: {error}; correct the names in the input") from None


def slots_of(evaluator: str, table: pd.DataFrame) -> Slots:
    """The slot names of every domain, by which state spans are parsed.

    In-Car's are fixed; the self-play corpus' are those of the gold states.
    """
    if evaluator != "selfplay":
        return INFORMABLE
    names: dict[str, set[str]] = {}
    for text in table["state"].unique():
        for domain, slots in json.loads(text).items():
            names.setdefault(domain, set()).update(slots)
    return {domain: frozenset(slots) for domain, slots in names.items()}


def gold_dialogues(table: pd.DataFrame, slots: Slots) -> dict[str, Dialogue]:
    """Dialogue id -> turns of a split, from its spans: so both sides are parsed alike."""
    result: dict[str, Dialogue] = {}
    for row in table.itertuples(index=False):
        turn = _turn(row.state_span, row.act_span, row.response_delex, slots)
        result.setdefault(row.dialogue_id, []).append(turn)
    return result


def intents(table: pd.DataFrame) -> dict[str, str]:
    """Dialogue id -> the domain of its first turn, which in In-Car is the intent."""
    first = table.drop_duplicates("dialogue_id")
    return dict(zip(first["dialogue_id"], first["domain"], strict=True))


def predicted_dialogues(
    answers: Mapping[str, list[Answer]],
    gold: Mapping[str, Dialogue],
    slots: Slots,
    domains: Mapping[str, str],
    path: Path,
) -> dict[str, Dialogue]:
    """The answers as turns, in the order of the gold dialogues.

    A state without domains belongs to the dialogue's intent. Refuses missing and unknown dialogues,
    dialogues with another number of turns, and slots that no domain has, by name.
    """
    check_ids(set(answers), set(gold), path)
    names = {name for domain in slots.values() for name in domain}
    result = {}
    for dialogue, turns in gold.items():
        given = answers[dialogue]
        if len(given) != len(turns):
            raise TodflowError(
                f"{path}, dialogue {shown(dialogue)}: {len(given)} turns where the split has "
                f"{len(turns)}; give one answer a turn"
            )
        for number, answer in enumerate(given):
            for slot in () if isinstance(answer.state, str) else answer.state:
                # A slot of another domain is a system's mistake, to be scored as one.
                if slot not in names:
                    raise TodflowError(
                        f"{path}, dialogue {shown(dialogue)}, turn {number}, "
                        f"field state.{shown(slot)}: no such slot; this dialogue's are "
                        f"{_listed(domains[dialogue], slots)}"
                    )
        result[dialogue] = [
            _turn(answer.state, answer.act_span, answer.response, slots, domains[dialogue])
            for answer in given
        ]
    return result


def _listed(domains: str, slots: Slots) -> str:
    return ", ".join(sorted({name for domain in domains.split() for name in slots.get(domain, ())}))


def check_ids(found: set, expected: set, path: Path) -> None:
    """Refuse dialogues that are missing or not of the split, by id."""
    for wrong, what in ((expected - found, "missing"), (found - expected, "not of this split")):
        if wrong:
            first = ", ".join(shown(dialogue) for dialogue in sorted(wrong)[:3])
            more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            raise TodflowError(
                f"{path}: dialogues {what}: {first}{more}; give exactly the {len(expected)} "
                "of the split"
            )


def _turn(
    state: str | dict[str, str], act_span: str, response: str, slots: Slots, domain: str = ""
) -> Turn:
    parsed: State
    if isinstance(state, str):
        parsed = parse_state(state.lower(), slots)
    else:
        filled = {slot: value.lower().strip() for slot, value in state.items() if value.strip()}
        parsed = {domain: filled} if filled else {}
    acts = parse_acts(act_span.lower(), selfplay.ACT_DOMAINS)
    return Turn(parsed, response.lower(), frozenset(acts))


def tallies(
    evaluator: str,
    gold: Mapping[str, Dialogue],
    predicted: Mapping[str, Dialogue],
    domains: Mapping[str, str],
    entities: Mapping[str, str],
) -> np.ndarray:
    """The counts of every dialogue, (dialogues, columns) as `figures` takes them.

    `entities` is In-Car's entity map; the self-play evaluator uses none.
    """
    rows = []
    for dialogue, turns in gold.items():
        answers = predicted[dialogue]
        if evaluator == "selfplay":
            tally = selfplay.tally(turns, answers)
        elif evaluator == "incar-sequicity":
            bags = [[sequicity.bag_turn(turn) for turn in side] for side in (turns, answers)]
            tally = sequicity.tally(*bags, domains[dialogue], entities)
        else:
            tally = incar.tally(turns, answers, entities, evaluator.removeprefix("incar-"))
        rows.append(tally.row())
    return np.stack(rows)


def report(evaluator: str, rows: np.ndarray, samples: int, seed: int, acts: bool) -> dict:
    """Figures (x100) of all dialogues, and their 95 % intervals over `samples` resamples.

    `acts`: whether the corpus has system acts; without them there is no act F1.
    """
    totals = rows.sum(axis=0)
    names = [name for name in figures(totals) if acts or name != "act_f1"]
    point = figures(totals, EVALUATORS[evaluator])
    ranges = intervals(rows, samples, seed, EVALUATORS[evaluator])
    return {
        "evaluator": evaluator,
        "n_dialogues": len(rows),
        "n_turns": int(totals[3]),
        "match_denominator": int(totals[1]),
        **{name: float(point[name]) for name in names},
        "ci": {name: list(ranges[name]) for name in names},
        "samples": samples,
        "seed": seed,
    }


def main(args: argparse.Namespace) -> None:
    """Score one table of predictions."""
    if not isinstance(args.config, dict):
        raise TodflowError(
            f"config: {args.config!r:.60}; give an object of evaluator, samples and seed"
        )
    evaluator = args.config.get("evaluator")
    if not isinstance(evaluator, str) or evaluator not in EVALUATORS:
        raise TodflowError(
            f"config: 'evaluator': {evaluator!r:.60} is none of {', '.join(EVALUATORS)}"
        )
    check_sampling(args.config, "config: '{}'")
    check_out(args.out)
    if evaluator != "selfplay" and not args.entities:
        raise TodflowError(f"--entities: {evaluator} needs the entity map of In-Car's preparation")
    table = read_turns(args.gold)
    entities = _read_entities(args.entities) if args.entities else {}
    slots, domains = slots_of(evaluator, table), intents(table)
    gold = gold_dialogues(table, slots)
    answers = read_predictions(args.predictions)
    predicted = predicted_dialogues(answers, gold, slots, domains, args.predictions)
    rows = tallies(evaluator, gold, predicted, domains, entities)
    acts = bool((table["act_span"] != "").any())
    result = report(evaluator, rows, args.config["samples"], args.config["seed"], acts)
    write_report(args.out, result)


def _read_entities(path: Path) -> dict[str, str]:
    try:
        entities = read_json(path)
    except (OSError, ValueError) as error:
        raise TodflowError(f"{path}: no entity map ({error}); prepare In-Car again") from None
    if not isinstance(entities, dict):
        raise TodflowError(f"{path}: not an object of values and slots; prepare In-Car again")
    return entities


def _options() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--gold", type=Path, required=True, help="table of the split's turns")
    options.add_argument("--entities", type=Path, help="entity map (In-Car's evaluators)")
    options.add_argument("--predictions", type=Path, required=True, help="table of predictions")
    options.add_argument("--out", type=Path, required=True, help="JSON file to write")
    return options


if __name__ == "__main__":
    run(_options(), main)
