"""What every `python -m todflow.<stage>` shares: options, log, and errors in one line."""

import argparse
import contextlib
import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from todflow import takeover
from todflow.errors import TodflowError


def parser(description: str) -> argparse.ArgumentParser:
    """An argument parser with the options that every stage has."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--log", type=Path, help="file for messages (default: standard error)")
    result.add_argument(
        "--config", type=json.loads, default={}, help="this stage's settings, as JSON text"
    )
    return result


def run(options: argparse.ArgumentParser, main: Callable[[argparse.Namespace], None]) -> None:
    """Parse the command line and call `main`.

    Standard output, warnings and logging go to `--log`; progress lines and a final error go to
    standard error. A `TodflowError` ends the process with status 2 and one line; any other exception
    with status 1, its traceback in the log.
    """
    arguments = options.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with contextlib.ExitStack() as stack:
        stream = sys.stderr
        if arguments.log:
            try:
                stack.enter_context(takeover.hold(arguments.log.with_suffix(".lock")))
            except TodflowError as error:
                print(f"error: {error}", file=sys.__stderr__)
                sys.exit(2)
            stream = stack.enter_context(open(arguments.log, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(stream))
            stack.enter_context(contextlib.redirect_stderr(stream))
        logging.basicConfig(
            stream=stream, level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", force=True
        )
        logging.captureWarnings(True)
        try:
            if not isinstance(arguments.config, dict):
                raise TodflowError("--config: not a JSON object")
            main(arguments)
        except TodflowError as error:
            logging.error("%s", error)
            if arguments.log:
                print(f"error: {error}", file=sys.__stderr__)
            sys.exit(2)
        except Exception as error:
            logging.exception("unexpected error")
            if arguments.log:
                print(f"error: {error!r}; traceback in {arguments.log}", file=sys.__stderr__)
            sys.exit(1)
