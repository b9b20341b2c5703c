"""Figure 5 of the step-reward paper as a picture.

IN   table    results/step_reward/figure5.csv
OUT  figure   results/step_reward/figure5.svg
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.step_reward import figure5_plot
from todflow.tables import svg
from todflow.tables.scripts import one_line_errors

with one_line_errors():
    svg.save(figure5_plot.draw(figure5_plot.read(snakemake.input.table)), snakemake.output.figure)
