"""The training curve of one run: losses, scores on the validation split, learning rate."""

from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from todflow.errors import TodflowError
from todflow.tables.svg import OTHER, OURS, PUBLISHED, STAND_IN, STYLE

# What every curve has; an evaluator's own two rates stand before `bleu`.
COLUMNS = ["step", "epoch", "train_loss", "valid_loss", "bleu", "combined", "lr"]
LOSSES = {"train_loss": ("train", STAND_IN, ""), "valid_loss": ("validation", OURS, "o")}
SCORES = {
    "combined": ("Combined", "#1d2430", "D"),
    "match": ("Match", OURS, "o"),
    "succ_f1": ("SuccF1", OTHER, "s"),
    "inform": ("Inform", OURS, "o"),
    "success": ("Success", OTHER, "s"),
    "bleu": ("BLEU", PUBLISHED, "^"),
}


def read_curve(path: str | Path) -> pd.DataFrame:
    """A curve file; cells that weren't measured at a step are NaN. Raises TodflowError."""
    table = pd.read_csv(path)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise TodflowError(f"{path}: no column '{missing[0]}'; delete the file and train again")
    if not len(table):
        raise TodflowError(f"{path}: no line; delete the file and train again")
    columns = [name for name in table.columns if name in {*COLUMNS, *SCORES}]
    for name in columns:
        # A column without any value is read as NaN, one with a word in it as text.
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise TodflowError(
                f"{path}: column '{name}' holds a word; delete the file and train again"
            )
    return table[columns]


def draw(curve: pd.DataFrame, title: str) -> Figure:
    """Loss, scores and learning rate over steps; the best validation Combined is marked."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 5.4))
        figure.text(0.012, 0.955, title, weight="bold", size=10.5)
        loss, score, rate = (
            figure.add_axes((0.075, 0.1, 0.37, 0.77)),
            figure.add_axes((0.535, 0.38, 0.37, 0.49)),
            figure.add_axes((0.535, 0.1, 0.37, 0.17)),
        )
        _lines(loss, curve, LOSSES)
        loss.set_title("Loss", loc="left", size=9, color="#475467")
        loss.set_ylim(bottom=0)
        loss.set_xlabel("step")
        loss.legend(frameon=False, loc="upper right")
        _lines(score, curve, SCORES)
        score.set_title("Scores on the validation split", loc="left", size=9, color="#475467")
        score.set_ylim(bottom=0)
        score.tick_params(labelbottom=False)
        _name_ends(score, curve)
        _lines(rate, curve, {"lr": ("", STAND_IN, "")})
        rate.set_title("Learning rate", loc="left", size=9, color="#475467")
        rate.yaxis.set_major_formatter("{x:g}")
        rate.locator_params(axis="y", nbins=3)
        rate.set_ylim(bottom=0)
        rate.set_xlabel("step")
        best = curve["combined"].dropna()
        if len(best):
            for axes in (loss, score):
                axes.axvline(curve["step"][best.idxmax()], color="#98a2b3", lw=1, ls=":", zorder=0)
            figure.text(
                0.988,
                0.955,
                f"dotted: best Combined, {best.max():.2f} at step {curve['step'][best.idxmax()]}",
                ha="right",
                size=8.5,
                color="#667085",
            )
        for axes in (loss, score, rate):
            axes.set_xlim(0, max(1, curve["step"].max() * 1.02))
            axes.grid(axis="y")
            axes.tick_params(length=0)
        return figure


def _lines(axes: Axes, curve: pd.DataFrame, series: dict[str, tuple[str, str, str]]) -> None:
    for column, (label, color, marker) in series.items():
        if column not in curve.columns:
            continue
        part = curve[["step", column]].dropna()
        # A single point shows only with a marker.
        marker = marker or ("o" if len(part) == 1 else "")
        axes.plot(
            part["step"],
            part[column],
            color=color,
            label=label,
            marker=marker,
            markersize=3.5,
            lw=1.4,
        )


def _name_ends(axes: Axes, curve: pd.DataFrame) -> None:
    """Each line's name at its right end, pushed apart where two would overlap."""
    ends = []
    for column, (label, color, _) in SCORES.items():
        values = curve[column].dropna() if column in curve.columns else ()
        if len(values):
            ends.append((float(values.iloc[-1]), label, color))
    gap = axes.get_ylim()[1] * 0.075
    at = float("-inf")
    for value, label, color in sorted(ends):
        at = max(value, at + gap)
        axes.text(
            1.015,
            at,
            label,
            transform=axes.get_yaxis_transform(),
            va="center",
            size=8.5,
            color=color,
        )
