"""The tidy table as a picture.

IN   table    results/table1.csv
OUT  figure   results/table1.svg
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.tables import plot, published, svg, table1
from todflow.tables.scripts import one_line_errors

with one_line_errors():
    table = table1.from_csv(snakemake.input.table)
    svg.save(plot.draw(table, published.load()), snakemake.output.figure)
