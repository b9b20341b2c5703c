"""From a public release, or from nothing at all, to one table of turns per corpus and split.

IN    the releases of In-Car and MultiWOZ (downloaded, or copied from TODFLOW_DATA_MIRROR); the convlab package
OUT   results/corpora/{dataset}/{split}.parquet, one row a turn (columns: todflow.corpora.turns)
STEPS fetch_incar, prepare_incar;  fetch_multiwoz, fetch_act_sources, prepare_multiwoz;
      assemble_convlab, play_selfplay, split_selfplay
"""


rule fetch_incar:
    """The official In-Car archive, its size and SHA-256 checked.

    No digest of its code: whatever the code, the bytes are those with the hash. A re-run would begin by
    deleting an archive that is good.
    """
    output:
        archive=f"results/raw/{config['incar']['archive']}",
    log:
        "results/logs/fetch_incar.log",
    benchmark:
        "results/benchmarks/fetch_incar.tsv"
    conda:
        "../../envs/data.yaml"
    params:
        cfg=as_text(
            **{
                key: config["incar"][key]
                for key in ["archive", "mirror_path", "url", "size", "sha256"]
            }
        ),
    shell:
        "python -m todflow.corpora.fetch --config {params.cfg:q} --out {output.archive:q} --log {log:q}"


rule prepare_incar:
    """Clean, lemmatise and delexicalise In-Car; belief spans; the entity map."""
    input:
        archive=rules.fetch_incar.output.archive,
    output:
        train="results/corpora/incar/train.parquet",
        valid="results/corpora/incar/valid.parquet",
        test="results/corpora/incar/test.parquet",
        entities="results/corpora/incar/entities.json",
    log:
        "results/logs/prepare_incar.log",
    benchmark:
        "results/benchmarks/prepare_incar.tsv"
    conda:
        "../../envs/data.yaml"
    params:
        cfg=as_text(sha256=config["incar"]["sha256"]),
        code=code("todflow.corpora.incar.prepare"),
    shell:
        "python -m todflow.corpora.incar.prepare --config {params.cfg:q} --archive {input.archive:q} --train {output.train:q}"
        " --valid {output.valid:q} --test {output.test:q} --entities {output.entities:q} --log {log:q}"


rule fetch_multiwoz:
    """The archive of MultiWOZ 2.0 or 2.1, its SHA-256 checked. No digest of its code, as above."""
    output:
        archive="results/raw/{dataset}.zip",
    log:
        "results/logs/fetch_multiwoz/{dataset}.log",
    benchmark:
        "results/benchmarks/fetch_multiwoz/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(MULTIWOZ),
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(
            archive=f"{wildcards.dataset}.zip",
            **{
                key: config[wildcards.dataset][key]
                for key in ["mirror_path", "url", "size", "sha256", "mirror_size", "mirror_sha256"]
            },
        ),
    shell:
        "python -m todflow.corpora.fetch --config {params.cfg:q} --out {output.archive:q} --log {log:q}"


rule fetch_act_sources:
    """Who annotated the archive's acts: the mirror's table, or just its header if official. No digest, as above.

    A rule of its own, so that an archive put in place by hand isn't deleted for want of this table.
    """
    input:
        archive=ancient(rules.fetch_multiwoz.output.archive),  # its date says nothing about its edition
    output:
        acts="results/raw/{dataset}.acts_provenance.tsv.gz",
    log:
        "results/logs/fetch_act_sources/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(MULTIWOZ),
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(
            **{
                f"mirror_{key}": config[wildcards.dataset][f"mirror_{key}"]
                for key in ["sha256", "acts", "acts_size", "acts_sha256"]
            },
        ),
    shell:
        "python -m todflow.corpora.multiwoz.act_sources --config {params.cfg:q} --archive {input.archive:q}"
        " --out {output.acts:q} --log {log:q}"


rule prepare_multiwoz:
    """Clean and delexicalise MultiWOZ in the DAMD manner; belief and act spans, turn domains; its database."""
    input:
        archive=rules.fetch_multiwoz.output.archive,
        acts=rules.fetch_act_sources.output.acts,
    output:
        train="results/corpora/{dataset}/train.parquet",
        valid="results/corpora/{dataset}/valid.parquet",
        test="results/corpora/{dataset}/test.parquet",
        database="results/corpora/{dataset}/database.json",
    log:
        "results/logs/prepare_multiwoz/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare_multiwoz/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(MULTIWOZ),
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(
            release=wildcards.dataset,
            **{
                key: config[wildcards.dataset][key]
                for key in ["sha256", "mirror_sha256", "mirror_acts_sha256"]
            },
        ),
        code=code("todflow.corpora.multiwoz.prepare"),
    shell:
        "python -m todflow.corpora.multiwoz.prepare --config {params.cfg:q} --archive {input.archive:q} --acts {input.acts:q}"
        " --train {output.train:q} --valid {output.valid:q} --test {output.test:q} --database {output.database:q} --log {log:q}"


rule assemble_convlab:
    """The data folder that ConvLab looks for, from the package's own files and todflow's mappings."""
    output:
        manifest="results/convlab/manifest.json",
    log:
        "results/logs/assemble_convlab.log",
    conda:
        "../../envs/simulate.yaml"
    params:
        code=code("todflow.convlab_bridge.data"),
    shell:
        "python -m todflow.convlab_bridge.data --out {output.manifest:q} --log {log:q}"


rule play_selfplay:
    """One share of the self-play dialogues: agenda-based user, handcrafted policy, templates."""
    input:
        convlab=rules.assemble_convlab.output.manifest,
    output:
        shard="results/corpora/selfplay/shards/{shard}.parquet",
    log:
        "results/logs/play_selfplay/{shard}.log",
    benchmark:
        "results/benchmarks/play_selfplay/{shard}.tsv"
    priority: 1  # training takes longest and waits for it
    conda:
        "../../envs/simulate.yaml"
    params:
        cfg=lambda wildcards: as_text(
            dialogues=config["selfplay"]["dialogues"],
            seed=config["selfplay"]["seed"],
            shards=config["selfplay"]["shards"],
            shard=int(wildcards.shard),
        ),
        code=code("todflow.selfplay"),
    shell:
        "python -m todflow.selfplay --config {params.cfg:q} --convlab {input.convlab:q}"
        " --out {output.shard:q} --log {log:q}"


rule split_selfplay:
    """All shares together, split by goal."""
    input:
        shards=expand(rules.play_selfplay.output.shard, shard=range(config["selfplay"]["shards"])),
    output:
        train="results/corpora/selfplay/train.parquet",
        valid="results/corpora/selfplay/valid.parquet",
        test="results/corpora/selfplay/test.parquet",
        report="results/corpora/selfplay/report.json",
    log:
        "results/logs/split_selfplay.log",
    conda:
        "../../envs/data.yaml"
    params:
        cfg=as_text(dialogues=config["selfplay"]["dialogues"], seed=config["selfplay"]["seed"]),
        code=code("todflow.selfplay_merge"),
        folder=subpath(output.train, parent=True),
    shell:
        "python -m todflow.selfplay_merge --config {params.cfg:q} --shards {input.shards:q}"
        " --out {params.folder:q} --report {output.report:q} --log {log:q}"
