"""The state of a training run: one file that is always whole, one writer at a time."""

import fcntl
import hashlib
import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from todflow.errors import TodflowError
from todflow.files import atomic, sha256


def digest(config: dict, inputs: list[Path]) -> str:
    """What a saved state must agree with: the settings, the input files' bytes, torch's version."""
    facts = {
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
        """Hold the folder for this process.

        A process that was started by a workflow which then died may still be training. Two writers
        would mix two runs, so the second one fails. The system frees the lock of a killed process.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "a+", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                raise TodflowError(
                    f"{self.folder}: process {lock.read().strip() or '?'} is training here; "
                    "wait for it or end it, then start again"
                ) from None
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield

    def load(self) -> dict | None:
        """The saved content, or None if there is none that belongs to this run."""
        path = self.folder / "state.pt"
        if path.is_file():
            content = torch.load(path, map_location="cpu", weights_only=True)
            if content.pop("digest", None) == self.digest:
                return content
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

    def remove(self) -> None:
        """Delete the folder: the run is over."""
        shutil.rmtree(self.folder)


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
