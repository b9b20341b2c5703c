"""The picture of one RL run: what was rewarded, how far the policy went, what validation says."""

from typing import NamedTuple

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from todflow.step_reward.rl_curve import chosen
from todflow.tables.svg import OTHER, OURS, PUBLISHED, STAND_IN, STYLE

DARK = "#1d2430"
SCORES = {
    "combined": ("Combined", DARK),
    "match": ("Match", OURS),
    "succ_f1": ("SuccF1", OTHER),
    "inform": ("Inform", OURS),
    "success": ("Success", OTHER),
    "bleu": ("BLEU", PUBLISHED),
}


class Panel(NamedTuple):
    """One small picture: its lines by column, each with a label and a color."""

    title: str
    lines: dict[str, tuple[str, str]]
    log: bool = False
    zero: bool = True  # the axis begins at 0


PANELS = (
    Panel(
        "Reward of a sampled turn",
        {
            "reward_tod": ("R_tod", DARK),
            "reward_u": ("R_u", OURS),
            "reward_g": ("R_g", OTHER),
        },
        zero=False,
    ),
    Panel("Validation: change from SFT's scores", SCORES, zero=False),
    Panel("Length of a sampled turn (tokens)", {"length": ("length", OURS)}, zero=False),
    Panel("KL to the SFT model, per token", {"kl": ("k1", OURS), "kl_k3": ("k3", OTHER)}),
    Panel("KL coefficient", {"kl_coef": ("coefficient", STAND_IN)}, log=True),
    Panel("Entropy of the masked policy", {"entropy": ("entropy", OURS)}),
    Panel("Value loss", {"value_loss": ("value loss", PUBLISHED)}),
    Panel(
        "Predicted in a turn",
        {"pairs": ("state pairs", OURS), "requests": ("requested slots", OTHER)},
        zero=False,
    ),
    Panel("Share of clipped ratios", {"clip_share": ("clipped", STAND_IN)}),
)


def draw(curve: pd.DataFrame, title: str) -> Figure:
    """Nine small multiples over iterations; the iteration that was kept is marked in all of them."""
    kept, episodes = chosen(curve), int(curve["episodes"].max())
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 7.6))
        figure.text(0.012, 0.969, title, weight="bold", size=10.5)
        best = curve["combined"].dropna()
        note = f"{episodes:,} episodes"
        if len(best):
            which = f"iteration {kept} (dotted)" if kept else "the SFT model itself"
            note += f"; kept: {which}, Combined {best.max():.2f}, SFT's {best.iloc[0]:.2f}"
        figure.text(0.988, 0.969, note, ha="right", size=8.5, color="#667085")
        grid = figure.subplots(3, 3, gridspec_kw={"wspace": 0.34, "hspace": 0.42})
        figure.subplots_adjust(left=0.065, right=0.985, top=0.91, bottom=0.065)
        for axes, panel in zip(grid.flat, PANELS, strict=True):
            _panel(axes, panel, curve, kept)
        for axes in grid[-1]:
            axes.set_xlabel("iteration", labelpad=2)
        return figure


def _panel(axes: Axes, panel: Panel, curve: pd.DataFrame, kept: int) -> None:
    axes.set_title(panel.title, loc="left", size=9, color="#475467", pad=16)
    if panel.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_locator(NullLocator())
    drawn = []
    for column, (label, color) in panel.lines.items():
        part = curve[["iteration", column]].dropna() if column in curve.columns else ()
        if len(part):
            if panel.lines is SCORES:
                part[column] -= part[column].iloc[0]
            marker = "o" if panel.lines is SCORES or len(part) == 1 else ""
            axes.plot(
                part["iteration"], part[column], color=color, lw=1.3, marker=marker, markersize=2.5
            )
            drawn.append((label, color))
    # The names stand above the lines, where no line can cross them.
    spot = 0.0
    if len(drawn) > 1:
        for label, color in drawn:
            axes.text(
                spot, 1.03, label, transform=axes.transAxes, size=8, color=color, weight="bold"
            )
            spot += 0.034 * len(label) + 0.035
    if not drawn:
        axes.text(0.5, 0.5, "nothing measured", transform=axes.transAxes, ha="center", size=8)
    if panel.zero and not panel.log:
        low, high = axes.get_ylim()
        axes.set_ylim(min(0, low), high + 0.05 * abs(high))
    axes.axvline(kept, color="#98a2b3", lw=1, ls=":", zorder=0)
    axes.set_xlim(0, max(1, curve["iteration"].max() * 1.02))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.grid(axis="y")
    axes.tick_params(length=0, labelsize=8)
