"""The state of a training run: one file that is always whole, one writer at a time."""

import hashlib
import json
import logging
import pickle
import signal
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from todflow import closure, takeover
from todflow.files import atomic, sha256

log = logging.getLogger(__name__)

# What torch.load raises for a damaged file, and what a file of another layout leads to.
UNREADABLE = (
    OSError, RuntimeError, EOFError, ValueError, AttributeError, KeyError,
    pickle.UnpicklingError, zipfile.BadZipFile,
)  # fmt: skip


def digest(stage: str, config: dict, inputs: list[Path]) -> str:
    """What a saved state must agree with: code, settings, the input files' bytes, torch's version.

    `stage` is the dotted name of the module that trains.
    """
    facts = {
        "code": closure.digest(stage),
        "config": config,
        "inputs": [sha256(path) for path in inputs],
        "torch": torch.__version__,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


class State:
    """A folder with `state.pt`, and the weights of evaluated checkpoints beside it."""

    def __init__(self, folder: Path, digest: str):
        self.folder, self.digest = folder, digest

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for this process; see todflow.takeover for one that holds it already."""
        with takeover.hold(self.folder / "lock"):
            yield

    def load(self) -> dict | None:
        """The saved content, or None if there is none that belongs to this run."""
        path = self.folder / "state.pt"
        if path.is_file():
            try:
                content = torch.load(path, map_location="cpu", weights_only=True)
                if content.pop("digest", None) == self.digest:
                    for _, step in content["kept"]:
                        self.load_weights(step)
                    return content
            except UNREADABLE as error:
                log.warning("%s can't be read (%r): starting afresh", path, error)
        for stale in self.folder.glob("*.pt"):
            stale.unlink()
        return None

    def save(self, content: dict) -> None:
        """Replace the saved content, then drop weights that `content["kept"]` doesn't name."""
        with atomic(self.folder / "state.pt") as temporary:
            torch.save({**content, "digest": self.digest}, temporary)
        kept = {self.weights(step) for _, step in content["kept"]} | {self.folder / "state.pt"}
        for path in set(self.folder.glob("*.pt")) - kept:
            path.unlink()

    def weights(self, step: int) -> Path:
        """Where the weights of the evaluation after `step` updates are kept."""
        return self.folder / f"weights-{step}.pt"

    def save_weights(self, step: int, weights: dict) -> None:
        """Keep the weights of one evaluation."""
        with atomic(self.weights(step)) as temporary:
            torch.save(weights, temporary)

    def load_weights(self, step: int) -> dict:
        """The weights of one evaluation."""
        return torch.load(self.weights(step), map_location="cpu", weights_only=True)


class Stop:
    """Turns SIGINT and SIGTERM into a wish to stop, granted where nothing is lost.

    Inside `shielded` a signal is only noted; call `check` where a stop is safe. Outside it ends the
    process at once, with the status that shells expect (128 + signal).
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._shield = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def _handle(self, number: int, _frame: object) -> None:
        self.received = number
        if not self._shield:
            self.check()

    def check(self) -> None:
        """End the process if a signal came."""
        if self.received is not None:
            raise SystemExit(128 + self.received)

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Hold signals back within the block."""
        self._shield = True
        try:
            yield
        finally:
            self._shield = False
