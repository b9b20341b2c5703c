"""All measurements and all published figures: one tidy table, the papers' own tables, one page.

IN      scores, rescored,     measurement files (each list may be empty)
        simulations
        training              MultiWOZ's training tables that models were trained on
OUT     table                 results/table1.csv
        step_reward, react    each paper's Table 1 in its own form (CSV)
        page                  the same as HTML
PARAMS  cfg                   JSON text: {"scale": label, "backbone": {name: {"kind": .., ..}},
                              "outputs": {file: {"corpus": .., "missing": reason or ""}},
                              "pretrained": {corpus: corpus that training begins with, or null},
                              "arms": {RL arm: what it changes}, "episodes": {corpus: of RL}}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.files import write_text
from todflow.tables import html, published, table1, wide
from todflow.tables.scripts import one_line_errors, parse_settings, paths

with one_line_errors():
    figures = published.load()
    settings = parse_settings(snakemake.params.cfg, "cfg")
    table = table1.build(
        figures,
        scores=paths(snakemake.input.scores),
        simulations=paths(snakemake.input.simulations),
        rescored=paths(snakemake.input.rescored),
        scale=settings["scale"],
        backbones=settings["backbone"],
        outputs=settings["outputs"],
        training=paths(snakemake.input.training),
        pretrained=settings["pretrained"],
        arms=settings["arms"],
        episodes=settings["episodes"],
    )
    write_text(snakemake.output.table, table1.to_csv(table))
    for paper in figures.papers:
        write_text(snakemake.output[paper], table1.to_csv(wide.wide(table, figures, paper)))
    write_text(snakemake.output.page, html.page(table, figures))
