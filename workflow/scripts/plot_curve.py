"""The training curve of one run as a picture.

IN      curve    curve.csv: step, epoch, train_loss, valid_loss, the evaluator's two rates, bleu, combined, lr
OUT     figure   curve.svg
PARAMS  cfg      JSON text: {"title": text above the picture}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.tables import curves, svg
from todflow.tables.scripts import one_line_errors, parse_settings

with one_line_errors():
    title = parse_settings(snakemake.params.cfg, "cfg")["title"]
    svg.save(curves.draw(curves.read_curve(snakemake.input.curve), title), snakemake.output.figure)
