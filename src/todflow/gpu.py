"""Which GPU a local job gets. Snakemake counts GPUs but gives every local job all of them."""

import fcntl
import os
import tempfile
import time
from pathlib import Path

_held: list[object] = []  # open lock files; the operating system frees them when the process ends


def claim(visible: list[str], folder: Path | None = None, wait: float = 1.0) -> str | None:
    """Make one GPU of `visible` the only one that this process sees, and keep it until it ends.

    Call it before anything initialises CUDA; `visible` are indices or UUIDs as in CUDA_VISIBLE_DEVICES.
    Waits, looking every `wait` seconds, while other jobs of this user hold all of them. Under Slurm, which
    assigns GPUs itself, it changes nothing and returns None.
    """
    if "SLURM_JOB_ID" in os.environ:
        return None
    folder = folder or Path(tempfile.gettempdir()) / f"todflow-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        for name in visible:
            lock = open(folder / f"{name}.lock", "w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            _held.append(lock)
            os.environ["CUDA_VISIBLE_DEVICES"] = name
            return name
        time.sleep(wait)
