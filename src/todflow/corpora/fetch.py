"""Stage: get a corpus' release, from a mirror or by download, and check it.

The configuration has archive (file name), mirror_path, url, size (bytes, or null where only the hash
is known) and sha256. With the environment variable TODFLOW_DATA_MIRROR the file is copied from there;
else it is downloaded. A download that stops is kept beside the target as `<name>.part`, and the next
run goes on where it stopped. A mirror may have another edition of the release than its publisher: then
the configuration has that one's mirror_size and mirror_sha256, too.
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
from todflow.files import atomic, mismatch, sha256
from todflow.progress import Progress
from todflow.stage import parser, run

_CHUNK = 1 << 16
_TIMEOUT = 60  # seconds without a byte
_KEYS = {"archive": str, "mirror_path": str, "url": str, "size": int, "sha256": str}
_EDITION = {"mirror_size": int, "mirror_sha256": str}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Release:
    """What is to be fetched, from where, and how it is recognised."""

    archive: str
    mirror_path: str
    url: str
    size: int | None
    sha256: str
    mirror_size: int | None = None
    mirror_sha256: str | None = None


def read_release(config: dict) -> Release:
    """The stage's configuration, checked."""
    kinds = _KEYS | (_EDITION if config.get("mirror_sha256") else {})
    for key, kind in kinds.items():
        unknown = key == "size" and key in config and config[key] is None
        if not unknown and not isinstance(config.get(key), kind):
            raise TodflowError(
                f"config: '{key}': {config.get(key)!r}; give "
                f"{'text' if kind is str else 'a whole number'}"
            )
    if not config["url"].startswith(("https://", "http://")):
        raise TodflowError(f"config: 'url': {config['url']!r}; give an https or http address")
    return Release(**{key: config[key] for key in kinds})


def by_hand(release: Release, target: Path) -> str:
    """What a user can do when nothing else works."""
    folder = f"a folder with {release.mirror_path}"
    return f"set TODFLOW_DATA_MIRROR to {folder}, or put the file at {target}"


def problem(release: Release, path: Path, mirror: bool = False) -> str:
    """What is wrong with the file's size or hash; "" if nothing is.

    With `mirror`, the mirror's edition is as good as the publisher's.
    """
    wrong = mismatch(path, release.size, release.sha256)
    if wrong and mirror and release.mirror_sha256:
        return mismatch(path, release.mirror_size, release.mirror_sha256)
    return wrong


def fetch(release: Release, target: Path, mirror: str | None) -> None:
    """Put the checked file at `target`, which stays as it is if anything fails.

    A good file that is already there is left alone.
    """
    if target.is_file() and not problem(release, target, mirror=True):
        log.info("%s is there already", target)
        return
    if mirror:
        _copy(release, target, Path(mirror) / release.mirror_path)
    else:
        _download(release, target)
    log.info("%s: %d bytes, SHA-256 %s", target, target.stat().st_size, sha256(target))


def _copy(release: Release, target: Path, source: Path) -> None:
    if not source.is_file():
        raise TodflowError(
            f"{source}: no such file in TODFLOW_DATA_MIRROR; correct the variable or unset it, "
            f"or put the file at {target}"
        )
    with atomic(target) as temporary:
        shutil.copyfile(source, temporary)
        wrong = problem(release, temporary, mirror=True)
        if wrong:
            raise TodflowError(f"{source}: {wrong}; replace it by the release of {release.url}")


def _download(release: Release, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    if part.exists() and release.size is not None and part.stat().st_size > release.size:
        log.warning("%s: longer than the release, so it is discarded", part)
        part.unlink()
    wrong = problem(release, part) if part.exists() else "missing"
    sized = True
    if wrong and (release.size is None or not part.exists() or part.stat().st_size < release.size):
        sized = _receive(release, target, part)
        wrong = problem(release, part)
    if wrong:
        fate = f"run again to go on from {part}"
        if sized:  # more bytes won't mend it
            part.unlink()
            fate = "the download is discarded"
        raise TodflowError(
            f"{release.archive} from {release.url}: {wrong}, so {fate}; {by_hand(release, target)}"
        )
    os.replace(part, target)


def _receive(release: Release, target: Path, part: Path) -> bool:
    """Bring `part` to the release's size, or raise a `TodflowError` and keep what has arrived.

    Where the size is unknown, the server's word counts; False if it didn't give one.
    """
    done = part.stat().st_size if part.exists() else 0
    total = release.size
    headers = {"User-Agent": "todflow"} | ({"Range": f"bytes={done}-"} if done else {})
    where = f"{release.archive} from {release.url}"
    try:
        request = urllib.request.Request(release.url, headers=headers)
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            if done and not _resumes(response, done):
                log.warning("%s: the server can't resume, so the download starts again", part)
                done = 0
            total = _total(response) if total is None else total
            done = _append(response, part, done, total, release.archive)
    except urllib.error.HTTPError as error:
        reason = f"the server says {error.code} {error.reason}"
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink()  # it can't be a beginning of what the server has
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = f"{getattr(error, 'reason', error) or type(error).__name__}"
    else:
        if total is None or done == total:
            return total is not None
        if done > total:
            part.unlink()
            raise TodflowError(
                f"{where}: longer than the {total} bytes expected, so the download is "
                f"discarded; {by_hand(release, target)}"
            )
        reason = "the download ended early"
    kept = part.stat().st_size if part.exists() else 0
    again = f"run again to go on from {part}, or " if kept else ""
    raise TodflowError(
        f"{where}: {reason}, after {kept} of {total or 'unknown'} bytes; {again}"
        f"{by_hand(release, target)}"
    )


def _resumes(response: http.client.HTTPResponse, done: int) -> bool:
    content_range = response.headers.get("Content-Range", "")
    return response.status == 206 and content_range.startswith(f"bytes {done}-")


def _total(response: http.client.HTTPResponse) -> int | None:
    """The whole file's size, if the server says it."""
    stated = response.headers.get("Content-Range", "").rpartition("/")[2]
    if response.status != 206:
        stated = response.headers.get("Content-Length", "")
    return int(stated) if stated.isdecimal() else None


def _append(
    response: http.client.HTTPResponse, part: Path, done: int, total: int | None, name: str
) -> int:
    """Write the body from position `done` on; the size then, at most one byte too many."""
    progress = Progress(f"download of {name}", total, "bytes", done) if total else None
    with open(part, "r+b" if done else "wb") as file:
        file.seek(done)
        while total is None or done <= total:
            chunk = response.read1(_CHUNK if total is None else min(_CHUNK, total + 1 - done))
            if not chunk:
                break
            file.write(chunk)
            file.flush()
            done += len(chunk)
            if progress:
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
