"""Local GPU slots: never two jobs on one device at a time."""

import fcntl
import os
import subprocess
import sys

from todflow import gpu

JOB = """
import sys, time
from pathlib import Path
from todflow import gpu
folder = Path(sys.argv[1])
name = gpu.claim(["2", "5"], folder / "locks", wait=0.01)
busy = folder / f"busy-{name}"
busy.open("x").close()  # fails if another job is on this device
time.sleep(0.05)
busy.unlink()
import os
print(name, os.environ["CUDA_VISIBLE_DEVICES"])
"""


def test_six_jobs_share_two_devices_without_meeting(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "SLURM_JOB_ID"}
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", JOB, tmp_path],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    outputs = [job.communicate() for job in jobs]
    assert [error for _, error in outputs if error] == []
    assert {out for out, _ in outputs} <= {"2 2\n", "5 5\n"}


def test_a_device_that_a_live_job_holds_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    holder = open(tmp_path / "2.lock", "w")
    fcntl.flock(holder, fcntl.LOCK_EX)
    assert gpu.claim(["2", "5"], tmp_path) == "5"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "5"


def test_slurm_assigns_devices_itself(monkeypatch, tmp_path):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert gpu.claim(["0", "1"], tmp_path) is None
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "3"
