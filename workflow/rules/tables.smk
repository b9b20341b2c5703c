"""All measurements beside all published figures.

IN    score.json of every run and of published outputs, metrics.json of every simulation; the papers'
      figures lie in the package
OUT   results/table1.{csv,html,svg}, results/{step_reward,react}/table1.csv, results/provenance.json,
      results/config.yaml
STEPS tabulate_results, plot_results, write_provenance
"""


rule tabulate_results:
    """One row per paper, system, dataset and metric; and each paper's Table 1 in its own form."""
    input:
        scores=score_files(),
        rescored=rescored_files(),
        training=expand(
            "results/corpora/{dataset}/train.parquet",
            dataset=[dataset for dataset in config["corpora"] if dataset in MULTIWOZ],
        ),
        simulations=metric_files(),
    output:
        table=report(
            "results/table1.csv",
            caption="../report/table1-csv.rst",
            category="Table 1",
            labels={"what": "all rows, tidy"},
        ),
        step_reward=report(
            "results/step_reward/table1.csv",
            caption="../report/step_reward-csv.rst",
            category="Table 1",
            labels={"what": "step-reward paper"},
        ),
        react=report(
            "results/react/table1.csv",
            caption="../report/react-csv.rst",
            category="Table 1",
            labels={"what": "ReAct paper"},
        ),
        page=report(
            "results/table1.html",
            caption="../report/table1-html.rst",
            category="Table 1",
            labels={"what": "page"},
        ),
    log:
        "results/logs/tabulate_results.log",
    conda:
        "../../envs/tables.yaml"
    params:
        cfg=as_text(
            scale=config["scale"],
            backbone=config["backbone"],
            outputs=output_notes(),
            pretrained={
                dataset: sft_settings(dataset)["pretrain"]
                for dataset in config["corpora"]
                if dataset != "selfplay"
            },
            arms=config["rl"]["arms"],
            episodes={
                dataset: (config["rl"] | config[dataset]["rl"])["episodes"]
                for dataset in config["corpora"]
            },
        ),
        code=script_code("tabulate_results.py"),
    script:
        "../scripts/tabulate_results.py"


rule plot_results:
    """Published against reproduced, with intervals."""
    input:
        table=rules.tabulate_results.output.table,
    output:
        figure=report(
            "results/table1.svg",
            caption="../report/table1-svg.rst",
            category="Table 1",
            labels={"what": "picture"},
        ),
    log:
        "results/logs/plot_results.log",
    conda:
        "../../envs/tables.yaml"
    params:
        code=script_code("plot_results.py"),
    script:
        "../scripts/plot_results.py"


rule write_provenance:
    """Config, code, packages, data and wall times behind the numbers."""
    input:
        data=corpus_files(),
        benchmarks=benchmark_files(),
        lock=os.path.relpath(ROOT / "requirements.lock"),
    output:
        provenance=report(
            "results/provenance.json",
            caption="../report/provenance-json.rst",
            category="Provenance",
        ),
        config="results/config.yaml",
    log:
        "results/logs/write_provenance.log",
    conda:
        "../../envs/tables.yaml"
    params:
        cfg=as_text(**config),
        code=script_code("write_provenance.py"),
        digests=as_text(**DIGESTS),
        root=os.path.relpath(ROOT),
    script:
        "../scripts/write_provenance.py"
