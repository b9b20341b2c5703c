"""The step-reward paper's ablation, low-resource study, reward curves and claims, from the runs that were made.

IN    scores, predictions and curves of the runs in the config's section step_reward; the test splits
OUT   results/step_reward/: table2.csv, figure3.{csv,svg}, figure5.{csv,svg}, hacking.csv, claims.md
      (its table1.csv is written with results/table1.csv, tables.smk)
STEPS tabulate_ablation; tabulate_low_resource, plot_low_resource; trace_rewards, plot_rewards;
      measure_hacking, judge_claims
"""


localrules:
    tabulate_ablation,
    tabulate_low_resource,
    plot_low_resource,
    plot_rewards,


rule tabulate_ablation:
    """Every arm on all data, mean and spread over seeds, beside the paper's Table 2."""
    input:
        scores=step_reward_scores("table2"),
        curves=rl_curves("table2"),
    output:
        table=report(
            "results/step_reward/table2.csv",
            caption="../report/step_reward-table2.rst",
            category="Step rewards",
            labels={"what": "Table 2, ablation"},
        ),
    log:
        "results/logs/tabulate_ablation.log",
    conda:
        "../../envs/tables.yaml"
    params:
        cfg=as_text(arms=ARMS, asked=config["step_reward"]["table2"]["arms"], scale=config["scale"]),
        code=script_code("tabulate_ablation.py"),
    script:
        "../scripts/tabulate_ablation.py"


rule tabulate_low_resource:
    """SFT and SFT + RL by share of the training dialogues."""
    input:
        scores=step_reward_scores("figure3"),
        curves=rl_curves("figure3"),
        subsets=subset_files("figure3"),
    output:
        table="results/step_reward/figure3.csv",
    log:
        "results/logs/tabulate_low_resource.log",
    conda:
        "../../envs/tables.yaml"
    params:
        cfg=as_text(arms=ARMS, scale=config["scale"]),
        code=script_code("tabulate_low_resource.py"),
    script:
        "../scripts/tabulate_low_resource.py"


rule plot_low_resource:
    """Figure 3."""
    input:
        table=rules.tabulate_low_resource.output.table,
    output:
        figure=report(
            "results/step_reward/figure3.svg",
            caption="../report/step_reward-figure3.rst",
            category="Step rewards",
            labels={"what": "Figure 3, low-resource"},
        ),
    log:
        "results/logs/plot_low_resource.log",
    conda:
        "../../envs/tables.yaml"
    params:
        code=script_code("plot_low_resource.py"),
    script:
        "../scripts/plot_low_resource.py"


rule trace_rewards:
    """The rewards after every token of one turn that the RL model wrote."""
    input:
        unpack(traced_files),
    output:
        table="results/step_reward/figure5.csv",
    log:
        "results/logs/trace_rewards.log",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=2000,
    params:
        cfg=as_text(reward=config["reward"]),
        code=script_code("trace_rewards.py"),
    script:
        "../scripts/trace_rewards.py"


rule plot_rewards:
    """Figure 5."""
    input:
        table=rules.trace_rewards.output.table,
    output:
        figure=report(
            "results/step_reward/figure5.svg",
            caption="../report/step_reward-figure5.rst",
            category="Step rewards",
            labels={"what": "Figure 5, rewards by token"},
        ),
    log:
        "results/logs/plot_rewards.log",
    conda:
        "../../envs/tables.yaml"
    params:
        code=script_code("plot_rewards.py"),
    script:
        "../scripts/plot_rewards.py"


rule measure_hacking:
    """Lengths, numbers of pairs and placeholders, and their precision, of every run and of the gold side."""
    input:
        golds=expand("results/corpora/{dataset}/test.parquet", dataset=artefact_corpora("table2")),
        predictions=step_reward_predictions("table2"),
    output:
        table="results/step_reward/hacking.csv",
    log:
        "results/logs/measure_hacking.log",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=2000,
    params:
        cfg=as_text(corpora=artefact_corpora("table2")),
        code=script_code("measure_hacking.py"),
    script:
        "../scripts/measure_hacking.py"


rule judge_claims:
    """Differences between runs on the same dialogues, and a verdict on each claim."""
    input:
        golds=expand("results/corpora/{dataset}/test.parquet", dataset=judged_corpora()),
        others=[
            file
            for artefact in ("table2", "figure3")
            for file in step_reward_golds(artefact)
            if file.endswith(".json")
        ],
        scores=step_reward_scores("table2") + step_reward_scores("figure3"),
        curves=rl_curves("table2") + rl_curves("figure3"),
        predictions=step_reward_predictions("table2") + step_reward_predictions("figure3"),
        hacking=rules.measure_hacking.output.table,
    output:
        claims=report(
            "results/step_reward/claims.md",
            caption="../report/step_reward-claims.rst",
            category="Step rewards",
            labels={"what": "claims and verdicts"},
        ),
    log:
        "results/logs/judge_claims.log",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=4000,
        runtime="2h",
    params:
        cfg=as_text(
            arms=ARMS,
            scale=config["scale"],
            bootstrap=config["bootstrap"],
            evaluators={dataset: config[dataset]["evaluator"] for dataset in judged_corpora()},
            rl={dataset: told_settings(dataset) for dataset in judged_corpora()},
        ),
        code=script_code("judge_claims.py"),
    script:
        "../scripts/judge_claims.py"
