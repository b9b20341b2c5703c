"""Opening convlab: from a checked folder, offline, silent, and without traces."""

import contextlib
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

from todflow.convlab_bridge import fixes
from todflow.errors import TodflowError
from todflow.files import read_json, sha256


@dataclass
class Convlab:
    """An opened convlab. It draws from the global generators: no threads."""

    agenda_random: fixes.AgendaRandom

    def user(self, initiative: int | None):
        """The agenda user; says up to `initiative` acts a turn (None: drawn from 1 to 4)."""
        from convlab.policy.rule.multiwoz.policy_agenda_multiwoz import UserPolicyAgendaMultiWoz

        self.agenda_random.initiative = initiative
        return UserPolicyAgendaMultiWoz()


def reseed(seed: int) -> None:
    """Seed every global generator that a dialogue may draw from."""
    random.seed(seed)
    numpy.random.seed(seed)
    # Imported by convlab, at the latest; nothing that plays at the level of acts draws from it.
    sys.modules["torch"].manual_seed(seed)


def check(manifest: Path) -> Path:
    """The folder of `manifest`, if every file has its listed SHA-256; else TodflowError."""
    remedy = "build it with `python -m todflow.convlab_bridge.data`"
    try:
        files = read_json(manifest)["files"]
    except FileNotFoundError:
        raise TodflowError(f"{manifest}: no convlab runtime folder here; {remedy}") from None
    except (ValueError, TypeError, KeyError):
        raise TodflowError(
            f"{manifest}: not a manifest of a convlab runtime folder; {remedy}"
        ) from None
    folder = manifest.absolute().parent
    for name, digest in files.items():
        if not (folder / name).is_file():
            raise TodflowError(f"{manifest}: file {name} is missing; {remedy}")
        if sha256(folder / name) != digest:
            raise TodflowError(f"{manifest}: file {name} has been altered; {remedy}")
    return folder


@contextlib.contextmanager
def open_convlab(manifest: Path) -> Iterator[Convlab]:
    """Import convlab from the folder of `manifest` and yield it.

    Inside the block the working directory is a scratch folder, since convlab's tracker appends to
    log files there: relative paths must be resolved before, or used after. Standard output is
    thrown away. Raises TodflowError when the folder is missing or altered, or convlab came from
    another folder.
    """
    folder = check(manifest)
    loaded = sys.modules.get("convlab")
    if loaded is None:
        sys.path.insert(0, str(folder))
    elif Path(loaded.__file__).parent.parent != folder:
        raise TodflowError(
            f"{manifest}: this process has convlab from elsewhere; start another one"
        )
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="todflow-convlab-"))
        stack.enter_context(contextlib.chdir(scratch))
        silence = stack.enter_context(open(os.devnull, "w"))
        stack.enter_context(contextlib.redirect_stdout(silence))
        yield Convlab(fixes.import_repaired())
