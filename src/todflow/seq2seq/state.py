"""The state of a training run: one file that is always whole, one writer at a time."""

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import platform
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import torch

from todflow import closure
from todflow.errors import TodflowError
from todflow.files import atomic, sha256

log = logging.getLogger(__name__)

TAKE_OVER_SECONDS = 120  # a validation under way ends at once, an update within seconds


def _try_lock(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
        """Hold the folder for this process.

        A training process outlives the workflow that started it, if that was killed alone. Two
        writers would mix two runs, so the newer process asks the older one to save and end, and
        goes on from there. It can't where the older one is on another machine, which is an error.
        The system frees the lock of a process that was killed.
        """
        with self._lock() as lock:
            lock.truncate(0)
            lock.write(f"{platform.node()} {os.getpid()}")
            lock.flush()
            yield

    def _lock(self) -> IO[str]:
        path = self.folder / "lock"
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = open(path, "a+", encoding="utf-8")
            if not _try_lock(lock):
                self._take_over(lock)
            # The older process may have come to its end meanwhile, and removed the folder.
            if path.exists() and path.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                return lock
            lock.close()

    def _take_over(self, lock: IO[str]) -> None:
        lock.seek(0)
        host, _, pid = lock.read().partition(" ")
        if host != platform.node() or not pid:
            raise TodflowError(
                f"{self.folder}: process {pid or '?'} on {host or '?'} is training here; "
                "wait for it or end it, then start again"
            )
        log.info("asking process %s to save and end", pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGTERM)
        for _ in range(TAKE_OVER_SECONDS * 10):
            time.sleep(0.1)
            if _try_lock(lock):
                return
        raise TodflowError(
            f"{self.folder}: process {pid} is training here and doesn't end when asked; "
            f"end it (kill -9 {pid}), then start again"
        )

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
