"""Whole dialogues against ConvLab's agenda-based user, and what they score.

IN    results/convlab/manifest.json
OUT   results/simulate/{system}/{setting}/{transcripts.parquet,dialogues.parquet,metrics.json}
STEPS simulate_dialogues (one job a shard), measure_simulation
"""


rule simulate_dialogues:
    """One share of the simulated dialogues, their goals fixed by the seed."""
    input:
        convlab=rules.assemble_convlab.output.manifest,
    output:
        transcripts="results/simulate/{system}/{setting}/shards/{shard}.transcripts.parquet",
        dialogues="results/simulate/{system}/{setting}/shards/{shard}.dialogues.parquet",
    log:
        "results/logs/simulate_dialogues/{system}-{setting}-{shard}.log",
    benchmark:
        "results/benchmarks/simulate_dialogues/{system}-{setting}-{shard}.tsv"
    wildcard_constraints:
        system="hdc",
    conda:
        "../../envs/simulate.yaml"
    params:
        cfg=lambda wildcards: as_text(
            system=wildcards.system,
            setting=config["simulate"]["settings"][wildcards.setting],
            dialogues=config["simulate"]["dialogues"],
            seed=config["simulate"]["seed"],
            shards=config["simulate"]["shards"],
            shard=int(wildcards.shard),
        ),
        code=code("todflow.simulate"),
    shell:
        "python -m todflow.simulate --config {params.cfg:q} --convlab {input.convlab:q}"
        " --out {output.transcripts:q} --results {output.dialogues:q} --log {log:q}"


rule measure_simulation:
    """Rates and means over all dialogues, each with its interval."""
    input:
        transcripts=expand(
            rules.simulate_dialogues.output.transcripts,
            shard=range(config["simulate"]["shards"]),
            allow_missing=True,
        ),
        dialogues=expand(
            rules.simulate_dialogues.output.dialogues,
            shard=range(config["simulate"]["shards"]),
            allow_missing=True,
        ),
    output:
        transcripts="results/simulate/{system}/{setting}/transcripts.parquet",
        dialogues="results/simulate/{system}/{setting}/dialogues.parquet",
        metrics="results/simulate/{system}/{setting}/metrics.json",
    log:
        "results/logs/measure_simulation/{system}-{setting}.log",
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(
            system=wildcards.system,
            setting=wildcards.setting,
            definition=config["simulate"]["settings"][wildcards.setting],
            dialogues=config["simulate"]["dialogues"],
            seed=config["simulate"]["seed"],
            bootstrap=config["bootstrap"],
        ),
        code=code("todflow.simulation_metrics"),
        folder=subpath(output.metrics, parent=True),
    shell:
        "python -m todflow.simulation_metrics --config {params.cfg:q} --shards {input.transcripts:q}"
        " --results {input.dialogues:q} --out {params.folder:q} --log {log:q}"
