"""What a trained model says on the test split, and what that scores.

IN    a checkpoint, of SFT (stage sft) or of an arm of RL (stage rl-<arm>); results/corpora/{dataset}/test.parquet
OUT   results/{dataset}/{backbone}/seed{seed}{part}/{stage}/test-{context}.parquet and
      test-{context}.{evaluator}.score.json beside it
STEPS generate_responses; score_responses (In-Car, self-play), score_multiwoz
"""


rule generate_responses:
    """Belief state, act and response of every turn, after its own (generated) or the gold previous turn."""
    input:
        **checkpoint("{stage}"),
        turns="results/corpora/{dataset}/test.parquet",
    output:
        predictions="results/{dataset}/{backbone}/seed{seed}{part}/{stage}/test-{context}.parquet",
    log:
        "results/logs/generate_responses/{dataset}-{backbone}-{seed}{part}-{stage}-{context}.log",
    benchmark:
        "results/benchmarks/generate_responses/{dataset}-{backbone}-{seed}{part}-{stage}-{context}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["generate"]["threads"]
    resources:
        gpu=gpus(),
        mem_mb=model_memory(2000),
    params:
        cfg=lambda wildcards: as_text(
            context=wildcards.context,
            batch_size=config["generate"]["batch_size"],
            threads=config["generate"]["threads"],
            max_new_tokens=config[wildcards.dataset]["max_new_tokens"],
            device=config["device"],
        ),
        code=code("todflow.seq2seq.generate"),
        folder=subpath(input.model, parent=True),
    shell:
        "python -m todflow.seq2seq.generate --config {params.cfg:q} --model {params.folder:q}"
        " --turns {input.turns:q} --out {output.predictions:q} --log {log:q}"


rule score_responses:
    """The corpus' evaluator, with bootstrap intervals over dialogues."""
    input:
        unpack(evaluation_file),
        gold="results/corpora/{dataset}/test.parquet",
        predictions=rules.generate_responses.output.predictions,
    output:
        score="results/{dataset}/{backbone}/seed{seed}{part}/{stage}/test-{context}.{evaluator}.score.json",
    log:
        "results/logs/score_responses/{dataset}-{backbone}-{seed}{part}-{stage}-{context}-{evaluator}.log",
    wildcard_constraints:
        dataset="incar|selfplay",
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(evaluator=wildcards.evaluator, **config["bootstrap"]),
        code=code("todflow.score"),
        entities=lambda wildcards, input: (
            f"--entities {input.entities}" if "entities" in input.keys() else ""
        ),
    shell:
        "python -m todflow.score --config {params.cfg:q} --gold {input.gold:q} {params.entities}"
        " --predictions {input.predictions:q} --out {output.score:q} --log {log:q}"


rule score_multiwoz:
    """One of MultiWOZ's evaluators; a prediction is scored by several, each in a job of its own."""
    input:
        gold=lambda wildcards: (
            f"results/corpora/{gold_corpus(wildcards.evaluator, wildcards.dataset)}/test.parquet"
        ),
        database="results/corpora/{dataset}/database.json",
        predictions=rules.generate_responses.output.predictions,
    output:
        score="results/{dataset}/{backbone}/seed{seed}{part}/{stage}/test-{context}.{evaluator}.score.json",
    log:
        "results/logs/score_multiwoz/{dataset}-{backbone}-{seed}{part}-{stage}-{context}-{evaluator}.log",
    wildcard_constraints:
        dataset="|".join(MULTIWOZ),
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(name=wildcards.evaluator, **config["bootstrap"]),
        code=code("todflow.score_multiwoz"),
    shell:
        "python -m todflow.score_multiwoz --config {params.cfg:q} --gold {input.gold:q}"
        " --database {input.database:q} --predictions {input.predictions:q} --out {output.score:q}"
        " --log {log:q}"
