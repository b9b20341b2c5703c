"""todflow: task-oriented dialogue, from raw corpus to table.

Read the rule files in the order in which they are included: that is the way the data takes.
The table itself:  snakemake results/table1.csv --cores 8
"""

from snakemake.utils import min_version

min_version("9.27")


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/stages.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/rl.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/rescore.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/step_reward.smk"


localrules:
    all,
    tabulate_results,
    plot_results,
    plot_curve,
    write_provenance,


rule all:
    """Everything: tables, figures, provenance."""
    default_target: True
    input:
        rules.tabulate_results.output,
        rules.plot_results.output,
        rules.write_provenance.output,
        curve_figures(),
        step_reward_outputs(),
