"""Small measurement files for the tests of the tables."""

import json
from pathlib import Path

import numpy as np

from todflow.metrics.tally import Tally
from todflow.score import report

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
RATES = ("success", "success_strict", "complete")
DEFINITIONS = {
    "convlab2": {"initiative": 4, "counting": "convlab2"},
    "convlab3": {"initiative": None, "counting": "convlab3"},
    "mine": {"initiative": 2, "counting": "convlab2"},
}
BACKBONES = {
    "scratch-small": {"kind": "scratch"},
    "flan-t5-base": {"kind": "pretrained", "name": "google/flan-t5-base", "dropout": 0.1},
    "flan-t5-large": {"kind": "pretrained", "name": "google/flan-t5-large", "dropout": 0.1},
}


def write(path: str, data: object) -> str:
    """Write JSON below the current folder and return its relative path."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(data), encoding="utf-8")
    return path


def simulation(
    setting: str = "convlab2", n: int = 1000, definition: dict | None = None, **changes
) -> str:
    """metrics.json of HDC; `changes` replaces metrics, `definition` the setting's usual meaning."""
    metrics = {
        name: {
            "value": value,
            "n": n,
            "ci": [value - 1, value + 1],
            "interval": "wilson" if name in RATES else "bootstrap",
        }
        for name, value in HDC.items()
    }
    data = {
        "system": "hdc",
        "setting": setting,
        "definition": DEFINITIONS[setting] if definition is None else definition,
        "seed": 20200202,
        "metrics": metrics | changes,
    }
    return write(f"results/simulate/hdc/{setting}/metrics.json", data)


def score(
    dataset: str = "selfplay",
    backbone: str = "scratch-small",
    seed: int = 1,
    context: str = "generated",
    **changes,
) -> str:
    """A score file as the stage writes it, with Match 70, SuccF1 80, BLEU 20 put in.

    `changes` replaces fields. In-Car has no acts, and so no act F1.
    """
    evaluator = "incar-galaxy" if dataset == "incar" else "selfplay"
    rows = np.stack([Tally(match=1, match_counted=1, turns=2).row()] * 3)
    data = report(evaluator, rows, samples=2, seed=1, acts=dataset != "incar")
    figures = {"match": 70.0, "succ_f1": 80.0, "bleu": 20.0, "combined": 95.0}
    figures |= {"bleu_without_markers": 16.0, "joint_goal_accuracy": 50.0, "act_f1": 60.0}
    figures = {name: value for name, value in figures.items() if name in data}
    data |= figures | {"n_dialogues": 40, "n_turns": 300, "match_denominator": 38}
    data["ci"] = {name: [figures[name] - 2, figures[name] + 2.5] for name in data["ci"]}
    return write(
        f"results/{dataset}/{backbone}/seed{seed}/sft/test-{context}.score.json", data | changes
    )
