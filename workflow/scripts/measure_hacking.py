"""Lengths, numbers of pairs and placeholders, and their precision, of runs and of the gold side.

IN      golds         test tables, one a corpus
        predictions   of all runs (each list may be empty)
OUT     table         results/step_reward/hacking.csv
PARAMS  cfg           JSON text: {"corpora": names in the order of golds}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from pathlib import Path

from todflow.files import write_text
from todflow.step_reward import hacking
from todflow.tables.scripts import one_line_errors, parse_settings, paths

with one_line_errors():
    corpora = parse_settings(snakemake.params.cfg, "cfg")["corpora"]
    golds = dict(zip(corpora, map(Path, paths(snakemake.input.golds)), strict=True))
    table = hacking.build(golds, map(Path, paths(snakemake.input.predictions)))
    write_text(snakemake.output.table, hacking.to_csv(table))
