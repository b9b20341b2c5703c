"""The picture's panel on MultiWOZ: a band a system, a line an evaluator, Combined on the axis."""

import pandas as pd
from matplotlib.axes import Axes

from todflow.tables.canvas import Canvas, beside, point, trim
from todflow.tables.published import Published
from todflow.tables.svg import OURS, PUBLISHED, RESCORED, STAND_IN

METRICS = ["inform", "success", "bleu", "combined"]
SPOTS = [0.6, 0.67, 0.74, 0.805]  # where each metric's numbers stand, in shares of the width
LINE = 0.185  # inches
GAP = 1.5  # lines that a band has beside those of its evaluators
COLORS = {"published": PUBLISHED, "rescored": RESCORED, "stand_in": STAND_IN}
MARKERS = {"published": "D", "legacy-pred": "o", "legacy-nogate": "^", "legacy-gold": "v"}

Block = tuple[str, str, list[dict]]


def is_multiwoz(table: pd.DataFrame) -> pd.Series:
    """Which rows of the tidy table are about MultiWOZ."""
    return table["dataset"].str.startswith("multiwoz")


def blocks(table: pd.DataFrame) -> list[Block]:
    """(system, dataset, lines) of every system with a measured MultiWOZ figure.

    A line is {"name": evaluator or "published", "status": .., metric: row of the table, ..}; the
    figures that a paper prints of the system come first.
    """
    found = []
    rows = table[is_multiwoz(table) & table["metric"].isin(METRICS)]
    for (system, dataset), part in rows.groupby(["system", "dataset"], sort=False):
        lines: dict[tuple[str, str], dict] = {}
        for row in part.to_dict("records"):
            for column in ("published", "reproduced"):
                if row[column]:
                    printed = column == "published"
                    line = lines.setdefault(
                        (column, row["evaluator"]),
                        {
                            "name": column if printed else row["evaluator"],
                            "status": column if printed else row["status"],
                        },
                    )
                    line[row["metric"]] = row
        if any(line["status"] != "published" for line in lines.values()):
            found.append((system, dataset, list(lines.values())))
    return found


def height(found: list[Block]) -> float:
    """Inches that the panel takes."""
    return 1.2 + LINE * sum(len(lines) + GAP for _, _, lines in found) if found else 0.0


def draw(canvas: Canvas, published: Published, found: list[Block], top: float) -> None:
    """The panel, from `top` down."""
    canvas.heading(
        top,
        "MultiWOZ: one output under several evaluators",
        "Brown: printed by the paper, evaluator inferred. Green: published outputs, scored here."
        " Blue: reproduced. Grey: stand-in. Bars: 95 % intervals.",
    )
    for metric, x in zip(METRICS, SPOTS, strict=True):
        name = published.metrics[metric]
        canvas.text(x, top - 0.68, name, size=8.5, weight="bold", color="#475467")
    axes = canvas.axes(top - 0.78, height(found) - 1.2, left=0.27, right=0.57)
    y = 0.0
    for system, dataset, lines in found:
        axes.axhspan(y - 0.6, y + len(lines) + 0.6, color="#f5f7fa", lw=0)
        name = f"{system} on {published.datasets[dataset]}"
        beside(axes, 0.012, y, name, weight="bold", size=8.5)
        for line in lines:
            y += 1
            _line(axes, line, y)
        y += GAP
    axes.set_ylim(y - 0.9, -0.6)
    axes.set_yticks([])
    axes.set_xlabel("Combined", labelpad=1)
    trim(axes)


def _line(axes: Axes, line: dict, y: float) -> None:
    color, marker = COLORS.get(line["status"], OURS), MARKERS.get(line["name"], "s")
    beside(axes, 0.03, y, line["name"], size=8, color=color)
    printed = line["status"] == "published"
    column = "published" if printed else "reproduced"
    for metric, x in zip(METRICS, SPOTS, strict=True):
        if metric in line:
            row = line[metric]
            text = row[column]
            if metric == "combined" and not printed and row["ci_low"]:
                text += f"  [{row['ci_low']}, {row['ci_high']}]"
            beside(axes, x, y, text, color=color, size=8)
    if "combined" in line:
        row = line["combined"]
        point(axes, float(row[column]), y, None if printed else row, color, marker)
