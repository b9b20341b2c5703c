"""Settings of the RL stage for the corpus of seq2seq_tiny."""

import json
from pathlib import Path

import seq2seq_tiny
from todflow.seq2seq import train as sft


def rl(**changes) -> dict:
    """The section `rl`, all of it."""
    return {
        "episodes": 32,
        "turns_per_iteration": 8,
        "context": "gold",
        "epochs": 2,
        "minibatch_turns": 4,
        "learning_rate": 1e-3,
        "value_learning_rate": 1e-2,
        "weight_decay": 1e-6,
        "gradient_clip": 0.5,
        "clip": 0.2,
        "gamma": 1.0,
        "lam": 0.95,
        "value_weight": 0.5,
        "value_warmup_iterations": 1,
        "kl_coef": 0.01,
        "kl_target": 0.2,
        "kl_rate": 0.2,
        "kl_fixed": False,
        "kl_stop": 5.0,
        "mask": True,
        "top_p": 0.9,
        "min_tokens_to_keep": 1,
        "mask_refresh": 2,
        "top_k": 50,
        "reward": "tod",
        "step": "delta",
        "freeze_encoder": False,
        "sft_weight": 0.0,
        "evaluate_every": 2,
        "checkpoint_every": 1,
        "precision": "fp32",
        "rollout_turns": 8,
        "threads": 1,
        "valid_dialogues": 4,
        "valid_context": "gold",
        "valid_batch_turns": 8,
    } | changes


def reward(**changes) -> dict:
    """The section `reward`."""
    return {
        "alpha": 1.0,
        "beta": 1.0,
        "informables": "cumulative",
        "requestables": "ontology",
        "fp_penalty": False,
    } | changes


def config(**changes) -> dict:
    """All settings of the stage; `changes` are of `rl`."""
    return {
        "seed": 3,
        "device": "cpu",
        "dataset": "incar",
        "evaluator": "incar-galaxy",
        "max_new_tokens": 40,
        "rl": rl(**changes),
        "reward": reward(),
    }


def checkpoint(folder: Path, corpus: tuple[Path, Path], **changes) -> Path:
    """A model that has learnt the tiny corpus in part; `changes` are of the SFT stage's settings."""
    train, entities = corpus
    rare = {"epochs": 12, "evaluate_from": 12, "average": 1, "checkpoint_steps": 1000}
    rare["backbone"] = seq2seq_tiny.backbone(dropout=0.0)
    words = options(
        config=json.dumps(seq2seq_tiny.config(**rare | changes)),
        train=train,
        valid=train,
        entities=entities,
        state=folder / "state",
        out=folder / "sft",
        curve=folder / "curve.csv",
    )
    sft.main(sft._options().parse_args(words))
    return folder / "sft"


def options(**values) -> list[str]:
    """Words of a command line."""
    return [str(word) for key, value in values.items() for word in (f"--{key}", value)]
