"""One process per job; what every stage does with its streams and errors."""

import subprocess
import sys
import time

import pytest

from todflow import takeover
from todflow.errors import TodflowError

HOLD = """
import sys, time
from pathlib import Path
from todflow import takeover
lock = takeover.hold(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""

STAGE = """
import sys
from todflow.errors import TodflowError
from todflow.stage import parser, run

def main(args):
    print("to the log")
    if "fail" in args.config:
        raise TodflowError("x.json: field a is missing; add it")
    if "crash" in args.config:
        raise ZeroDivisionError("oops")

run(parser("A stage."), main)
"""


def stage(tmp_path, config):
    done = subprocess.run(
        [sys.executable, "-c", STAGE, "--config", config, "--log", tmp_path / "s.log"],
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr, (tmp_path / "s.log").read_text()


def test_a_newer_process_ends_the_older_one(tmp_path):
    lock = tmp_path / "a" / "lock"
    older = subprocess.Popen([sys.executable, "-c", HOLD, lock], stdout=subprocess.PIPE, text=True)
    assert older.stdout.readline() == "held\n"
    with takeover.hold(lock):
        assert older.wait(timeout=10) == -15


def test_a_lock_of_a_process_that_is_gone_is_free(tmp_path):
    older = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "lock"], stdout=subprocess.PIPE, text=True
    )
    older.stdout.readline()
    older.kill()
    older.wait()
    before = time.monotonic()
    takeover.hold(tmp_path / "lock").close()
    assert time.monotonic() - before < 10


def test_a_process_on_another_machine_is_an_error(tmp_path):
    with takeover.hold(tmp_path / "lock"):
        (tmp_path / "lock").write_text("elsewhere 7")
        with pytest.raises(TodflowError, match="process 7 on elsewhere is at this job"):
            takeover.hold(tmp_path / "lock")


def test_a_stage_is_quiet_and_keeps_its_messages_in_its_log(tmp_path):
    assert stage(tmp_path, "{}") == (0, "", "to the log\n")


def test_bad_input_is_one_line_and_status_2(tmp_path):
    status, shown, log = stage(tmp_path, '{"fail": 1}')
    assert (status, shown) == (2, "error: x.json: field a is missing; add it\n")
    assert "field a is missing" in log and "Traceback" not in log


def test_settings_that_are_no_object_are_refused(tmp_path):
    assert stage(tmp_path, "[1]")[:2] == (2, "error: --config: not a JSON object\n")


def test_an_unexpected_error_leaves_its_traceback_in_the_log(tmp_path):
    status, shown, log = stage(tmp_path, '{"crash": 1}')
    assert status == 1
    assert shown.count("\n") == 1 and "oops" in shown and "s.log" in shown
    assert "Traceback" in log
