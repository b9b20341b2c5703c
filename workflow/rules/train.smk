"""Supervised fine-tuning (step-reward paper, section 3.1): one model per corpus, backbone and seed.

IN    results/corpora/{dataset}/{train,valid}.parquet
OUT   results/{dataset}/{backbone}/seed{seed}/sft/: a checkpoint in transformers' format, curve.csv, curve.svg
      results/{dataset}/{backbone}/seed{seed}/pretrain/: checkpoint and curve.csv, where sft.pretrain names a corpus to begin with
STEPS pretrain_sft (optional), train_sft, plot_curve
"""


rule pretrain_sft:
    """The same training on the self-play corpus, with the words and labels of the corpus that follows."""
    input:
        train="results/corpora/selfplay/train.parquet",
        valid="results/corpora/selfplay/valid.parquet",
        vocabulary="results/corpora/{dataset}/train.parquet",
    output:
        **checkpoint("pretrain"),
        curve="results/{dataset}/{backbone}/seed{seed}/pretrain/curve.csv",
    log:
        "results/logs/pretrain_sft/{dataset}-{backbone}-{seed}.log",
    benchmark:
        "results/benchmarks/pretrain_sft/{dataset}-{backbone}-{seed}.tsv"
    priority: 1
    conda:
        "../../envs/train.yaml"
    threads: lambda wildcards: sft_settings(wildcards.dataset)["threads"]
    resources:
        gpu=gpus(),
        mem_mb=model_memory(4000),
        runtime="24h",
    params:
        cfg=pretrain_settings,
        code=code("todflow.seq2seq.train"),
        folder=subpath(output.model, parent=True),
        state="results/state/{dataset}-{backbone}-seed{seed}-pretrain",
    shell:
        "python -m todflow.seq2seq.train --config {params.cfg:q} --train {input.train:q}"
        " --valid {input.valid:q} --vocabulary {input.vocabulary:q} --out {params.folder:q}"
        " --curve {output.curve:q} --state {params.state:q} --log {log:q}"


rule train_sft:
    """Train with early stopping on validation Combined. Killed, it goes on from its last saved step."""
    input:
        unpack(evaluation_file),
        unpack(pretrained_files),
        train="results/corpora/{dataset}/train.parquet",
        valid="results/corpora/{dataset}/valid.parquet",
    output:
        **checkpoint("sft"),
        curve="results/{dataset}/{backbone}/seed{seed}/sft/curve.csv",
    log:
        "results/logs/train_sft/{dataset}-{backbone}-{seed}.log",
    benchmark:
        "results/benchmarks/train_sft/{dataset}-{backbone}-{seed}.tsv"
    priority: 1
    conda:
        "../../envs/train.yaml"
    threads: lambda wildcards: sft_settings(wildcards.dataset)["threads"]
    resources:
        gpu=gpus(),
        mem_mb=model_memory(4000),
        runtime="24h",
    params:
        cfg=train_settings,
        module=lambda wildcards: TRAINERS[wildcards.dataset],
        code=lambda wildcards: TRAINER_CODE[wildcards.dataset],
        folder=subpath(output.model, parent=True),
        state="results/state/{dataset}-{backbone}-seed{seed}-sft",
        options=lambda wildcards, input: " ".join(
            ([f"--entities {input.entities}"] if "entities" in input.keys() else [])
            + ([f"--database {input.database}"] if "database" in input.keys() else [])
            + ([f"--init {Path(input.init).parent}"] if "init" in input.keys() else [])
        ),
    shell:
        "python -m {params.module} --config {params.cfg:q} --train {input.train:q}"
        " --valid {input.valid:q} {params.options} --out {params.folder:q} --curve {output.curve:q}"
        " --state {params.state:q} --log {log:q}"


rule plot_curve:
    """Losses and validation scores over training."""
    input:
        curve=rules.train_sft.output.curve,
    output:
        figure=report(
            "results/{dataset}/{backbone}/seed{seed}/sft/curve.svg",
            caption="../report/curve-svg.rst",
            category="Training",
            labels={"corpus": "{dataset}", "backbone": "{backbone}", "seed": "{seed}"},
        ),
    log:
        "results/logs/plot_curve/{dataset}-{backbone}-{seed}.log",
    conda:
        "../../envs/tables.yaml"
    params:
        cfg=lambda wildcards: as_text(
            title=f"SFT, {wildcards.dataset}, {wildcards.backbone}, seed {wildcards.seed}"
        ),
        code=script_code("plot_curve.py"),
    script:
        "../scripts/plot_curve.py"
