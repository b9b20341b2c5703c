"""No half-written file under its final name, whoever dies or writes at the same time."""

import signal
import subprocess
import sys

import pandas as pd
import pytest

from todflow.files import atomic, read_json, sha256, write_json, write_table


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_old_content_stays_when_writing_fails(tmp_path):
    target = tmp_path / "a.json"
    write_json(target, {"old": 1})
    with pytest.raises(RuntimeError), atomic(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert read_json(target) == {"old": 1}
    assert names(tmp_path) == ["a.json"]


def test_folders_are_made_and_the_ending_is_kept(tmp_path):
    with atomic(tmp_path / "new" / "figure.svg") as temporary:
        assert temporary.suffix == ".svg"
        temporary.write_text("x")
    assert (tmp_path / "new" / "figure.svg").read_text() == "x"


KILLED = """
import os, signal, sys
from todflow.files import atomic
with atomic(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    target = tmp_path / "a.txt"
    killed = subprocess.run([sys.executable, "-c", KILLED, target])
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    assert len(names(tmp_path)) == 1
    with atomic(target) as temporary:
        temporary.write_text("whole")
    assert names(tmp_path) == ["a.txt"]


def test_two_writers_at_once_do_not_disturb_each_other(tmp_path):
    target = tmp_path / "a.txt"
    with atomic(target) as first:
        first.write_text("first")
        with atomic(target) as second:
            second.write_text("second")
        assert target.read_text() == "second"
        assert first.read_text() == "first"
    assert target.read_text() == "first"
    assert names(tmp_path) == ["a.txt"]


def test_a_table_has_the_same_bytes_each_time(tmp_path):
    table = pd.DataFrame({"word": ["a", "b"], "n": [1, 2]})
    write_table(tmp_path / "1.parquet", table)
    write_table(tmp_path / "2.parquet", table)
    assert sha256(tmp_path / "1.parquet") == sha256(tmp_path / "2.parquet")
    assert pd.read_parquet(tmp_path / "1.parquet").equals(table)
