"""results/table1.svg: what can be compared, what stands in, and what wasn't run.

Drawn from the tidy table alone. Four panels, top to bottom: the simulated dialogues, published
beside reproduced, with turns on an axis of their own; MultiWOZ under each evaluator, published
systems' outputs and ours; the other scores of trained models, labelled as stand-ins where they are;
the list of rows that weren't run. RL's other arms are left to results/step_reward/table2.csv.
"""

import textwrap

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from todflow.tables import plot_multiwoz
from todflow.tables.canvas import Canvas, beside, point, trim
from todflow.tables.published import Published
from todflow.tables.table1 import SHORT
from todflow.tables.svg import OTHER, OURS, PUBLISHED, STAND_IN, STYLE

LINE = 0.27  # inches for one line of a panel
LEFT, RIGHT = (
    0.13,
    0.6,
)  # the axes' edges, as shares of the width; the figures stand as numbers to the right
SHARES = ["inform_precision", "inform_recall", "inform_f1", "book", "success", "complete"]
SCORES = ["match", "succ_f1", "bleu", "combined"]
MARKERS = ["o", "s", "^", "v"]


def draw(table: pd.DataFrame, published: Published) -> Figure:
    """The picture of the tidy table (as read by `table1.from_csv`)."""
    systems = [
        name for place in published.simulations for name in (place.system, f"{place.system}{SHORT}")
    ]
    simulated = table[(table["dataset"] == "simulation") & table["system"].isin(systems)]
    table = table[~table["system"].str.contains(", arm ", regex=False)]
    scored = table[(table["paper"] == published.trained["paper"]) & (table["reproduced"] != "")]
    scored = scored[~plot_multiwoz.is_multiwoz(scored) & scored["metric"].isin(SCORES)]
    idle = _not_run(table, published)
    with matplotlib.rc_context(STYLE):
        return _Picture(
            published, simulated, plot_multiwoz.blocks(table), scored, idle
        ).canvas.figure


def _not_run(table: pd.DataFrame, published: Published) -> list[str]:
    """`system (dataset, dataset)` for every row without a measured figure, in the table's order."""
    places: dict[str, list[str]] = {}
    for (system, dataset), rows in table.groupby(["system", "dataset"], sort=False):
        if set(rows["status"]) == {"not_run"}:
            places.setdefault(system, []).append(published.datasets[dataset])
    return [f"{system}: {', '.join(names)}" for system, names in places.items()]


