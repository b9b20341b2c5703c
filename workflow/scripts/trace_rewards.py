"""Figure 5 of the step-reward paper as a table: the rewards after every token of one written turn.

IN      gold, predictions,    a test split, what a run says on it, and the run's tokenizer;
        tokenizer             all left out where there is no run
OUT     table                 results/step_reward/figure5.csv
PARAMS  cfg                   JSON text: {"reward": settings}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from pathlib import Path

from todflow.files import write_text
from todflow.step_reward import figure5
from todflow.tables.scripts import one_line_errors, parse_settings

with one_line_errors():
    if "gold" in snakemake.input.keys():
        table = figure5.trace(
            Path(snakemake.input.gold),
            Path(snakemake.input.predictions),
            Path(snakemake.input.tokenizer).parent,
            parse_settings(snakemake.params.cfg, "cfg")["reward"],
        )
    else:
        table = figure5.empty("Not run: no corpus of step_reward.figure5 is in this run.")
    write_text(snakemake.output.table, figure5.to_csv(table))
