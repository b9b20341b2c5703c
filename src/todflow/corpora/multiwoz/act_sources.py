"""Stage: the table of who annotated the system acts of each turn, put beside an archive.

The edition that was put together from public pieces (docs/multiwoz.md) has acts of several sources. A
table that lies with its archives in the mirror says which; it is copied from there and checked. The
official archives have one annotation, for which the header of that table alone is written.

The configuration has mirror_sha256 (of that edition's archive), mirror_acts (where the table lies in
the mirror), mirror_acts_size (bytes) and mirror_acts_sha256.
"""

import argparse
import csv
import gzip
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from todflow.corpora.multiwoz.release import Dialogue
from todflow.errors import TodflowError
from todflow.files import atomic, mismatch, sha256
from todflow.stage import parser, run

# Dialogue with ".json", system turn from 1, source in the 2.0 archive and in the 2.1 one, how made.
HEADER = ("dialogue", "turn", "source_2.0", "source_2.1", "method")
SOURCES = ("gold-2.0", "gold-2.1", "damd-slots", "silver", "none")
_COLUMN = {"multiwoz20": "source_2.0", "multiwoz21": "source_2.1"}
REMEDY = (
    "set TODFLOW_DATA_MIRROR to the folder that the archive is from, delete the table and run again"
)


class ActSources:
    """Where the acts of each turn are from: gold or none, or what the table at `path` says.

    Without a table, or with one that has but a header, the acts are taken for the release's own.
    `release` is multiwoz20 or multiwoz21. Raises a `TodflowError` that names the line.
    """

    def __init__(self, path: Path | None, release: str):
        self.path = path
        self.turns: dict[str, list[str]] = {}
        if path is None:
            return
        lines = _lines(path)
        if next(lines, None) != list(HEADER):
            raise TodflowError(f"{path}, line 1: not {' '.join(HEADER)}; {REMEDY}")
        column = HEADER.index(_COLUMN[release])
        for number, fields in enumerate(lines, 2):
            if len(fields) != len(HEADER):
                raise TodflowError(
                    f"{path}, line {number}: {len(fields)} fields, not {len(HEADER)}; {REMEDY}"
                )
            known = self.turns.setdefault(fields[0].removesuffix(".json"), [])
            if fields[1] != str(len(known) + 1):
                raise TodflowError(
                    f"{path}, line {number}, dialogue {fields[0]}: turn {fields[1]} where "
                    f"{len(known) + 1} is due; {REMEDY}"
                )
            if fields[column] not in SOURCES:
                raise TodflowError(
                    f"{path}, line {number}, field {HEADER[column]}: {fields[column]!r} is none of "
                    f"{', '.join(SOURCES)}; {REMEDY}"
                )
            known.append(fields[column])

    def of(self, dialogue: Dialogue) -> list[str]:
        """One source for each exchange."""
        if not self.turns:
            return ["gold" if exchange.acts else "none" for exchange in dialogue.exchanges]
        sources = self.turns.get(dialogue.dialogue_id, [])
        if len(sources) != len(dialogue.exchanges):
            raise TodflowError(
                f"{self.path}, dialogue {dialogue.dialogue_id}: {len(sources)} turns where the archive "
                f"has {len(dialogue.exchanges)}; {REMEDY}"
            )
        return sources


def _lines(path: Path) -> Iterator[list[str]]:
    """The fields of each line of a gzipped table."""
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except FileNotFoundError:
        raise TodflowError(f"{path}: no such file; {REMEDY}") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise TodflowError(f"{path}: not a gzipped table ({error}); {REMEDY}") from None
    return csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)


def fetch_table(config: dict, archive: Path, target: Path, mirror: str | None) -> None:
    """Put the table that belongs to `archive` at `target`, which stays as it is if anything fails."""
    if sha256(archive) != config["mirror_sha256"]:
        with atomic(target) as temporary:
            text = "\t".join(HEADER) + "\n"
            temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
        return
    wanted = config["mirror_acts"]
    if not mirror:
        raise TodflowError(
            f"{archive}: has acts of several sources, and {wanted} says which; set "
            "TODFLOW_DATA_MIRROR to a folder with it"
        )
    source = Path(mirror) / wanted
    if not source.is_file():
        raise TodflowError(
            f"{source}: no such file in TODFLOW_DATA_MIRROR; put the table there that belongs to "
            f"{archive}"
        )
    with atomic(target) as temporary:
        shutil.copyfile(source, temporary)
        wrong = mismatch(temporary, config["mirror_acts_size"], config["mirror_acts_sha256"])
        if wrong:
            raise TodflowError(
                f"{source}: {wrong}; replace it by the table that belongs to {archive}"
            )


def main(args: argparse.Namespace) -> None:
    """Fetch one table."""
    fetch_table(args.config, args.archive, args.out, os.environ.get("TODFLOW_DATA_MIRROR"))


def _options() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--archive", type=Path, required=True, help="archive that it is about")
    options.add_argument("--out", type=Path, required=True, help="table to write")
    return options


if __name__ == "__main__":
    run(_options(), main)
