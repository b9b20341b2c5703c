"""What its neighbours share: settings and digests of code.

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

MULTIWOZ = ["multiwoz20", "multiwoz21"]
CORPORA = ["incar", "selfplay", *MULTIWOZ]
SPLITS = ["train", "valid", "test"]

try:
    config.update(
        resolve(
            config,
            yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text()),
        )
    )
    for backbone in config["backbones"]:
        nearest(backbone, list(config["backbone"]), "backbones")
    for corpus in CORPORA:
        for backbone in config[corpus]["backbones"] or []:
            nearest(backbone, list(config["backbone"]), f"{corpus}.backbones")
    for artefact, section in config["step_reward"].items():
        for backbone in section.get("backbones") or []:
            nearest(backbone, list(config["backbone"]), f"step_reward.{artefact}.backbones")
        for arm in section["arms"]:
            nearest(arm, list(config["rl"]["arms"]), f"step_reward.{artefact}.arms")
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


wildcard_constraints:
    dataset="|".join(CORPORA),
    backbone="|".join(map(re.escape, config["backbone"])),
    seed=r"\d+",
    part=r"(-share\d\d)?",  # empty: the whole training split
    share=r"\d\d",
    stage="|".join(["sft", *(f"rl-{re.escape(arm)}" for arm in config["rl"]["arms"])]),
    arm="|".join(map(re.escape, config["rl"]["arms"])),
    shard=r"\d+",
    split="|".join(SPLITS),
    context="generated|gold",
    evaluator=r"[a-z][a-z0-9-]*",
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


def sft_settings(dataset):
    """The section `sft`, with what the corpus has other than that."""
    return config["sft"] | config[dataset]["sft"]


def backbones(dataset):
    """The backbones to train on a corpus."""
    return config[dataset]["backbones"] or config["backbones"]


def seeds(dataset):
    """The seeds to train with on a corpus."""
    return config[dataset]["seeds"] or config["seeds"]


def checkpoint(stage):
    """The files of a model in transformers' format, by what they are."""
    names = dict(
        model="model.safetensors",
        config="config.json",
        generation="generation_config.json",
        tokenizer="tokenizer.json",
        tokenizer_config="tokenizer_config.json",
    )
    folder = f"results/{{dataset}}/{{backbone}}/seed{{seed}}{{part}}/{stage}"
    return {name: f"{folder}/{file}" for name, file in names.items()}


def evaluation_file(wildcards):
    """What an evaluator needs besides the turns: In-Car's entity map, MultiWOZ's database."""
    folder = f"results/corpora/{wildcards.dataset}"
    if wildcards.dataset == "incar":
        return {"entities": f"{folder}/entities.json"}
    if wildcards.dataset in MULTIWOZ:
        return {"database": f"{folder}/database.json"}
    return {}


def evaluation_options(input):
    """The same as words of a training command."""
    return " ".join(
        f"--{name} {input[name]}" for name in ("entities", "database") if name in input.keys()
    )


def training_table(wildcards):
    """The turns that a run learns from: the training split, or its share of it."""
    if not wildcards.part:
        return f"results/corpora/{wildcards.dataset}/train.parquet"
    return "results/corpora/{dataset}/subsets/seed{seed}{part}.parquet".format(**wildcards)


def gpus():
    """GPUs that a job with a model asks for."""
    return 1 if config["device"] == "cuda" else 0


def model_memory(small):
    """MB that a job with a model asks for: `small` on a CPU, enough for Flan-T5-large on a GPU."""
    return 32000 if config["device"] == "cuda" else small
