"""The same command on a real Slurm: one node, on this machine."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

START = Path(__file__).resolve().parent.parent / "slurm" / "start-local-slurm.sh"
pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def slurm():
    """A one-node Slurm for the time of this module; installed from Debian's packages if missing."""
    if os.geteuid() != 0:
        pytest.skip("starting a local Slurm needs root")
    if not shutil.which("slurmctld") and not shutil.which("apt-get"):
        pytest.skip("no Slurm here, and no apt-get to install it with")
    was_running = subprocess.run([START, "status"], capture_output=True).returncode == 0
    started = subprocess.run([START, "start"], capture_output=True, text=True)
    if started.returncode and "this machine has another Slurm" in started.stderr:
        pytest.skip("this machine has a Slurm of its own")
    assert started.returncode == 0, started.stderr
    yield
    if not was_running:
        subprocess.run([START, "stop"], check=True, capture_output=True)


def jobs_ended():
    """Job ids that Slurm knows, in whatever state."""
    listed = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--format=%i"], capture_output=True, text=True, check=True
    )
    return set(listed.stdout.split())


def test_the_table_is_made_by_slurm_jobs_and_is_then_up_to_date_locally(slurm, project):
    before = jobs_ended()
    done = subprocess.run(
        [
            *[sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm"],
            *["--configfile", "tests/config/tiny.yaml"],
            # One job of each kind, and a short wait before the first look: a test, not a cluster.
            *["--config", "selfplay={shards: 1}", "simulate={shards: 1}"],
            *["--slurm-init-seconds-before-status-checks", "5"],
            "results/table1.csv",
        ],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    submitted = jobs_ended() - before
    assert 5 <= len(submitted) <= 12
    partitions = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--format=%i %P %T"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ours = [line.split() for line in partitions.splitlines() if line.split()[0] in submitted]
    assert {state for _, _, state in ours} == {"COMPLETED"}
    assert {partition for _, partition, _ in ours} == {"cpu", "gpu"}
    assert re.search(r"Nothing to be done", project.snakemake(
        "-n", "--quiet", "host", "--config", "selfplay={shards: 1}", "simulate={shards: 1}",
        "--", "results/table1.csv",
    ).stdout)
