"""What its neighbours share: settings, digests of code, and lists of targets.

Rules have up to two parameters in common. `cfg` is all that one reads from the config, as one JSON text, `code` a
digest of the source files that it runs. When either changes, Snakemake runs it again.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))

from todflow import closure
from todflow.config import nearest, resolve
from todflow.errors import TodflowError

# Jobs run `python -m todflow.<stage>` with the Python that Snakemake runs in, or with that of a conda environment,
# whose folder comes first on PATH then. Both find the package by PYTHONPATH; since Snakemake takes that variable away
# from jobs in a conda environment, it is set in front of each command as well.
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    PYTHONPATH=str(ROOT / "src"),
)
shell.prefix(f"export PYTHONPATH={shlex.quote(str(ROOT / 'src'))}; ")

try:
    config.update(
        resolve(
            config,
            yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text()),
        )
    )
    for backbone in config["backbones"]:
        nearest(backbone, list(config["backbone"]), "backbones")
except TodflowError as error:
    raise WorkflowError(str(error))

# Two lines per scheduling round that no `quiet` setting reaches; the stages' own progress would drown in them.
logger.addFilter(
    lambda record: not str(record.msg).startswith(("Select jobs to execute", "Execute "))
)

RUNNING = []


onstart:
    # One run at a time per folder. The operating system frees this lock however a run ends, so that the same
    # command goes on after a kill -9; Snakemake's own lock, off in the profiles, would have to be removed first.
    RUNNING.append(open(".snakemake/todflow.lock", "w"))
    try:
        fcntl.flock(RUNNING[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WorkflowError("another run of this workflow is working in this folder")


onsuccess:
    # Training keeps its last state: a run that was killed right after it needn't train again.
    shutil.rmtree("results/state", ignore_errors=True)


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


DIGESTS = {}


def code(module):
    """Digest of a stage's source files; `module` is its dotted name."""
    return DIGESTS.setdefault(module, closure.digest(module))


def script_code(name):
    """Digest of a script in workflow/scripts and of all that it imports from the package."""
    return DIGESTS.setdefault(name, closure.digest(ROOT / "workflow" / "scripts" / name))


def train_settings(wildcards):
    return as_text(
        seed=int(wildcards.seed),
        backbone=config["backbone"][wildcards.backbone],
        device=config["device"],
        max_new_tokens=config[wildcards.dataset]["max_new_tokens"],
        evaluator=config[wildcards.dataset]["evaluator"],
        **config["sft"],
    )


def entity_file(wildcards):
    """In-Car's evaluator needs the entity map; the other corpora have none."""
    return (
        {"entities": "results/corpora/incar/entities.json"} if wildcards.dataset == "incar" else {}
    )


def each_run(pattern):
    """`pattern` for every training run that the config asks for."""
    paths = expand(
        pattern,
        dataset=config["corpora"],
        backbone=config["backbones"],
        seed=config["seeds"],
        context=config["generate"]["contexts"],
    )
    return list(dict.fromkeys(paths))  # a pattern without {context} would come once for each


def score_files():
    return each_run("results/{dataset}/{backbone}/seed{seed}/sft/test-{context}.score.json")


def curve_figures():
    return each_run("results/{dataset}/{backbone}/seed{seed}/sft/curve.svg")


def metric_files():
    return expand(
        "results/simulate/hdc/{setting}/metrics.json",
        setting=config["simulate"]["settings"],
    )


def corpus_files():
    """Every table of turns, and In-Car's archive where it is in use."""
    tables = expand(
        "results/corpora/{dataset}/{split}.parquet",
        dataset=config["corpora"],
        split=SPLITS,
    )
    archive = f"results/raw/{config['incar']['archive']}"
    return tables + ([archive] if "incar" in config["corpora"] else [])


def benchmark_files():
    """Time and memory of every heavy job."""
    return (
        each_run("results/benchmarks/train_sft/{dataset}-{backbone}-{seed}.tsv")
        + each_run(
            "results/benchmarks/generate_responses/{dataset}-{backbone}-{seed}-{context}.tsv"
        )
        + expand(
            "results/benchmarks/simulate_dialogues/hdc-{setting}-{shard}.tsv",
            setting=config["simulate"]["settings"],
            shard=range(config["simulate"]["shards"]),
        )
    )


def gpus():
    """GPUs that a job with a model asks for."""
    return 1 if config["device"] == "cuda" else 0


def model_memory(small):
    """MB that a job with a model asks for: `small` on a CPU, enough for Flan-T5-large on a GPU."""
    return 32000 if config["device"] == "cuda" else small
