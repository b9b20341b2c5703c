"""What the scripts in workflow/scripts share."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from todflow.errors import TodflowError


@contextmanager
def one_line_errors() -> Iterator[None]:
    """A TodflowError ends the script with its one line, in log and terminal, and status 2."""
    try:
        yield
    except TodflowError as error:
        for stream in (sys.stderr, sys.__stderr__):
            print(f"error: {error}", file=stream, flush=True)
        raise SystemExit(2) from None


def paths(files) -> list[str]:
    """A named input of Snakemake as a list, whether it was given as one file, several or none."""
    return [files] if isinstance(files, str) else [str(path) for path in files]


def parse_settings(text: str, what: str) -> dict:
    """A JSON object that a rule hands over as text. Raises TodflowError."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise TodflowError(f"{what}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise TodflowError(f"{what}: not a JSON object")
    return value
