"""The command `todflow`, for people who bring their own system's output."""

import argparse
import io
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from todflow import cli_multiwoz
from todflow.corpora.incar.entities import entity_map
from todflow.corpora.incar.prepare import split_rows
from todflow.corpora.incar.release import read_entities
from todflow.errors import TodflowError
from todflow.metrics import sequicity
from todflow.predictions import is_sequicity, read_predictions, read_sequicity
from todflow.score import (
    add_report_options,
    check_ids,
    check_out,
    check_sampling,
    gold_dialogues,
    intents,
    predicted_dialogues,
    report,
    slots_of,
    tallies,
    write_report,
)

_ARCHIVE = "kvret_dataset_public.zip"
_SHOWN = {
    "match": "Match",
    "succ_f1": "SuccF1",
    "bleu": "BLEU",
    "bleu_without_markers": "BLEU without markers",
    "combined": "Combined",
    "joint_goal_accuracy": "Joint goal accuracy",
}


def main(arguments: list[str] | None = None) -> None:
    """Run one command; a `TodflowError` ends the process with status 2 and one line."""
    args = _options().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names from the input may have letters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        args.run(args)
        sys.stdout.flush()
    except TodflowError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        # Of a broken pipe nobody need hear: whoever read the output has seen enough.
        if not isinstance(error, BrokenPipeError):
            print(f"error: {error}", file=sys.stderr)
        # Nothing may be written at exit, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="todflow", description=__doc__)
    commands = options.add_subparsers(required=True, metavar="COMMAND")
    score = commands.add_parser("score", help="score a system's output")
    corpora = score.add_subparsers(required=True, metavar="CORPUS")
    command = corpora.add_parser("incar", help="against In-Car's test split")
    command.add_argument("--predictions", type=Path, required=True, help="what the system said")
    command.add_argument(
        "--data", type=Path, help=f"{_ARCHIVE} (default: the mirror's, or the fetched one)"
    )
    command.add_argument(
        "--variant",
        choices=("galaxy", "labes", "sequicity"),
        default="galaxy",
        help="whose rules of evaluation (default: galaxy)",
    )
    add_report_options(command)
    command.set_defaults(run=score_incar)
    cli_multiwoz.add(corpora)
    return options


def score_incar(args: argparse.Namespace) -> None:
    """`todflow score incar`: print a small table, and write the figures as JSON where `--out` says
    so."""
    check_sampling(vars(args), "--{}")
    if args.out:
        check_out(args.out)
    archive = args.data or default_archive()
    evaluator = f"incar-{args.variant}"
    entities = entity_map(read_entities(archive))
    table = pd.DataFrame(split_rows(archive, "test", entities))
    if is_sequicity(args.predictions):
        rows = _sequicity_rows(args.predictions, evaluator, table, entities)
    else:
        slots, domains = slots_of(evaluator, table), intents(table)
        gold = gold_dialogues(table, slots)
        answers = read_predictions(args.predictions)
        predicted = predicted_dialogues(answers, gold, slots, domains, args.predictions)
        rows = tallies(evaluator, gold, predicted, domains, entities)
    result = report(evaluator, rows, args.samples, args.seed, acts=False)
    if args.out:
        write_report(args.out, result)
    print(_text(result))


def default_archive() -> Path:
    """The release in the mirror that TODFLOW_DATA_MIRROR names, else where the workflow fetches it
    to."""
    mirror = os.environ.get("TODFLOW_DATA_MIRROR")
    if mirror:
        return Path(mirror) / "kvret" / _ARCHIVE
    return Path("results") / "raw" / _ARCHIVE


def _sequicity_rows(
    path: Path, evaluator: str, table: pd.DataFrame, entities: dict[str, str]
) -> np.ndarray:
    if evaluator != "incar-sequicity":
        raise TodflowError(
            f"{path}: states of Sequicity's files have no slots; score it with --variant sequicity"
        )
    dialogues = read_sequicity(path)
    domains = list(intents(table).values())
    check_ids({index for index, _, _ in dialogues}, set(range(len(domains))), path)
    rows = [
        sequicity.tally(gold, predicted, domains[index], entities).row()
        for index, gold, predicted in dialogues
    ]
    return np.stack(rows)


def _text(result: dict) -> str:
    lines = [
        f"{result['evaluator']}: {result['n_dialogues']} dialogues, {result['n_turns']} turns, "
        f"Match over {result['match_denominator']}",
        f"{'':<22}{'x100':>8}   95 % interval",
    ]
    for name, title in _SHOWN.items():
        low, high = result["ci"][name]
        lines.append(f"{title:<22}{result[name]:8.2f}   {low:.2f} to {high:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
