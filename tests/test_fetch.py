"""Fetching against a server on this machine that can resume, stop short, and lie."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading

import pytest

from todflow.corpora.fetch import Release, fetch, read_release
from todflow.errors import TodflowError

CONTENT = bytes(range(256)) * 2000


class Server(http.server.ThreadingHTTPServer):
    """Serves `content`; breaks off a response after `stop` bytes; honours ranges if `ranges`, and
    states sizes if `lengths`."""

    content, stop, ranges, status, lengths = CONTENT, None, True, 200, True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []

    def handle_error(self, request, client_address):
        pass  # a client that has read enough hangs up


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        wanted = self.headers.get("Range", "")
        server.asked.append(wanted)
        if server.status != 200:
            self.send_error(server.status)
            return
        start = int(wanted[6:-1]) if wanted and server.ranges else 0
        if start >= len(server.content):
            self.send_error(416)
            return
        body = server.content[start:]
        self.send_response(206 if start else 200)
        if start:
            end = len(server.content)
            self.send_header(
                "Content-Range", f"bytes {start}-{end - 1}/{end if server.lengths else '*'}"
            )
        if server.lengths:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.stop])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    running = Server()
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def release(server=None, **changed) -> Release:
    port = server.server_address[1] if server else 9
    settings = {
        "archive": "corpus.zip",
        "mirror_path": "corpus/corpus.zip",
        "url": f"http://127.0.0.1:{port}/corpus.zip",
        "size": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
    }
    return read_release(settings | changed)


def test_download(server, tmp_path):
    target = tmp_path / "raw" / "corpus.zip"
    fetch(release(server), target, None)
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.iterdir()] == ["corpus.zip"]
    fetch(release(server), target, None)
    assert server.asked == [""]  # a good file is not fetched again


def test_interrupted_download_is_kept_and_resumed(server, tmp_path):
    target, part = tmp_path / "corpus.zip", tmp_path / "corpus.zip.part"
    server.stop = 100_000
    with pytest.raises(TodflowError, match=r"after 100000 of 512000 bytes; run again to go on"):
        fetch(release(server), target, None)
    assert part.read_bytes() == CONTENT[:100_000]
    assert not target.exists()
    server.stop = None
    fetch(release(server), target, None)
    assert server.asked == ["", "bytes=100000-"]
    assert target.read_bytes() == CONTENT
    assert not part.exists()


def test_server_without_ranges_starts_again(server, tmp_path):
    server.ranges = False
    (tmp_path / "corpus.zip.part").write_bytes(b"x" * 1000)
    fetch(release(server), tmp_path / "corpus.zip", None)
    assert (tmp_path / "corpus.zip").read_bytes() == CONTENT


def test_wrong_hash_is_discarded_and_old_output_stays(server, tmp_path):
    target = tmp_path / "corpus.zip"
    target.write_bytes(b"old")
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(TodflowError) as raised:
        fetch(release(server), target, None)
    message = str(raised.value)
    assert "\n" not in message
    for part in (hashlib.sha256(server.content).hexdigest(), "is expected", "TODFLOW_DATA_MIRROR"):
        assert part in message
    assert str(target) in message
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.zip"]
    assert target.read_bytes() == b"old"


def test_part_of_another_file_does_not_stay_for_ever(server, tmp_path):
    target = tmp_path / "corpus.zip"
    (tmp_path / "corpus.zip.part").write_bytes(b"x" * 1000)
    with pytest.raises(TodflowError, match="SHA-256 .* discarded"):
        fetch(release(server), target, None)
    fetch(release(server), target, None)
    assert target.read_bytes() == CONTENT


def test_too_long_a_file_is_discarded(server, tmp_path):
    server.content = CONTENT * 2
    with pytest.raises(TodflowError, match="longer than the 512000 bytes expected"):
        fetch(release(server), tmp_path / "corpus.zip", None)
    assert list(tmp_path.iterdir()) == []


def test_too_long_a_part_is_discarded(server, tmp_path):
    (tmp_path / "corpus.zip.part").write_bytes(CONTENT + b"more")
    fetch(release(server), tmp_path / "corpus.zip", None)
    assert (tmp_path / "corpus.zip").read_bytes() == CONTENT


def test_server_has_less_than_the_part(server, tmp_path):
    (tmp_path / "corpus.zip.part").write_bytes(CONTENT[:1000])
    server.content = CONTENT[:500]
    with pytest.raises(TodflowError, match="the server says 416"):
        fetch(release(server), tmp_path / "corpus.zip", None)
    assert list(tmp_path.iterdir()) == []


def test_server_error(server, tmp_path):
    server.status = 404
    with pytest.raises(TodflowError, match="the server says 404"):
        fetch(release(server), tmp_path / "corpus.zip", None)


def test_no_network(server, tmp_path):
    closed = release(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(TodflowError, match="refused, after 0 of 512000 bytes; set TODFLOW"):
        fetch(closed, tmp_path / "corpus.zip", None)


def test_mirror(tmp_path):
    source = tmp_path / "mirror" / "corpus" / "corpus.zip"
    target = tmp_path / "corpus.zip"
    target.write_bytes(b"old")
    with pytest.raises(
        TodflowError, match="corpus/corpus.zip: no such file in TODFLOW_DATA_MIRROR"
    ):
        fetch(release(), target, str(tmp_path / "mirror"))
    source.parent.mkdir(parents=True)
    source.write_bytes(CONTENT[:-1])
    with pytest.raises(TodflowError, match="511999 bytes where 512000 are expected"):
        fetch(release(), target, str(tmp_path / "mirror"))
    assert target.read_bytes() == b"old"
    source.write_bytes(CONTENT)
    fetch(release(), target, str(tmp_path / "mirror"))
    assert target.read_bytes() == CONTENT


def test_mirror_with_another_edition(server, tmp_path):
    other = b"another edition"
    both = {"mirror_size": len(other), "mirror_sha256": hashlib.sha256(other).hexdigest()}
    source = tmp_path / "mirror" / "corpus" / "corpus.zip"
    source.parent.mkdir(parents=True)
    target = tmp_path / "corpus.zip"
    for content in (other, CONTENT):
        source.write_bytes(content)
        target.unlink(missing_ok=True)
        fetch(release(**both), target, str(tmp_path / "mirror"))
        assert target.read_bytes() == content
    source.write_bytes(other[:-1])
    target.unlink()
    with pytest.raises(TodflowError, match="14 bytes where 15 are expected"):
        fetch(release(**both), target, str(tmp_path / "mirror"))
    # Its bytes are nothing that a download may bring.
    server.content = other
    with pytest.raises(TodflowError, match="ended early, after 15 of 512000 bytes"):
        fetch(release(server, **both), target, None)


def test_download_of_a_release_whose_size_is_unknown(server, tmp_path):
    target, part = tmp_path / "corpus.zip", tmp_path / "corpus.zip.part"
    server.stop = 100_000
    with pytest.raises(TodflowError, match=r"after 100000 of 512000 bytes; run again to go on"):
        fetch(release(server, size=None), target, None)
    assert part.read_bytes() == CONTENT[:100_000]
    server.stop = None
    fetch(release(server, size=None), target, None)
    assert server.asked == ["", "bytes=100000-"]
    assert target.read_bytes() == CONTENT
    target.rename(part)  # killed before the last step: the server needn't be asked
    fetch(release(server, size=None), target, None)
    assert len(server.asked) == 2
    target.unlink()
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(TodflowError, match="^corpus.zip from http.*: SHA-256 .* discarded"):
        fetch(release(server, size=None), target, None)
    assert list(tmp_path.iterdir()) == []


def test_server_without_ranges_and_a_size_that_only_it_knows(server, tmp_path):
    server.ranges, server.stop = False, 100_000
    for _ in range(2):  # it ends early again, from the start
        with pytest.raises(TodflowError, match=r"after 100000 of 512000 bytes; run again to go on"):
            fetch(release(server, size=None), tmp_path / "corpus.zip", None)
    assert (tmp_path / "corpus.zip.part").read_bytes() == CONTENT[:100_000]
    server.stop = None
    fetch(release(server, size=None), tmp_path / "corpus.zip", None)
    assert server.asked == ["", "bytes=100000-", "bytes=100000-"]
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.zip"]
    assert (tmp_path / "corpus.zip").read_bytes() == CONTENT


def test_an_altered_part_does_not_stay_for_ever_without_a_known_size(server, tmp_path):
    target, part = tmp_path / "corpus.zip", tmp_path / "corpus.zip.part"
    for altered in (CONTENT[:-1] + b"!", CONTENT + b"more"):  # the server has no more bytes
        part.write_bytes(altered)
        with pytest.raises(TodflowError, match="^corpus.zip from http.*: the server says 416"):
            fetch(release(server, size=None), target, None)
        assert list(tmp_path.iterdir()) == []
    part.write_bytes(b"x" * 1000)
    with pytest.raises(TodflowError, match="^corpus.zip from http.*: SHA-256 .* discarded"):
        fetch(release(server, size=None), target, None)
    fetch(release(server, size=None), target, None)
    assert target.read_bytes() == CONTENT


def test_server_that_does_not_say_the_size(server, tmp_path):
    target, part = tmp_path / "corpus.zip", tmp_path / "corpus.zip.part"
    server.lengths, server.stop = False, 100_000
    with pytest.raises(TodflowError, match="SHA-256 .* run again to go on from .*part"):
        fetch(release(server, size=None), target, None)
    assert part.read_bytes() == CONTENT[:100_000]
    server.stop = None
    fetch(release(server, size=None), target, None)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": "1"}, "config: 'size'"),
        ({"sha256": None}, "config: 'sha256'"),
        ({"mirror_sha256": "0"}, "config: 'mirror_size'"),
        ({"url": "file:///etc/passwd"}, "config: 'url': .*https"),
    ],
)
def test_bad_settings(changed, message):
    with pytest.raises(TodflowError, match=message):
        release(**changed)


def test_stage_ends_with_status_2_and_one_line(tmp_path):
    settings = vars(release())
    ended = subprocess.run(
        [sys.executable, "-m", "todflow.corpora.fetch", "--config", json.dumps(settings)]
        + ["--out", str(tmp_path / "corpus.zip"), "--log", str(tmp_path / "log")],
        env=os.environ | {"TODFLOW_DATA_MIRROR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "corpus/corpus.zip: no such file in TODFLOW_DATA_MIRROR" in ended.stderr
    assert not (tmp_path / "corpus.zip").exists()
