"""What the other rule files share: settings, digests of code, and lists of targets.

Every rule has two parameters besides its own: `cfg`, all that it reads from the config, as one JSON text,
and `code`, a digest of the source files that it runs. Snakemake re-runs a rule when either changes.
"""

import fcntl
import json
import os
import re
import sys
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))

from todflow import closure
from todflow.config import nearest, resolve
from todflow.errors import TodflowError

# Jobs run `python -m todflow.<stage>` with the Python that Snakemake runs in, or with that of the rule's
# conda environment, whose folder comes first on PATH then. Both find the package by PYTHONPATH.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["PYTHONPATH"] = str(ROOT / "src")

try:
    config.update(
        resolve(config, yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text()))
    )
    for backbone in config["backbones"]:
        nearest(backbone, list(config["backbone"]), "backbones")
except TodflowError as error:
    raise WorkflowError(str(error))

RUNNING = []


onstart:
    # One run at a time per folder. The operating system frees this lock however a run ends, so that the same
    # command goes on after a kill -9; Snakemake's own lock, off in the profiles, would have to be removed first.
    RUNNING.append(open(".snakemake/todflow.lock", "w"))
    try:
        fcntl.flock(RUNNING[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WorkflowError("another run of this workflow is working in this folder")


CORPORA = ["incar", "selfplay"]
SPLITS = ["train", "valid", "test"]


wildcard_constraints:
    dataset="|".join(CORPORA),
    backbone="|".join(map(re.escape, config["backbone"])),
    seed=r"\d+",
    shard=r"\d+",
    split="|".join(SPLITS),
    context="generated|gold",
    setting="|".join(map(re.escape, config["simulate"]["settings"])),


def as_text(**settings):
    """Settings as JSON text with sorted keys: the same settings give the same text."""
    return json.dumps(settings, sort_keys=True)


def code(module):
    """Digest of a stage's source files; `module` is its dotted name."""
    return closure.digest(module)


def script_code(name):
    """Digest of a script in workflow/scripts and of all that it imports from the package."""
    return closure.digest(ROOT / "workflow" / "scripts" / name)


def each_run(pattern):
    """`pattern` for every training run that the config asks for."""
    return expand(
        pattern,
        dataset=config["corpora"],
        backbone=config["backbones"],
        seed=config["seeds"],
        context=config["generate"]["contexts"],
    )


def score_files():
    return each_run("results/{dataset}/{backbone}/seed{seed}/sft/test-{context}.score.json")


def curve_figures():
    return each_run("results/{dataset}/{backbone}/seed{seed}/sft/curve.svg")


def metric_files():
    return expand("results/simulate/hdc/{setting}/metrics.json", setting=config["simulate"]["settings"])


def gpus():
    """GPUs that a job with a model asks for."""
    return 1 if config["device"] == "cuda" else 0
