"""Figure 3 of the step-reward paper as a picture.

IN   table    results/step_reward/figure3.csv
OUT  figure   results/step_reward/figure3.svg
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.step_reward import figure3
from todflow.tables import published, svg
from todflow.tables.scripts import one_line_errors

with one_line_errors():
    table = figure3.read(snakemake.input.table)
    svg.save(figure3.draw(table, published.load()), snakemake.output.figure)