class _Picture:
    """Lays the panels out from top to bottom, in inches, and draws them."""

    def __init__(
        self,
        published: Published,
        simulated: pd.DataFrame,
        blocks: list[plot_multiwoz.Block],
        scored: pd.DataFrame,
        idle: list[str],
    ):
        self.published = published
        self.printed = {
            row["metric"]: row["published"]
            for row in simulated.to_dict("records")
            if row["published"]
        }
        simulated = simulated[simulated["reproduced"] != ""]
        systems = list(dict.fromkeys(simulated["system"]))
        rows = list(dict.fromkeys(zip(scored["system"], scored["dataset"], strict=True)))
        bands = [_wrap(name, 62) for name in idle]
        half = (len(bands) + 1) // 2
        columns = [bands[:half], bands[half:]]
        deep = max((sum(len(lines) for lines in column) for column in columns), default=0)

        step = LINE * max(1.0, 0.62 * (len(systems) + 1))
        heights = {
            "shares": step * len(SHARES) + 1.05 if systems else 0.0,
            "turns": step + 0.72 if systems else 0.0,
            "multiwoz": plot_multiwoz.height(blocks),
            "scores": 1.05 + LINE * (len(rows) + 0.85) * len(SCORES) if rows else 0.0,
            "idle": 0.65 + 0.19 * deep if idle else 0.0,
        }
        self.canvas = Canvas(sum(heights.values()) + 0.15)
        top = self.canvas.height - 0.1
        if systems:
            self._simulations(simulated, systems, top, heights)
            top -= heights["shares"] + heights["turns"]
        if blocks:
            plot_multiwoz.draw(self.canvas, published, blocks, top)
            top -= heights["multiwoz"]
        if rows:
            self._scores(scored, rows, top, heights["scores"])
            top -= heights["scores"]
        if idle:
            self._idle(columns, top)

    # -- panels

    def _simulations(
        self, table: pd.DataFrame, systems: list[str], top: float, heights: dict
    ) -> None:
        series = [("published", "Paper", PUBLISHED, "D")]
        for number, system in enumerate(systems):
            rows = table[table["system"] == system]
            paired, stand_in = (rows["published"] != "").any(), "stand_in" in set(rows["status"])
            color = OURS if paired else STAND_IN if stand_in else OTHER
            series.append((system, _label(system, paired, stand_in), color, MARKERS[number % 4]))
        paired = any(color == OURS for _, _, color, _ in series)
        counts = dict.fromkeys(table[table["metric"] == "turns"]["n"])
        size = " and ".join(f"{int(count):,}" for count in counts)
        self.canvas.heading(
            top,
            f"Simulated dialogues: published and {'reproduced' if paired else 'stand-ins'}",
            f"HDC against ConvLab's agenda user, semantic level, {size} dialogues."
            " Bars: 95 % intervals.",
        )
        spots = [0.635 + 0.12 * place for place in range(len(series))]
        for (_, label, color, marker), x in zip(series, spots, strict=True):
            self._key(x, top - 0.64, label, color, marker)
        body = heights["shares"] - 1.05
        axes = self.canvas.axes(top - 0.74, body, LEFT, RIGHT)
        self._rows(axes, table, SHARES, series, spots)
        axes.set_xlim(min(axes.get_xlim()[0], 95), 100.5)
        axes.set_xlabel("%", labelpad=1)
        axes = self.canvas.axes(top - heights["shares"] - 0.1, body / len(SHARES), LEFT, RIGHT)
        self._rows(axes, table, ["turns"], series, spots)
        axes.locator_params(axis="x", nbins=7)
        axes.set_xlabel("turns of both sides (fewer is better)", labelpad=1)

    def _key(self, x: float, y: float, label: str, color: str, marker: str) -> None:
        """The head of a column of numbers, which is the legend too."""
        lines = label.split("\n")
        for place, line in enumerate(reversed(lines)):
            self.canvas.text(
                x + 0.016, y + 0.15 * place, line, color=color, size=8.5, weight="bold"
            )
        handle = Line2D(
            [x + 0.006],
            [(y + 0.045) / self.canvas.height],
            marker=marker,
            markersize=5.5,
            color=color,
            markerfacecolor="white" if marker == "D" else color,
            transform=self.canvas.figure.transFigure,
        )
        self.canvas.figure.add_artist(handle)

    def _rows(
        self, axes: Axes, table: pd.DataFrame, metrics: list[str], series: list, spots: list[float]
    ) -> None:
        """One band a metric: every series on a line of its own, its number to the right."""
        cells = {(row["system"], row["metric"]): row for row in table.to_dict("records")}
        share = 0.62 / len(series)
        for band, metric in enumerate(metrics):
            axes.axhspan(
                band - 0.46, band + 0.46, color="#f5f7fa" if band % 2 == 0 else "white", lw=0
            )
            for place, (name, _, color, marker) in enumerate(series):
                cell = cells.get((name, metric))
                text = self.printed.get(metric, "") if name == "published" else ""
                if cell:
                    text = cell["reproduced"]
                beside(axes, spots[place] + 0.016, band, text or "–", color=color)
                if text:
                    y = band + (place - (len(series) - 1) / 2) * share
                    point(axes, float(text), y, cell, color, marker)
        axes.set_ylim(len(metrics) - 0.5, -0.5)
        axes.set_yticks(range(len(metrics)), [self.published.metrics[name] for name in metrics])
        trim(axes)

    def _scores(self, table: pd.DataFrame, rows: list[tuple], top: float, height: float) -> None:
        kinds = set(table["status"])
        reinforced = any("+RL" in system for system, _ in rows)
        title = "Supervised fine-tuning" + (" and RL" if reinforced else "")
        self.canvas.heading(
            top,
            f"{title}: stand-ins" if kinds == {"stand_in"} else title,
            (
                "Grey: stand-in (a made corpus, a model trained from scratch or a short training),"
                " comparable with no published figure."
                if "stand_in" in kinds
                else "The paper prints no figure for supervised fine-tuning alone on this corpus."
            ),
        )
        cells = {
            (row["system"], row["dataset"], row["metric"]): row for row in table.to_dict("records")
        }
        axes = self.canvas.axes(top - 0.55, height - 1.05, LEFT, 0.485)
        middles = []
        for block, metric in enumerate(SCORES):
            start = block * (len(rows) + 0.85)
            end = start + len(rows) - 1
            axes.axhspan(start - 0.55, end + 0.55, color="#f5f7fa", lw=0)
            middles.append((start + end) / 2)
            for place, (system, dataset) in enumerate(rows):
                cell, y = cells[system, dataset, metric], start + place
                color = STAND_IN if cell["status"] == "stand_in" else OURS
                point(axes, float(cell["reproduced"]), y, cell, color, MARKERS[place % 4])
                interval = f"  [{cell['ci_low']}, {cell['ci_high']}]" if cell["ci_low"] else ""
                label = system if reinforced else system.removeprefix("SFT ")
                name = f"{self.published.datasets[dataset]}, {label}"
                beside(axes, 0.5, y, f"{cell['reproduced']}{interval}", color=color, size=8)
                beside(axes, 0.695, y, name, color="#475467", size=8)
        axes.set_ylim(len(SCORES) * (len(rows) + 0.85) - 1.3, -0.7)
        axes.set_xlim(left=0)
        axes.set_yticks(middles, [self.published.metrics[name] for name in SCORES])
        axes.set_xlabel("score", labelpad=1)
        trim(axes)

    def _idle(self, columns: list[list[list[str]]], top: float) -> None:
        self.canvas.heading(top, "Not run", "Their cells in the table are empty.")
        for column, x in zip(columns, (0.012, 0.5), strict=True):
            y = top - 0.62
            for lines in column:
                for line in lines:
                    self.canvas.text(x, y, line, size=8, color="#475467")
                    y -= 0.19


def _label(system: str, paired: bool, stand_in: bool) -> str:
    """The head of a system's column, at most three short lines."""
    if paired:
        return "Reproduced"
    name = system.split(", ")[-1].capitalize() if system.endswith(SHORT) else system.split(", ")[-1]
    return name.replace(" native", "\nnative") + ("\n(stand-in)" if stand_in else "")


def _wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters, the later ones indented."""
    return textwrap.wrap(f"• {text}", width, subsequent_indent="   ")
