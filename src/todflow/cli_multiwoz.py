"""`todflow score multiwoz`."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from todflow.corpora.multiwoz.prepare import split_rows
from todflow.corpora.multiwoz.release import read_database
from todflow.errors import TodflowError
from todflow.metrics.multiwoz import normalise
from todflow.metrics.multiwoz.gold import Gold, gold_of
from todflow.score import add_report_options, check_out, check_sampling, write_report
from todflow.score_multiwoz import (
    EVALUATORS,
    STANDARD_CORPUS,
    STATES,
    Setting,
    gold_of_files,
    score,
)

# Names of the archives: as released, and as the workflow fetches them.
_ARCHIVES = {
    "multiwoz20": ("MULTIWOZ2.0.zip", "multiwoz20.zip"),
    "multiwoz21": ("MULTIWOZ2.1.zip", "multiwoz21.zip"),
}
# The legacy figures of the literature are of 2.0's responses and states.
_LEGACY_CORPUS = "multiwoz20"
_SHOWN = {
    "inform": ("Inform", 1),
    "success": ("Success", 1),
    "bleu": ("BLEU", 2),
    "combined": ("Combined", 2),
    "joint_goal_accuracy": ("Joint goal accuracy", 2),
    "act_f1": ("Act F1", 2),
}


def add(corpora: argparse._SubParsersAction) -> None:
    """Add the command to those of `todflow score`."""
    command = corpora.add_parser("multiwoz", help="against MultiWOZ's test split")
    command.add_argument(
        "--predictions",
        type=Path,
        required=True,
        help="what the system said: .json, .json.gz, .parquet",
    )
    command.add_argument(
        "--evaluator", choices=EVALUATORS, default="standard", help="default: standard"
    )
    command.add_argument(
        "--vintage",
        choices=normalise.VINTAGES,
        help="rules of the standard evaluator (default: v1, the leaderboard's)",
    )
    command.add_argument(
        "--state",
        choices=STATES,
        help="states that the database is asked with (default: predicted; gold if a turn has none)",
    )
    command.add_argument(
        "--booking-gate",
        action=argparse.BooleanOptionalAction,
        help="of the legacy evaluator: references count only after bookings (default: on)",
    )
    command.add_argument(
        "--data",
        type=Path,
        help="archive of the release, folder with archives, or folder of the prepared corpus "
        "(default: the mirror's, or the fetched one)",
    )
    command.add_argument(
        "--allow-partial",
        action="store_true",
        help="score the first turns of dialogues that have another number of turns",
    )
    add_report_options(command)
    command.set_defaults(run=score_multiwoz)


def score_multiwoz(args: argparse.Namespace) -> None:
    """Print a table, and write the figures as JSON where `--out` says so."""
    check_sampling(vars(args), "--{}")
    if args.out:
        check_out(args.out)
    setting = _setting(args)
    standard = setting.evaluator == "standard"
    gold = gold_of_data(args.data, STANDARD_CORPUS if standard else _LEGACY_CORPUS)
    sampling = args.samples, args.seed
    needs_states = args.state == "predicted"
    result = score(gold, args.predictions, setting, *sampling, args.allow_partial, needs_states)
    if args.out:
        write_report(args.out, result)
    print("\n".join(table(result)))


def _setting(args: argparse.Namespace) -> Setting:
    standard = args.evaluator == "standard"
    for name, given, fits in (
        ("--vintage", args.vintage, standard),
        ("--booking-gate", args.booking_gate, not standard),
    ):
        if given is not None and not fits:
            raise TodflowError(f"{name}: the {args.evaluator} evaluator has none; leave it out")
    state = args.state or "predicted"
    if standard:
        return Setting("standard", state, args.vintage or "v1")
    return Setting("legacy", state, None, args.booking_gate is not False)


def gold_of_data(data: Path | None, corpus: str) -> Gold:
    """The gold side of the test split, from wherever `--data` points, else from the usual places.

    Of a folder, the prepared table is taken (its own, or that of `corpus` in a folder of corpora),
    else the archive of `corpus`.
    """
    usual = data is None
    if usual:
        mirror = os.environ.get("TODFLOW_DATA_MIRROR")
        data = Path(mirror) / "multiwoz" / "official-layout" if mirror else Path("results") / "raw"
    if usual or data.is_dir():
        for folder in (data, data / corpus):
            if (folder / "test.parquet").is_file():
                return gold_of_files(folder / "test.parquet", folder / "database.json")
        archives = [data / name for name in _ARCHIVES[corpus]]
        data = next((archive for archive in archives if archive.is_file()), archives[0])
    if not data.is_file():
        raise TodflowError(
            f"{data}: no such file; name MultiWOZ's archive by --data, or set "
            "TODFLOW_DATA_MIRROR to a folder with multiwoz/official-layout"
        )
    rows = pd.DataFrame(split_rows(data, "test"))
    return gold_of(rows, read_database(data), str(data))


def table(result: dict) -> Iterator[str]:
    """The lines of a result for people: what was scored how, the figures, and what to know."""
    switches = [f"{result['state']} states"]
    if result["vintage"]:
        switches.append(f"{result['active_domains']} active domains")
    else:
        switches.append(f"booking gate {'on' if result['booking_gate'] else 'off'}")
    yield f"{result['name']}: {', '.join(switches)}, references of {result['references']}"
    yield (
        f"{result['n_dialogues']} of {result['n_expected']} dialogues, "
        f"{result['n_turns']} of {result['n_turns_expected']} turns"
    )
    yield f"{'':<22}{'x100':>8}   95 % interval"
    for name, (title, decimals) in _SHOWN.items():
        if result[name] is not None:
            low, high = result["ci"][name]
            yield f"{title:<22}{result[name]:8.{decimals}f}   {low:.2f} to {high:.2f}"
    yield f"{'':<22}{'Inform':>8}{'Success':>9}{'n':>6}"
    for domain, rates in result["per_domain"].items():
        yield f"{domain:<22}{rates['inform']:8.1f}{rates['success']:9.1f}{rates['n']:6d}"
    yield (
        f"words a response {result['avg_len']:.2f}, conditional bigram entropy "
        f"{result['cond_bigram_entropy']:.2f}, unique words {result['unique_words']}, unique "
        f"trigrams {result['unique_trigrams']}"
    )
    yield from _notes(result)


def _notes(result: dict) -> Iterator[str]:
    if result["n_turns_without_state"]:
        yield (
            f"note: {result['n_turns_without_state']} turns have no state, so all dialogues were "
            "scored with gold states"
        )
    for dialogue, (given, expected) in result["partial"].items():
        yield f"note: {dialogue} has {given} turns, not {expected}: its first ones were scored"
    for key, title, form in (
        ("unknown_placeholders", "placeholders that this evaluator does not know", "[{}]"),
        ("unknown_domains", "domains that this evaluator does not know", "{}"),
        ("unknown_slots", "slots in states that this evaluator does not know", "{}"),
        ("turns_without", "fields that not all turns have, so it is as if none had", "{}"),
        ("ignored_fields", "fields without a use", "{}"),
    ):
        told = [f"{form.format(name)} ({times})" for name, times in result[key].items()]
        if told:
            more = f", and {len(told) - 10} more" if len(told) > 10 else ""
            yield f"note: {title}: {', '.join(told[:10])}{more}"
