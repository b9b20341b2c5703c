"""Small measurement files for the tests of the tables."""

import json
from pathlib import Path

HDC = {
    "turns": 10.67,
    "inform_precision": 87.3,
    "inform_recall": 98.9,
    "inform_f1": 90.9,
    "book": 98.7,
    "success": 97.4,
    "success_strict": 97.4,
    "complete": 98.1,
}


def write(path: str, data: object) -> str:
    """Write JSON below the current folder and return its relative path."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(data), encoding="utf-8")
    return path


def simulation(setting: str = "convlab2", n: int = 1000, **changes) -> str:
    """metrics.json of HDC; `changes` replaces metrics."""
    metrics = {
        name: {"value": value, "n": n, "ci": [value - 1, value + 1]} for name, value in HDC.items()
    }
    return write(
        f"results/simulate/hdc/{setting}/metrics.json",
        {"system": "hdc", "setting": setting, "seed": 20200202, "metrics": metrics | changes},
    )


def score(
    dataset: str = "selfplay",
    backbone: str = "scratch-small",
    seed: int = 1,
    context: str = "generated",
    **changes,
) -> str:
    """A score file with Match 70, SuccF1 80, BLEU 20; `changes` replaces fields."""
    figures = {"match": 70.0, "succ_f1": 80.0, "bleu": 20.0, "combined": 95.0}
    data = {
        **figures,
        "bleu_without_markers": 16.0,
        "joint_goal_accuracy": 50.0,
        "act_f1": None if dataset == "incar" else 60.0,
        "n_dialogues": 40,
        "n_turns": 300,
        "match_denominator": 38,
        "ci": {name: [value - 2, value + 2.5] for name, value in figures.items()},
        "evaluator": "incar-galaxy" if dataset == "incar" else "selfplay",
    }
    return write(
        f"results/{dataset}/{backbone}/seed{seed}/sft/test-{context}.score.json", data | changes
    )
