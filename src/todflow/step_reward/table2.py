"""Table 2, the ablation: the paper's printed rows, and every arm that was run here, over seeds."""

from collections.abc import Mapping

import pandas as pd

from todflow.step_reward.gather import (
    ABOUT,
    NAMES,
    Runs,
    cell,
    stage_name,
    INFORM,
    MATCH,
    metrics_of,
)
from todflow.tables.cells import join, two_decimals
from todflow.tables.places import WHOLE
from todflow.tables.published import Published

FIGURES = tuple(dict.fromkeys((*INFORM[:2], *MATCH[:2], *INFORM[2:])))
COLUMNS = (
    "system",
    "stage",
    "dataset",
    "backbone",
    *(name for metric in FIGURES for name in (metric, f"{metric}_sd")),
    *ABOUT,
    "status",
    "note",
)
# The rows that the paper prints, as it calls them, and what each is here. The first stands in Table 1.
PRINTED = {
    "Ours-large": ("Ours", "rl-tod"),
    "Ours-large without R_u": ("-R_u", "rl-g"),
    "Ours-large without R_g": ("-R_g", "rl-u"),
    "Ours-large without R_u and R_g": ("-R_u-R_g", "sft"),
}
PAPER = "step_reward"
DATASET = "multiwoz20"


def printed(published: Published) -> dict[str, dict[str, float]]:
    """Stage -> the figures of the paper's Table 2."""
    return {
        PRINTED[system.name][1]: {
            metric: float(text) for metric, text in system.figures[DATASET].items()
        }
        for source in ("Table 1", "Table 2")
        for system in published.table(PAPER, source).systems
        if system.name in PRINTED
    }


def build(
    published: Published, runs: Runs, arms: Mapping[str, Mapping], asked: list[str], scale: str
) -> pd.DataFrame:
    """One row per printed row of the paper, then one per model and arm, every cell as text.

    `asked` are the names of the arms that the config wants here, `arms` what each changes in the
    settings. The arms of the paper and the sparse one have a row for every model, empty if not run.
    """
    blank = dict.fromkeys(COLUMNS, "")
    rows = []
    figures = printed(published)
    for name, stage in PRINTED.values():
        numbers = {metric: f"{value:.1f}" for metric, value in figures[stage].items()}
        rows.append(
            blank
            | {"system": name, "stage": stage, "dataset": DATASET, "backbone": "flan-t5-large"}
            | numbers
            | {
                "evaluator": "legacy-nogate",
                "episodes": "" if stage == "sft" else "20000",
                "n": "1",
                "status": "published",
                "note": "Printed by the paper, MultiWOZ 2.0, Flan-T5-large; one run, no spread; no"
                " evaluator is named (believed).",
            }
        )
    models = runs.models()
    for dataset, backbone in models:
        found = runs.stages(dataset, backbone)
        for stage in [*NAMES, *(stage for stage in found if stage not in NAMES)]:
            row = blank | {"system": stage_name(stage, arms), "stage": stage}
            row |= {"dataset": dataset, "backbone": backbone}
            if stage in found:
                row |= _measured(runs, dataset, backbone, stage, scale)
            else:
                row |= {"status": "not_run", "note": _why(stage, asked)}
            rows.append(row)
    if not models:
        note = "Not run: no corpus of step_reward.table2 is in this run."
        rows += [
            blank
            | {"system": name, "stage": stage, "dataset": DATASET}
            | {"status": "not_run", "note": note}
            for stage, name in NAMES.items()
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)


def _measured(runs: Runs, dataset: str, backbone: str, stage: str, scale: str) -> dict[str, str]:
    tested = runs.group(dataset, backbone, WHOLE, stage)
    row = runs.about(tested)
    for metric in metrics_of(dataset):
        figure = cell(tested, metric)
        row[metric], row[f"{metric}_sd"] = two_decimals(figure.mean), two_decimals(figure.spread)
    kept = row["kept_iterations"].split()
    own = kept.count("0")
    notes = [
        f"Scale {scale}.",
        "One seed: no spread." if len(tested) == 1 else f"Mean and sd of {len(tested)} seeds.",
        f"Validation kept the SFT model itself in {own} of {len(kept)} runs." if own else "",
    ]
    return row | {"status": "measured", "note": join(notes)}


def _why(stage: str, asked: list[str]) -> str:
    arm = stage.removeprefix("rl-")
    if arm in asked or stage == "sft":
        return "Not run: this model has no run of it."
    return "Not run: the config's step_reward.table2.arms hasn't this arm."
