"""Stage: get a corpus' release, from a mirror or by download, and check it.

The configuration has archive (file name), mirror_path, url, size (bytes) and sha256. With the
environment variable TODFLOW_DATA_MIRROR the file is copied from there; else it is downloaded. A
download that stops is kept beside the target as `<name>.part`, and the next run goes on where it
stopped.
"""

import argparse
import http
import http.client
import logging
import os
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from todflow.errors import TodflowError
from todflow.files import atomic, sha256
from todflow.progress import Progress
from todflow.stage import parser, run

_CHUNK = 1 << 16
_TIMEOUT = 60  # seconds without a byte
_KEYS = {"archive": str, "mirror_path": str, "url": str, "size": int, "sha256": str}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Release:
    """What is to be fetched, from where, and how it is recognised."""

    archive: str
    mirror_path: str
    url: str
    size: int
    sha256: str


def read_release(config: dict) -> Release:
    """The stage's configuration, checked."""
    for key, kind in _KEYS.items():
        if not isinstance(config.get(key), kind):
            raise TodflowError(
                f"config: '{key}': {config.get(key)!r}; give "
                f"{'text' if kind is str else 'a whole number'}"
            )
    if not config["url"].startswith(("https://", "http://")):
        raise TodflowError(f"config: 'url': {config['url']!r}; give an https or http address")
    return Release(**{key: config[key] for key in _KEYS})


def by_hand(release: Release, target: Path) -> str:
    """What a user can do when nothing else works."""
    folder = f"a folder with {release.mirror_path}"
    return f"set TODFLOW_DATA_MIRROR to {folder}, or put the file at {target}"


def problem(release: Release, path: Path) -> str:
    """What is wrong with the file's size or hash; "" if nothing is."""
    size = path.stat().st_size
    if size != release.size:
        return f"{size} bytes where {release.size} are expected"
    found = sha256(path)
    if found != release.sha256:
        return f"SHA-256 {found} where {release.sha256} is expected"
    return ""


def fetch(release: Release, target: Path, mirror: str | None) -> None:
    """Put the checked file at `target`, which stays as it is if anything fails.

    A good file that is already there is left alone.
    """
    if target.is_file() and not problem(release, target):
        log.info("%s is there already", target)
        return
    if mirror:
        _copy(release, target, Path(mirror) / release.mirror_path)
    else:
        _download(release, target)
    log.info("%s: %d bytes, SHA-256 %s", target, release.size, release.sha256)


def _copy(release: Release, target: Path, source: Path) -> None:
    if not source.is_file():
        raise TodflowError(
            f"{source}: no such file in TODFLOW_DATA_MIRROR; correct the variable or unset it, "
            f"or put the file at {target}"
        )
    with atomic(target) as temporary:
        shutil.copyfile(source, temporary)
        wrong = problem(release, temporary)
        if wrong:
            raise TodflowError(f"{source}: {wrong}; replace it by the release of {release.url}")


def _download(release: Release, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    if part.exists() and part.stat().st_size > release.size:
        log.warning("%s: longer than the release, so it is discarded", part)
        part.unlink()
    if not part.exists() or part.stat().st_size < release.size:
        _receive(release, target, part)
    wrong = problem(release, part)
    if wrong:
        part.unlink()
        raise TodflowError(
            f"{release.archive} from {release.url}: {wrong}, so the download is discarded; "
            f"{by_hand(release, target)}"
        )
    os.replace(part, target)


def _receive(release: Release, target: Path, part: Path) -> None:
    """Bring `part` to the release's size, or raise a `TodflowError` and keep what has arrived."""
    done = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "todflow"} | ({"Range": f"bytes={done}-"} if done else {})
    where = f"{release.archive} from {release.url}"
    try:
        request = urllib.request.Request(release.url, headers=headers)
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            if done and not _resumes(response, done):
                log.warning("%s: the server can't resume, so the download starts again", part)
                done = 0
            done = _append(response, part, done, release)
    except urllib.error.HTTPError as error:
        reason = f"the server says {error.code} {error.reason}"
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink()  # it can't be a beginning of what the server has
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = f"{getattr(error, 'reason', error) or type(error).__name__}"
    else:
        if done == release.size:
            return
        if done > release.size:
            part.unlink()
            raise TodflowError(
                f"{where}: longer than the {release.size} bytes expected, so the download is "
                f"discarded; {by_hand(release, target)}"
            )
        reason = "the download ended early"
    kept = part.stat().st_size if part.exists() else 0
    again = f"run again to go on from {part}, or " if kept else ""
    raise TodflowError(
        f"{where}: {reason}, after {kept} of {release.size} bytes; {again}"
        f"{by_hand(release, target)}"
    )


def _resumes(response: http.client.HTTPResponse, done: int) -> bool:
    content_range = response.headers.get("Content-Range", "")
    return response.status == 206 and content_range.startswith(f"bytes {done}-")


def _append(response: http.client.HTTPResponse, part: Path, done: int, release: Release) -> int:
    """Write the body from position `done` on; the size then, at most one byte too many."""
    progress = Progress(f"download of {release.archive}", release.size, "bytes", done)
    with open(part, "r+b" if done else "wb") as file:
        file.seek(done)
        while done <= release.size:
            chunk = response.read1(min(_CHUNK, release.size + 1 - done))
            if not chunk:
                break
            file.write(chunk)
            file.flush()
            done += len(chunk)
            progress.update(done)
    return done


def main(args: argparse.Namespace) -> None:
    """Fetch one release."""
    fetch(read_release(args.config), args.out, os.environ.get("TODFLOW_DATA_MIRROR"))


def _options() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--out", type=Path, required=True, help="file to write")
    return options


if __name__ == "__main__":
    run(_options(), main)
