"""One process per job: a newer one asks an older one to end, and takes its place.

Killed alone, a workflow leaves its jobs running. Started again, it runs the same jobs; two of a kind would write
the same outputs one after the other, perhaps from different settings.
"""

import contextlib
import fcntl
import logging
import os
import platform
import signal
import time
from pathlib import Path
from typing import IO

from todflow.errors import TodflowError

SECONDS = 120  # to end in; a training process first saves
log = logging.getLogger(__name__)


def hold(path: Path) -> IO[str]:
    """Lock the file `path`, made if need be, until the returned file is closed or the process ends.

    A process of this machine that holds it gets SIGTERM and time to end. TodflowError if it doesn't, or if it
    is on another machine. Nobody may remove the file of a living job.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = open(path, "a+", encoding="utf-8")
    if not _try_lock(lock):
        _end_holder(lock, path)
    lock.truncate(0)
    lock.write(f"{platform.node()} {os.getpid()}")
    lock.flush()
    return lock


def _try_lock(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _end_holder(lock: IO[str], path: Path) -> None:
    lock.seek(0)
    host, _, pid = lock.read().partition(" ")
    if host != platform.node() or not pid:
        raise TodflowError(
            f"{path}: process {pid or '?'} on {host or '?'} is at this job; "
            "wait for it or end it, then start again"
        )
    log.info("asking process %s to end", pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(pid), signal.SIGTERM)
    for _ in range(SECONDS * 10):
        time.sleep(0.1)
        if _try_lock(lock):
            return
    raise TodflowError(
        f"{path}: process {pid} is at this job and doesn't end when asked; "
        f"end it (kill -9 {pid}), then start again"
    )
