"""Stage: the shares of a simulation -> its transcripts, its results, and its figures.

    python -m todflow.simulation_metrics --config '{"system": "hdc", "setting": "convlab2",
        "definition": {"initiative": 4, "counting": "convlab2"},
        "dialogues": 1000, "seed": 20200202, "bootstrap": {"samples": 1000, "seed": 1}}'
        --shards T [T ...] --results R [R ...] --out DIR --log L

Writes transcripts.parquet, dialogues.parquet and, last, metrics.json into DIR.
"""

import argparse
from pathlib import Path

import pandas

from todflow.errors import TodflowError
from todflow.files import write_json, write_table
from todflow.metrics.simulation import figures
from todflow.stage import parser, run


def merge(paths: list[Path], dialogues: int, order: list[str]) -> pandas.DataFrame:
    """The rows of all shares in the order of the dialogues.

    Raises TodflowError when a dialogue of the run is missing, is of another run, or comes twice.
    """
    shards = [pandas.read_parquet(path) for path in paths]
    table = pandas.concat(shards).sort_values(order).reset_index(drop=True)
    missing = sorted(set(range(dialogues)) - set(table["dialogue"]))
    if missing:
        raise TodflowError(
            f"{paths[0]} and {len(paths) - 1} more: dialogue {missing[0]} is in no share "
            f"({len(missing)} of {dialogues} are not); give all shares of one run"
        )
    extra = sorted(set(table["dialogue"]) - set(range(dialogues)))
    if extra:
        raise TodflowError(
            f"{paths[0]} and {len(paths) - 1} more: dialogue {extra[0]} is not of this run, which has "
            f"{dialogues}; delete the shares and play them again"
        )
    if table.duplicated(order).any():
        raise TodflowError(
            f"{paths[0]} and {len(paths) - 1} more: dialogues come twice; give each share once"
        )
    return table


def main(args: argparse.Namespace) -> None:
    """Merge and average."""
    config = args.config
    transcripts = merge(args.shards, config["dialogues"], ["dialogue", "turn"])
    results = merge(args.results, config["dialogues"], ["dialogue"])
    write_table(args.out / "transcripts.parquet", transcripts)
    write_table(args.out / "dialogues.parquet", results)
    # `definition` is what the setting's name means, which the tables don't take on trust.
    described = ("system", "setting", "definition", "dialogues", "seed", "bootstrap")
    report = {name: config[name] for name in described}
    report["metrics"] = figures(results, **config["bootstrap"])
    write_json(args.out / "metrics.json", report)


def _options() -> argparse.ArgumentParser:
    options = parser("Merge and average the shares of a simulation.")
    options.add_argument(
        "--shards", type=Path, nargs="+", required=True, help="transcripts of all shares"
    )
    options.add_argument(
        "--results", type=Path, nargs="+", required=True, help="results of all shares"
    )
    options.add_argument("--out", type=Path, required=True, help="folder to write to")
    return options


if __name__ == "__main__":
    run(_options(), main)
