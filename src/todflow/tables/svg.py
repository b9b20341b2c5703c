"""What the pictures share: a look, and SVG files that are the same bytes for the same content."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from todflow.files import atomic

# Text is drawn as outlines, so that no viewer's own font changes the lay-out. The salt replaces the
# random ids, and the missing date the clock, that would make each file different.
STYLE = {
    "svg.hashsalt": "todflow",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#98a2b3",
    "axes.labelcolor": "#475467",
    "xtick.color": "#475467",
    "ytick.color": "#475467",
    "axes.axisbelow": True,
    "grid.color": "#e4e7ec",
    "grid.linewidth": 0.8,
    "text.color": "#1d2430",
}
PUBLISHED = "#8a5a00"
OURS = "#0b5cad"
OTHER = "#4c9a8c"
RESCORED = "#2f7d6b"
STAND_IN = "#667085"


def save(figure: Figure, path: str | Path) -> None:
    """Write the figure as SVG on white (readable on a dark page too), atomically."""
    with matplotlib.rc_context(STYLE), atomic(path) as temporary:
        figure.savefig(
            temporary,
            format="svg",
            facecolor="white",
            metadata={"Date": None, "Creator": "todflow"},
        )
