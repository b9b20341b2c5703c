"""Reading and writing files so that a half-written one is never taken for a whole one."""

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes its place when the block ends without error.

    The temporary name ends like the target, since some writers look at the ending, and is this
    process's own: a job that outlived its killed workflow and the job that replaces it may write at
    the same time. What a killed process left behind is removed by the next writer of the same path.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f".partial-*-{glob.escape(path.name)}"):
        with contextlib.suppress(OSError), open(leftover, "rb") as abandoned:
            # A living writer holds the lock.
            fcntl.flock(abandoned, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink()
    temporary = path.with_name(f".partial-{secrets.token_hex(4)}-{path.name}")
    with open(temporary, "xb") as writer:
        try:
            fcntl.flock(writer, fcntl.LOCK_EX)
            yield temporary
            with open(temporary, "rb") as written:
                os.fsync(written.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, data: object) -> None:
    """Write `data` as indented JSON with a final newline, atomically. Key order is kept."""
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> object:
    """The content of a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write_table(path: str | Path, table) -> None:
    """Write a pandas DataFrame as parquet, atomically; same rows give the same bytes."""
    with atomic(path) as temporary:
        table.to_parquet(temporary, engine="pyarrow", index=False, compression="zstd")


def sha256(path: str | Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def mismatch(path: str | Path, size: int | None, expected: str) -> str:
    """What is wrong with a file's size (bytes; None: any) or SHA-256, in words; "" if nothing is."""
    found = Path(path).stat().st_size
    if size not in (None, found):
        return f"{found} bytes where {size} are expected"
    digest = sha256(path)
    return "" if digest == expected else f"SHA-256 {digest} where {expected} is expected"
