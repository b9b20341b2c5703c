"""Figure 3, the low-resource study: SFT and SFT + RL by share of the training dialogues."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from todflow.errors import TodflowError
from todflow.step_reward.gather import ABOUT, Runs, cell, stage_name, metrics_of
from todflow.tables.cells import two_decimals
from todflow.tables.places import SFT
from todflow.tables.published import Published
from todflow.tables.svg import OTHER, OURS, PUBLISHED, STAND_IN, STYLE

COLUMNS = (
    "system",
    "stage",
    "dataset",
    "backbone",
    "share",
    "training_dialogues",
    "metric",
    "mean",
    "sd",
    *ABOUT,
    "note",
)
COLORS = (STAND_IN, OURS, OTHER, PUBLISHED, "#7f56d9", "#b42318", "#344054", "#0e7090")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
PAPERS = (
    "The paper's own curves are only drawn (its Figure 3 prints no numbers), so none stand here."
)
ROW = 2.75  # inches of one row of panels


def sizes(subsets: Iterable[str | Path]) -> dict[tuple[str, int, int], int]:
    """(dataset, seed, share) -> dialogues of its training table, <dataset>/subsets/seed1-share05.parquet."""
    found = {}
    for path in map(Path, subsets):
        name = re.fullmatch(r"seed(\d+)-share(\d\d)\.parquet", path.name)
        if not name:
            raise TodflowError(f"{path}: isn't seed<seed>-share<percent>.parquet; draw it again")
        count = pd.read_parquet(path, columns=["dialogue_id"])["dialogue_id"].nunique()
        found[path.parts[-3], int(name[1]), int(name[2])] = count
    return found


def build(
    runs: Runs, sizes: Mapping[tuple[str, int, int], int], arms: Mapping[str, Mapping], scale: str
) -> pd.DataFrame:
    """One row per model, share and metric, every cell as text.

    `sizes`: (dataset, seed, share) -> dialogues of the training table of that run. Raises
    TodflowError where seeds of one share have tables of different sizes.
    """
    rows = []
    for dataset, backbone in runs.models():
        for share in runs.shares(dataset, backbone):
            for stage in runs.stages(dataset, backbone):
                tested = runs.group(dataset, backbone, share, stage)
                if not tested:
                    continue
                known = {sizes.get((dataset, each.place.seed, share)) for each in tested} - {None}
                if len(known) > 1:
                    raise TodflowError(
                        f"{dataset}: {share} % of it is {sorted(known)} dialogues; draw the subsets"
                        " of all seeds again"
                    )
                about = runs.about(tested)
                for metric in metrics_of(dataset):
                    figure = cell(tested, metric)
                    rows.append(
                        {
                            "system": stage_name(stage, arms),
                            "stage": stage,
                            "dataset": dataset,
                            "backbone": backbone,
                            "share": str(share),
                            "training_dialogues": "".join(map(str, known)),
                            "metric": metric,
                            "mean": two_decimals(figure.mean),
                            "sd": two_decimals(figure.spread),
                            **about,
                            "note": f"Scale {scale}. {PAPERS}",
                        }
                    )
    if not rows:
        note = f"Not run: no corpus of step_reward.figure3 is in this run. {PAPERS}"
        rows.append(dict.fromkeys(COLUMNS, "") | {"note": note})
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)


def read(path: str | Path) -> pd.DataFrame:
    """Read the table again, every cell as the text that it is."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def draw(table: pd.DataFrame, published: Published) -> Figure:
    """A row of panels for every corpus and backbone, a panel a metric; bands are one sd over seeds."""
    measured = table[table["mean"] != ""]
    blocks = list(measured.groupby(["dataset", "backbone"], sort=False))
    with matplotlib.rc_context(STYLE):
        if not blocks:
            return _empty(table["note"].iloc[0])
        figure = Figure(figsize=(9.2, (ROW + 1.0) * 2 * len(blocks)))
        parts = figure.subfigures(len(blocks), 1, squeeze=False)[:, 0]
        for part, ((dataset, backbone), rows) in zip(parts, blocks, strict=True):
            _block(part, published, dataset, backbone, rows)
        return figure


def _block(part, published: Published, dataset: str, backbone: str, rows: pd.DataFrame) -> None:
    first = rows.iloc[0]
    evaluator = " ".join(filter(None, (first["evaluator"], first["vintage"])))
    part.text(
        0.012,
        0.955,
        f"{published.datasets[dataset]}, {backbone}: trained on a share of the dialogues",
        weight="bold",
        size=10.5,
    )
    state = f", {first['state']} state" if first["state"] else ""
    part.text(
        0.012,
        0.918,
        f"Test split, {first['dialogues']} dialogues, evaluator {evaluator}{state}, {first['context']}"
        " previous turn. Lines: mean over seeds, bands: ± 1 sd, small numbers: seeds.",
        size=8.5,
        color="#667085",
    )
    part.text(0.012, 0.887, PAPERS, size=8.5, color="#667085")
    grid = part.subplots(2, 2, gridspec_kw={"wspace": 0.18, "hspace": 0.33})
    part.subplots_adjust(left=0.065, right=0.985, top=0.79, bottom=0.075)
    stages = list(dict.fromkeys(rows["stage"]))
    spot = 0.012
    for stage, color, marker in zip(stages, COLORS, MARKERS, strict=False):
        name = rows[rows["stage"] == stage]["system"].iloc[0]
        part.text(spot, 0.852, f"{_glyph(marker)} {name}", color=color, size=9, weight="bold")
        spot += 0.011 * len(name) + 0.05
    for axes, metric in zip(grid.flat, metrics_of(dataset), strict=True):
        axes.set_title(published.metrics[metric], loc="left", size=9, color="#475467")
        for number, stage in enumerate(stages):
            mine = rows[(rows["metric"] == metric) & (rows["stage"] == stage)]
            style = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
            _line(axes, mine, *style, top=stage != SFT)
        shares = rows.drop_duplicates("share")
        places = [int(share) for share in shares["share"]]
        axes.set_xticks(
            places,
            [
                f"{share} %\n{size}" if size else f"{share} %"
                for share, size in zip(places, shares["training_dialogues"], strict=True)
            ],
        )
        axes.set_xlim(0, max(places) + 4)
        axes.grid(axis="y")
        axes.tick_params(length=0, labelsize=8)


def _glyph(marker: str) -> str:
    return dict(zip(MARKERS, "●■▲◆▼✚✖★"))[marker]


def _line(axes: Axes, rows: pd.DataFrame, color: str, marker: str, top: bool) -> None:
    places = [int(share) for share in rows["share"]]
    means = rows["mean"].astype(float).to_numpy()
    # One seed has no spread: its band has no width there.
    spread = rows["sd"].replace("", "0").astype(float).to_numpy()
    axes.fill_between(places, means - spread, means + spread, color=color, alpha=0.15, lw=0)
    axes.plot(places, means, color=color, marker=marker, markersize=4, lw=1.4)
    for x, y, count in zip(places, means, rows["n"], strict=True):
        axes.annotate(
            count,
            (x, y),
            xytext=(0, 6 if top else -6),
            textcoords="offset points",
            ha="center",
            va="bottom" if top else "top",
            size=6.5,
            color=color,
        )


def _empty(note: str) -> Figure:
    figure = Figure(figsize=(9.2, 1.0))
    figure.text(0.012, 0.62, "Figure 3: nothing was run", weight="bold", size=10.5)
    figure.text(0.012, 0.3, note, size=8, color="#667085")
    return figure
