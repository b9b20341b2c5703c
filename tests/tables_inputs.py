"""Small measurement files for the tests of the tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from todflow.metrics.tally import Tally
from todflow.score import report
from todflow.tables import table1

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

ARMS = {"tod": {}, "u": {"reward": "u"}, "g": {"reward": "g"}, "nomask": {"mask": False}}


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
    stage: str = "sft",
    share: str = "",
    **changes,
) -> str:
    """A score file as the stage writes it, with Match 70, SuccF1 80, BLEU 20 put in.

    `changes` replaces fields. In-Car has no acts, and so no act F1.
    """
    evaluator = changes.get("evaluator", "incar-galaxy" if dataset == "incar" else "selfplay")
    rows = np.stack([Tally(match=1, match_counted=1, turns=2).row()] * 3)
    data = report(evaluator, rows, samples=2, seed=1, acts=dataset != "incar")
    figures = {"match": 70.0, "succ_f1": 80.0, "bleu": 20.0, "combined": 95.0}
    figures |= {"bleu_without_markers": 16.0, "joint_goal_accuracy": 50.0, "act_f1": 60.0}
    figures = {name: value for name, value in figures.items() if name in data}
    data |= figures | {"n_dialogues": 40, "n_turns": 300, "match_denominator": 38}
    data["ci"] = {name: [figures[name] - 2, figures[name] + 2.5] for name in data["ci"]}
    folder = f"results/{dataset}/{backbone}/seed{seed}{share}/{stage}"
    return write(f"{folder}/test-{context}.{evaluator}.score.json", data | changes)


EVALUATORS = ("standard-v1", "legacy-pred", "legacy-nogate", "legacy-gold")


def multiwoz(evaluator: str, **changes) -> dict:
    """A score of a MultiWOZ evaluator: Inform 80, Success 70, BLEU 17, the legacy one's 10 more."""
    legacy = evaluator.startswith("legacy")
    extra = 10.0 if legacy else 0.0
    figures = {"inform": 80.0 + extra, "success": 70.0 + extra, "bleu": 17.0}
    figures |= {"combined": 92.0 + extra, "joint_goal_accuracy": 50.0, "act_f1": 40.0}
    data = {
        "evaluator": "legacy" if legacy else "standard",
        "name": evaluator,
        "vintage": None if legacy else evaluator.removeprefix("standard-"),
        "state": "gold" if evaluator.startswith("legacy-gold") else "predicted",
        "booking_gate": "nogate" not in evaluator if legacy else None,
        "references": "multiwoz20" if legacy else "multiwoz21",
        "n_dialogues": 1000,
        "n_expected": 1000,
        "n_turns": 7372,
        "partial": {},
        **figures,
        "per_domain": {"taxi": {"inform": 100.0, "success": 50.0, "n": 195}},
        "ci": {name: [value - 2, value + 2.5] for name, value in figures.items()},
        "samples": 2,
        "seed": 1,
    }
    return data | changes


def multiwoz_score(
    evaluator: str = "standard-v1",
    dataset: str = "multiwoz20",
    backbone: str = "scratch-small",
    seed: int = 1,
    context: str = "generated",
    stage: str = "sft",
    **changes,
) -> str:
    """A MultiWOZ score file of a trained model; `changes` replaces fields."""
    folder = f"results/{dataset}/{backbone}/seed{seed}/{stage}"
    return write(f"{folder}/test-{context}.{evaluator}.score.json", multiwoz(evaluator, **changes))


def rescored(system: str = "pptod", evaluator: str = "standard-v1", **changes) -> str:
    """A score file of published outputs; `changes` replaces fields."""
    path = f"results/rescored/{system}.{evaluator}.score.json"
    return write(path, multiwoz(evaluator, **changes))


def refused(system: str, evaluator: str, why: str) -> str:
    """What a file of published outputs that can't be scored leaves."""
    path = f"results/rescored/{system}.{evaluator}.score.json"
    return write(path, {"name": evaluator, "refused": why})


def outputs(missing: str = "", **corpora: str) -> dict[str, dict]:
    """The config's files of published outputs, all of them there, or all `missing` for a reason."""
    corpora = (
        {"dots": "multiwoz20", "pptod": "multiwoz20", "ubar": "multiwoz20"}
        | {"labes": "multiwoz21", "galaxy-e2e": "multiwoz20", "mintl": "multiwoz20"}
        | {"damd": "multiwoz20"}
        | corpora
    )
    return {file: {"corpus": corpus, "missing": missing} for file, corpus in corpora.items()}


def training_table(dataset: str, sources: list[str]) -> str:
    """A training table with nothing but who annotated each turn's acts."""
    path = Path(f"results/corpora/{dataset}/train.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"dataset": dataset, "act_source": sources}).to_parquet(path)
    return str(path)


def build(published, scores=(), simulations=(), **changes) -> pd.DataFrame:
    """The tidy table of a run with the usual settings; `changes` replaces arguments."""
    settings = {"scale": "embedded", "backbones": BACKBONES, "rescored": []}
    settings |= {"outputs": outputs("no folder is given"), "training": [], "pretrained": {}}
    settings |= {"arms": ARMS, "episodes": dict.fromkeys(("selfplay", "incar", "multiwoz20"), 2000)}
    return table1.build(published, list(scores), list(simulations), **settings | changes)
