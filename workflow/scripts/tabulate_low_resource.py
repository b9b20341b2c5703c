"""Figure 3 of the step-reward paper as a table: SFT and SFT + RL by share of the training dialogues.

IN      scores, curves   score files of the runs, curves of the RL runs
        subsets          their training tables (each list may be empty)
OUT     table            results/step_reward/figure3.csv
PARAMS  cfg              JSON text: {"arms": {name: what it changes}, "scale": label}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.files import write_text
from todflow.step_reward import figure3
from todflow.step_reward.gather import Runs
from todflow.tables import table1
from todflow.tables.scripts import one_line_errors, parse_settings, paths

with one_line_errors():
    settings = parse_settings(snakemake.params.cfg, "cfg")
    runs = Runs(paths(snakemake.input.scores), paths(snakemake.input.curves))
    sizes = figure3.sizes(paths(snakemake.input.subsets))
    table = figure3.build(runs, sizes, settings["arms"], settings["scale"])
    write_text(snakemake.output.table, table1.to_csv(table))
