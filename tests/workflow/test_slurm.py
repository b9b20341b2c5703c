"""The same command on a real Slurm: one node, on this machine."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

START = Path(__file__).resolve().parent.parent / "slurm" / "start-local-slurm.sh"
pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def slurm():
    """A one-node Slurm for the time of this module; installed from Debian's packages if missing."""
    if "TODFLOW_TEST_SLURM" not in os.environ:
        pytest.skip("installs packages: set TODFLOW_TEST_SLURM=1 to run it")
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
    # One job of each kind, and a short wait before the first look: a test, not a cluster.
    (project.folder / "one.yaml").write_text("selfplay: {shards: 1}\nsimulate: {shards: 1}\n")
    configs = ["--configfile", "tests/config/tiny.yaml", "one.yaml"]
    project.snakemake(
        *["results/table1.csv", "--workflow-profile", "profiles/slurm"],
        *["--slurm-init-seconds-before-status-checks", "5", *configs],
        config=None,
    )
    submitted = jobs_ended() - before
    assert 8 <= len(submitted) <= 16
    partitions = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--format=%i %P %T"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ours = [line.split() for line in partitions.splitlines() if line.split()[0] in submitted]
    assert {state for _, _, state in ours} == {"COMPLETED"}
    assert {partition for _, partition, _ in ours} == {"cpu", "gpu"}
    again = project.snakemake("results/table1.csv", "-n", "--quiet", "host", *configs, config=None)
    assert "Nothing to be done" in again.stdout
