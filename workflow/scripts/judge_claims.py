"""The step-reward paper's claims: measured differences, intervals, verdicts, signs of reward hacking.

IN      golds         test tables, one a corpus
        others        In-Car's entity map, MultiWOZ's databases: in the folders of golds
        scores, curves, predictions   of all runs (each list may be empty)
        hacking       results/step_reward/hacking.csv
OUT     claims        results/step_reward/claims.md
PARAMS  cfg           JSON text: {"arms": {name: what it changes}, "scale": label,
                      "bootstrap": {"samples", "seed"}, "evaluators": {corpus: name},
                      "rl": {corpus: {setting: value}}}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from pathlib import Path

from todflow.files import write_text
from todflow.step_reward import claims, claims_text, hacking
from todflow.step_reward.gather import Runs
from todflow.step_reward.tallies import judge
from todflow.tables import published
from todflow.tables.scripts import one_line_errors, parse_settings, paths

with one_line_errors():
    settings = parse_settings(snakemake.params.cfg, "cfg")
    golds = {Path(path).parent: Path(path) for path in paths(snakemake.input.golds)}
    others = {Path(path).parent: Path(path) for path in paths(snakemake.input.others)}
    judges = {
        folder.name: judge(
            folder.name, settings["evaluators"][folder.name], gold, others.get(folder)
        )
        for folder, gold in golds.items()
    }
    bootstrap = settings["bootstrap"]
    evidence = claims.gather(
        map(Path, paths(snakemake.input.predictions)),
        judges,
        bootstrap["samples"],
        bootstrap["seed"],
    )
    text = claims_text.document(
        evidence,
        Runs(paths(snakemake.input.scores), paths(snakemake.input.curves)),
        published.load(),
        hacking.read(snakemake.input.hacking),
        settings,
    )
    write_text(snakemake.output.claims, text)
