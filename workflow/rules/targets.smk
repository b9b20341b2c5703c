"""What the config asks for: the files to be made, by kind, and the files of others that some are made from."""


def evaluators(dataset):
    """Names of the scores that a corpus' test split gets."""
    section = config[dataset]
    return section["evaluators"] if dataset in MULTIWOZ else [section["evaluator"]]


def gold_corpus(evaluator, dataset):
    """Whose test split is the gold side of a MultiWOZ score of a system trained on `dataset`.

    The standard evaluator has one set of goals and references, MultiWOZ 2.1's, whatever the
    training data; the legacy ones take their corpus' own.
    """
    return "multiwoz21" if evaluator.startswith("standard") else dataset


def score_files():
    return each(tabulated_runs(), f"{RUN}/test-{{context}}.{{evaluator}}.score.json")


def curve_figures():
    return each(asked_runs(), f"{RUN}/curve.svg")


def metric_files():
    return expand(
        "results/simulate/hdc/{setting}/metrics.json",
        setting=config["simulate"]["settings"],
    )


def published_outputs():
    """System -> its file of outputs, for each of the config's whose file is there."""
    folder = config["rescore"]["folder"]
    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise WorkflowError(f"config: 'rescore.folder': there is no folder '{folder}'")
    found = {}
    for system in config["rescore"]["systems"]:
        files = [Path(folder, system + ending) for ending in (".json", ".json.gz")]
        if file := next(filter(Path.is_file, files), None):
            found[system] = str(file)
        else:
            logger.warning(f"rescore: no {files[0].name} or {files[1].name} in {folder}")
    return found


OUTPUTS = published_outputs()


def output_notes():
    """For each of the config's systems, its corpus and why its outputs can't be scored, if so."""
    missing = (
        "the folder of outputs has no such file"
        if config["rescore"]["folder"]
        else "no folder with published outputs is given (config: rescore.folder)"
    )
    return {
        system: {"corpus": corpus, "missing": "" if system in OUTPUTS else missing}
        for system, corpus in config["rescore"]["systems"].items()
    }


def rescored_files():
    return expand(
        "results/rescored/{system}.{evaluator}.score.json",
        system=OUTPUTS,
        evaluator=config["rescore"]["evaluators"],
    )


def rescored_gold(wildcards):
    """What a score of published outputs is made from."""
    corpus = config["rescore"]["systems"][wildcards.system]
    return {
        "gold": f"results/corpora/{gold_corpus(wildcards.evaluator, corpus)}/test.parquet",
        "database": f"results/corpora/{corpus}/database.json",
        "predictions": OUTPUTS[wildcards.system],
    }


def corpora_in_use():
    """The corpora to train on, and those whose test split a score takes as gold."""
    golds = [
        gold_corpus(evaluator, dataset)
        for dataset in config["corpora"]
        if dataset in MULTIWOZ
        for evaluator in evaluators(dataset)
    ]
    golds += [
        gold_corpus(evaluator, config["rescore"]["systems"][system])
        for system in OUTPUTS
        for evaluator in config["rescore"]["evaluators"]
    ]
    return list(dict.fromkeys(config["corpora"] + golds))


def corpus_files():
    """Every table of turns that is used, and the files that they are made from."""
    tables = expand(
        "results/corpora/{dataset}/{split}.parquet",
        dataset=corpora_in_use(),
        split=SPLITS,
    )
    raw = {"incar": [f"results/raw/{config['incar']['archive']}"]}
    for dataset in MULTIWOZ:
        raw[dataset] = [f"results/raw/{dataset}.{end}" for end in ("zip", "acts_provenance.tsv.gz")]
    return tables + [file for name in corpora_in_use() for file in raw.get(name, [])]


def benchmark_files():
    """Time and memory of every heavy job."""
    name = "{dataset}-{backbone}-{seed}{part}"
    generated = f"results/benchmarks/generate_responses/{name}-{{stage}}-"
    asked = asked_runs()
    arms = [
        run | {"arm": run["stage"].removeprefix("rl-")} for run in asked if run["stage"] != "sft"
    ]
    supervised = [run for run in asked if run["stage"] == "sft"]
    return (
        each(supervised, f"results/benchmarks/train_sft/{name}.tsv")
        + each(arms, f"results/benchmarks/train_rl/{name}-{{arm}}.tsv")
        + each(tabulated_runs(), f"{generated}{{context}}.tsv")
        + expand(
            "results/benchmarks/simulate_dialogues/hdc-{setting}-{shard}.tsv",
            setting=config["simulate"]["settings"],
            shard=range(config["simulate"]["shards"]),
        )
    )
