"""Reinforcement learning with step rewards (step-reward paper, section 4): from an SFT checkpoint, one run an arm.

IN    results/{dataset}/{backbone}/seed{seed}{part}/sft/: a checkpoint; the tables that it was trained on
OUT   results/{dataset}/{backbone}/seed{seed}{part}/rl-{arm}/: a checkpoint in the same format, curve.csv
STEPS train_rl
"""


rule train_rl:
    """NLPO from the SFT checkpoint of the same data and seed. Killed, it goes on from its last saved iteration."""
    input:
        unpack(evaluation_file),
        **checkpoint("sft"),
        train=training_table,
        valid="results/corpora/{dataset}/valid.parquet",
    output:
        **checkpoint("rl-{arm}"),
        curve="results/{dataset}/{backbone}/seed{seed}{part}/rl-{arm}/curve.csv",
    log:
        "results/logs/train_rl/{dataset}-{backbone}-{seed}{part}-{arm}.log",
    benchmark:
        "results/benchmarks/train_rl/{dataset}-{backbone}-{seed}{part}-{arm}.tsv"
    priority: 1
    conda:
        "../../envs/train.yaml"
    threads: lambda wildcards: (config["rl"] | config[wildcards.dataset]["rl"])["threads"]
    resources:
        gpu=gpus(),
        mem_mb=model_memory(4000),
        runtime="48h",
    params:
        cfg=rl_settings,
        module=lambda wildcards: RL_TRAINERS[wildcards.dataset],
        code=lambda wildcards: RL_TRAINER_CODE[wildcards.dataset],
        model=subpath(input.model, parent=True),
        folder=subpath(output.model, parent=True),
        state="results/state/{dataset}-{backbone}-seed{seed}{part}-rl-{arm}",
        options=lambda wildcards, input: evaluation_options(input),
    shell:
        "python -m {params.module} --config {params.cfg:q} --model {params.model:q}"
        " --train {input.train:q} --valid {input.valid:q} {params.options} --out {params.folder:q}"
        " --curve {output.curve:q} --state {params.state:q} --log {log:q}"
