"""Table 2 of the step-reward paper: its printed rows, and every arm that was run here.

IN      scores, curves   score files of the runs, curves of the RL runs (each list may be empty)
OUT     table            results/step_reward/table2.csv
PARAMS  cfg              JSON text: {"arms": {name: what it changes}, "asked": [arm, ..], "scale": label}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.files import write_text
from todflow.step_reward import table2
from todflow.step_reward.gather import Runs
from todflow.tables import published, table1
from todflow.tables.scripts import one_line_errors, parse_settings, paths

with one_line_errors():
    settings = parse_settings(snakemake.params.cfg, "cfg")
    runs = Runs(paths(snakemake.input.scores), paths(snakemake.input.curves))
    table = table2.build(
        published.load(), runs, settings["arms"], settings["asked"], settings["scale"]
    )
    write_text(snakemake.output.table, table1.to_csv(table))
