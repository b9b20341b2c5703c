"""Killed at any moment, the same command goes on and comes to the same end."""

import os
import signal
import subprocess
import time

import pytest
import yaml

from todflow.files import sha256

pytestmark = pytest.mark.workflow
MODEL = "results/selfplay/scratch-tiny/seed1/sft/model.safetensors"
STATE = "results/state/selfplay-scratch-tiny-seed1-sft"


def started(project, *words):
    """Snakemake in a process group of its own, so that a kill can take its jobs too."""
    return subprocess.Popen(
        project.command(*words),
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_for(condition, process, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "ended before it could be interrupted"
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def training_has_saved(project):
    # Under its final name: a state that is still being written is lost with the process.
    return (project.folder / STATE / "state.pt").is_file()


@pytest.fixture
def longer(project):
    """Training long enough to be hit in the middle, from the corpus on."""
    text = (project.folder / "tests/config/tiny.yaml").read_text()
    config = yaml.safe_load(text)
    config["sft"] |= {"epochs": 60, "evaluate_from": 60}
    (project.folder / "tests/config/tiny.yaml").write_text(yaml.safe_dump(config))
    return project


@pytest.mark.parametrize("group", [True, False], ids=["with its jobs", "the workflow alone"])
def test_kill_9_in_training(longer, tmp_path, group):
    process = started(longer, MODEL)
    wait_for(lambda: training_has_saved(longer), process)
    if group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        # The training goes on as an orphan; the next run must neither trust nor disturb it.
        process.kill()
    process.wait()
    assert not (longer.folder / MODEL).exists()
    done = longer.snakemake(MODEL)
    assert (longer.folder / MODEL).exists(), done.stdout
    log = (longer.folder / "results/logs/train_sft/selfplay-scratch-tiny-1.log").read_text()
    if group:
        assert "resumed after" in log
    assert not (longer.folder / "results/state").exists()
    resumed = sha256(longer.folder / MODEL)
    # Whole and in one go, from the same corpus.
    longer.snakemake(MODEL, "--forcerun", "train_sft")
    assert sha256(longer.folder / MODEL) == resumed


def test_interrupt_in_training(longer):
    process = started(longer, MODEL)
    wait_for(lambda: training_has_saved(longer), process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0
    assert not (longer.folder / MODEL).exists()
    longer.snakemake(MODEL)
    log = (longer.folder / "results/logs/train_sft/selfplay-scratch-tiny-1.log").read_text()
    assert "resumed after" in log


def test_kill_9_early_leaves_no_half_written_output(project):
    process = started(project, "results/corpora/selfplay/test.parquet")
    shards = project.folder / "results/corpora/selfplay/shards"
    wait_for(lambda: shards.is_dir() and any(shards.iterdir()), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    import pandas as pd

    for path in shards.glob("[0-9]*.parquet"):
        assert len(pd.read_parquet(path)) > 0
    project.snakemake("results/corpora/selfplay/test.parquet")
    assert list((project.folder / "results").rglob(".partial-*")) == []


def test_two_runs_in_one_folder_at_once_are_refused(longer):
    process = started(longer, MODEL)
    wait_for((longer.folder / "results/logs").is_dir, process)
    second = longer.snakemake("results/table1.csv", check=False)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert second.returncode != 0
    assert "another run of this workflow" in second.stdout
