"""The training curve of one run as a picture.

IN      curve    curve.csv: SFT's losses, scores and learning rate, or RL's rewards, distances and scores
OUT     figure   curve.svg
PARAMS  cfg      JSON text: {"title": text above the picture, "stage": sft or rl-<arm>}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.step_reward import rl_curve, rl_curve_plot
from todflow.tables import curves, svg
from todflow.tables.places import SFT
from todflow.tables.scripts import one_line_errors, parse_settings

with one_line_errors():
    settings = parse_settings(snakemake.params.cfg, "cfg")
    if settings["stage"] == SFT:
        figure = curves.draw(curves.read_curve(snakemake.input.curve), settings["title"])
    else:
        curve = rl_curve.read_curve(snakemake.input.curve)
        figure = rl_curve_plot.draw(curve, settings["title"])
    svg.save(figure, snakemake.output.figure)
