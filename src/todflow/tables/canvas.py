"""A picture of panels from top to bottom: places in inches, marks of a value."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 9.2  # inches; about 880 pixels in a browser


class Canvas:
    """A figure with helpers that measure heights in inches from the bottom, and widths in shares."""

    def __init__(self, height: float):
        self.height = height
        self.figure = Figure(figsize=(WIDTH, height))

    def axes(self, top: float, height: float, left: float, right: float) -> Axes:
        """Axes whose upper edge is at `top` inches."""
        return self.figure.add_axes(
            (left, (top - height) / self.height, right - left, height / self.height)
        )

    def text(self, x: float, y: float, text: str, **style) -> None:
        """A line of text at a share of the width and at inches from the bottom."""
        self.figure.text(x, y / self.height, text, va="baseline", **style)

    def heading(self, top: float, text: str, rest: str = "") -> None:
        """A panel's head, and one line about it."""
        self.text(0.012, top - 0.2, text, weight="bold", size=10.5)
        self.text(0.012, top - 0.4, rest, color="#667085", size=8.5)


def beside(axes: Axes, x: float, y: float, text: str, **style) -> None:
    """Text at `x` of the figure's width, on the line `y` of the axes."""
    place = axes.get_position()
    share = (x - place.x0) / place.width
    axes.text(share, y, text, transform=axes.get_yaxis_transform(), va="center", **style)


def point(axes: Axes, value: float, y: float, cell: dict | None, color: str, marker: str) -> None:
    """A value and, where it has one, its interval; published values (no cell) are hollow."""
    if cell and cell["ci_low"]:
        axes.plot([float(cell["ci_low"]), float(cell["ci_high"])], [y, y], color=color, lw=1.8)
    face = color if cell else "white"
    axes.plot(
        [value], [y], marker=marker, markersize=5.5, color=color, markerfacecolor=face, ls="none"
    )


def trim(axes: Axes) -> None:
    """No ticks, no left edge, a grid for the values."""
    axes.grid(axis="x")
    axes.tick_params(axis="both", length=0)
    axes.spines["left"].set_visible(False)
