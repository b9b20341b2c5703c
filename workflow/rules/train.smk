"""Supervised fine-tuning (step-reward paper, section 3.1): one model per corpus, backbone, seed and share of the corpus.

IN    results/corpora/{dataset}/{train,valid}.parquet
OUT   results/corpora/{dataset}/subsets/seed{seed}-share{share}.parquet, and in a folder of that name or of all data,
      results/{dataset}/{backbone}/seed{seed}{part}/, part being "" or "-share05", say:
      sft/: a checkpoint in transformers' format, curve.csv, curve.svg
      pretrain/: checkpoint and curve.csv, where sft.pretrain names a corpus to begin with
STEPS draw_subset (for shares), pretrain_sft (optional), train_sft, plot_curve
"""


rule draw_subset:
    """A share of the training dialogues; of one seed, a smaller share is part of every larger one."""
    input:
        turns="results/corpora/{dataset}/train.parquet",
    output:
        turns="results/corpora/{dataset}/subsets/seed{seed}-share{share}.parquet",
    log:
        "results/logs/draw_subset/{dataset}-{seed}-{share}.log",
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(seed=int(wildcards.seed), percent=int(wildcards.share)),
        code=code("todflow.subset"),
    shell:
        "python -m todflow.subset --config {params.cfg:q} --turns {input.turns:q}"
        " --out {output.turns:q} --log {log:q}"


rule pretrain_sft:
    """The same training on the self-play corpus, with the words and labels of the corpus that follows."""
    input:
        train="results/corpora/selfplay/train.parquet",
        valid="results/corpora/selfplay/valid.parquet",
        vocabulary=training_table,
    output:
        **checkpoint("pretrain"),
        curve="results/{dataset}/{backbone}/seed{seed}{part}/pretrain/curve.csv",
    log:
        "results/logs/pretrain_sft/{dataset}-{backbone}-{seed}{part}.log",
    benchmark:
        "results/benchmarks/pretrain_sft/{dataset}-{backbone}-{seed}{part}.tsv"
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
        state="results/state/{dataset}-{backbone}-seed{seed}{part}-pretrain",
    shell:
        "python -m todflow.seq2seq.train --config {params.cfg:q} --train {input.train:q}"
        " --valid {input.valid:q} --vocabulary {input.vocabulary:q} --out {params.folder:q}"
        " --curve {output.curve:q} --state {params.state:q} --log {log:q}"


rule train_sft:
    """Train with early stopping on validation Combined. Killed, it goes on from its last saved step."""
    input:
        unpack(evaluation_file),
        unpack(pretrained_files),
        train=training_table,
        valid="results/corpora/{dataset}/valid.parquet",
    output:
        **checkpoint("sft"),
        curve="results/{dataset}/{backbone}/seed{seed}{part}/sft/curve.csv",
    log:
        "results/logs/train_sft/{dataset}-{backbone}-{seed}{part}.log",
    benchmark:
        "results/benchmarks/train_sft/{dataset}-{backbone}-{seed}{part}.tsv"
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
        state="results/state/{dataset}-{backbone}-seed{seed}{part}-sft",
        options=lambda wildcards, input: (
            evaluation_options(input)
            + (f" --init {Path(input.init).parent}" if "init" in input.keys() else "")
        ),
    shell:
        "python -m {params.module} --config {params.cfg:q} --train {input.train:q}"
        " --valid {input.valid:q} {params.options} --out {params.folder:q} --curve {output.curve:q}"
        " --state {params.state:q} --log {log:q}"


rule plot_curve:
    """What a training run writes down as it goes: losses, rewards, validation scores."""
    input:
        curve="results/{dataset}/{backbone}/seed{seed}{part}/{stage}/curve.csv",
    output:
        figure=report(
            "results/{dataset}/{backbone}/seed{seed}{part}/{stage}/curve.svg",
            caption="../report/curve-svg.rst",
            category="Training",
            labels={
                "corpus": "{dataset}",
                "backbone": "{backbone}",
                "seed": "{seed}{part}",
                "stage": "{stage}",
            },
        ),
    log:
        "results/logs/plot_curve/{dataset}-{backbone}-{seed}{part}-{stage}.log",
    conda:
        "../../envs/tables.yaml"
    params:
        cfg=lambda wildcards: as_text(title=curve_title(wildcards), stage=wildcards.stage),
        code=script_code("plot_curve.py"),
    script:
        "../scripts/plot_curve.py"
