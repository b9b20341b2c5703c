"""A corpus of a few turns, and settings that a model learns it with in seconds."""

import json
from pathlib import Path

import pandas as pd

from todflow.corpora.turns import write_turns

FOOD = ("thai", "french", "sushi", "pizza")


def corpus(dialogues: int = 8, acts: bool = True) -> pd.DataFrame:
    """Two-turn dialogues: a wish for some food, then for an address."""
    rows = []
    for number in range(dialogues):
        food = FOOD[number % len(FOOD)]
        span = f"[navigate] poi_type {food}"
        answers = [
            (f"i want {food} .", "sure , [value_poi] has it .", "[navigate] [inform] poi"),
            ("what is the address ?", "it is [value_address]", "[navigate] [inform] address"),
        ]
        for turn, (user, response, act) in enumerate(answers):
            rows.append(
                {
                    "dataset": "incar",
                    "split": "train",
                    "dialogue_id": f"d{number}",
                    "turn": turn,
                    "user": user,
                    "response": response,
                    "response_delex": response,
                    "state_span": span,
                    "act_span": act if acts else "",
                    "state": json.dumps({"navigate": {"poi_type": food}}),
                    "acts": "[]",
                    "domain": "navigate",
                    "goal": "{}",
                }
            )
    return pd.DataFrame(rows).astype({"turn": "int32"})


def files(folder: Path) -> tuple[Path, Path]:
    """The corpus as a parquet file, and an entity map for the evaluator."""
    write_turns(folder / "train.parquet", corpus())
    (folder / "entities.json").write_text(json.dumps({food: "poi_type" for food in FOOD}))
    return folder / "train.parquet", folder / "entities.json"


def backbone(**changes) -> dict:
    """The smallest model that learns the corpus."""
    return {
        "kind": "scratch",
        "vocabulary": 300,
        "d_model": 32,
        "layers": 1,
        "heads": 2,
        "d_kv": 16,
        "d_ff": 64,
        "dropout": 0.1,
    } | changes


def config(**changes) -> dict:
    """All settings of the training stage."""
    return {
        "backbone": backbone(),
        "seed": 3,
        "device": "cpu",
        "threads": 1,
        "precision": "fp32",
        "max_source_tokens": 128,
        "max_new_tokens": 40,
        "epochs": 6,
        "batch_turns": 4,
        "batch_tokens": 1000,
        "learning_rate": 0.01,
        "adam_beta2": 0.98,
        "weight_decay": 0.01,
        "warmup_steps": 3,
        "schedule": "linear",
        "gradient_clip": 1.0,
        "evaluate_from": 1,
        "evaluate_every": 2,
        "patience": 10,
        "valid_dialogues": None,
        "valid_context": "gold",
        "valid_batch_turns": 8,
        "average": 2,
        "checkpoint_steps": 2,
        "evaluator": "incar-galaxy",
    } | changes
