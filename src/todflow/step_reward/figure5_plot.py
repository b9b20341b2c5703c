"""The picture of Figure 5: three panels, the reward after every token, the tokens on the axis."""

from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from todflow.tables.svg import OTHER, OURS, PUBLISHED, STYLE

LINES = {
    "reward_tod": ("R_tod", "#1d2430", "-", 1.8),
    "reward_u": ("R_u", OURS, "--", 1.2),
    "reward_g": ("R_g", OTHER, "-.", 1.2),
}
DASHES = {"-": "━", "--": "╍", "-.": "┅"}
SEGMENTS = {"b": ("state", OURS), "a": ("act", PUBLISHED), "r": ("response", OTHER)}
NARROW, WIDE = 0.145, 0.3  # inches of a token on the axis
LEFT = 0.6  # inches left of the axes
HEIGHT = 1.7  # of a panel's axes
HEAD = 0.45  # above them: title and names of segments
LETTER = 0.062  # of a letter below them
FOOT = 0.35  # below the tokens


def read(path: str | Path) -> pd.DataFrame:
    """The CSV of `todflow.step_reward.figure5`; tokens are text, even "null" or "nan"."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in ("position", "reward_u", "reward_g", "reward_tod"):
        table[name] = pd.to_numeric(table[name])
    return table


def draw(table: pd.DataFrame) -> Figure:
    """Panels from top to bottom; one without tokens is a line that says why."""
    panels = list(table.groupby("panel", sort=False))
    tokens = max(1, *(int(rows["position"].count()) for _, rows in panels))
    inch = min(WIDE, max(NARROW, (9.2 - LEFT - 0.2) / tokens))
    width = max(9.2, LEFT + inch * tokens + 0.2)
    heights = [_height(rows) for _, rows in panels]
    total = sum(heights) + 0.9
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, total))
        first = table.iloc[0]
        canvas = _Inches(figure, width, total)
        canvas.text(0.12, total - 0.25, "Rewards after every token", weight="bold", size=10.5)
        spot = 2.6
        for label, color, style, _ in LINES.values():
            canvas.text(spot, total - 0.25, f"{DASHES[style]} {label}", color=color, weight="bold")
            spot += 0.85
        where = "Nothing to show."
        if first["dialogue_id"]:
            where = (
                f"{first['dataset']}, {first['backbone']}, seed {first['seed']}, {first['stage']}: test"
                f" dialogue {first['dialogue_id']}, turn {first['turn']}, as the model wrote it."
            )
        meaning = (
            "The level of each reward (eq. 2-4) after every token. Shaded: the segment written."
        )
        for y, text in ((0.47, where), (0.65, meaning)):
            canvas.text(0.12, total - y, text, size=8.5, color="#667085")
        top = total - 0.8
        for (name, rows), height in zip(panels, heights, strict=True):
            _panel(canvas, name, rows, top, inch)
            top -= height
        return figure


def _height(rows: pd.DataFrame) -> float:
    """Inches that a panel takes."""
    if not rows["position"].count():
        return 0.6
    return HEAD + HEIGHT + LETTER * max(map(len, _labels(rows))) + FOOT


class _Inches:
    """A figure whose places are given in inches from the left and the bottom."""

    def __init__(self, figure: Figure, width: float, height: float):
        self.figure, self.width, self.height = figure, width, height

    def text(self, x: float, y: float, text: str, **style) -> None:
        self.figure.text(x / self.width, y / self.height, text, **style)

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        place = (x / self.width, y / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(place)


def _panel(canvas: _Inches, name: str, rows: pd.DataFrame, top: float, inch: float) -> None:
    shown = rows[rows["position"].notna()]
    title = name
    if len(shown):
        wanted = shown.iloc[0]
        title += (
            f"; wanted: {_count(wanted['pairs_wanted'], 'state pair')},"
            f" {_count(wanted['requests_wanted'], 'requested slot')}"
        )
    canvas.text(0.12, top - 0.16, title, size=9, weight="bold")
    if not len(shown):
        canvas.text(0.12, top - 0.36, rows["note"].iloc[0], size=8.5, color="#667085")
        return
    axes = canvas.axes(LEFT, top - HEAD - HEIGHT, inch * len(shown), HEIGHT)
    _shade(axes, shown["token"].tolist())
    places = range(len(shown))
    for column, (_, color, style, line) in LINES.items():
        axes.step(places, shown[column], where="mid", color=color, ls=style, lw=line)
    axes.set_xlim(-0.5, len(shown) - 0.5)
    axes.set_ylim(-0.03, 1.05)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1.0])
    axes.set_xticks(places, _labels(shown), rotation=90, size=7.5)
    axes.set_ylabel("reward")
    axes.grid(axis="y")
    axes.tick_params(length=0)


def _count(number: str, unit: str) -> str:
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def _labels(rows: pd.DataFrame) -> list[str]:
    """Tokens as people read them: the mark of a space before a word is none."""
    return [token.replace("▁", " ").strip() or "␣" for token in rows["token"]]


def _shade(axes: Axes, tokens: list[str]) -> None:
    """A band behind each segment, with its name."""
    start, kind = 0, ""
    for place, token in enumerate([*tokens, "<sos_end>"]):
        text = token.replace("▁", "")
        if text.startswith("<sos_"):
            if kind in SEGMENTS:
                name, color = SEGMENTS[kind]
                axes.axvspan(start - 0.5, place - 0.5, color=color, alpha=0.07, lw=0)
                axes.text((start + place - 1) / 2, 1.075, name, ha="center", size=8, color=color)
            start, kind = place, text[5:-1]
