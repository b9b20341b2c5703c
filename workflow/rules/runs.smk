"""The training runs that the config asks for, and which artefact is made of which.

A run is the wildcards of its folder: dataset, backbone, seed, part ("" or "-share05", say), stage (sft or rl-<arm>).
"""

RUN = "results/{dataset}/{backbone}/seed{seed}{part}/{stage}"


def supervised_runs():
    """The SFT runs that the config asks for, each as its wildcards."""
    return [
        dict(dataset=dataset, backbone=backbone, seed=seed, part="", stage="sft")
        for dataset in config["corpora"]
        for backbone in backbones(dataset)
        for seed in seeds(dataset)
    ]


def artefact_corpora(artefact):
    """Its corpora that are in use. Figure 5 draws one system, on the first of them."""
    used = [
        name for name in config["step_reward"][artefact]["corpora"] if name in config["corpora"]
    ]
    return used[:1] if artefact == "figure5" else used


def step_reward_runs(artefact, sft=True):
    """The runs that an artefact under results/step_reward/ is made of, SFT first; [] if none."""
    section = config["step_reward"][artefact]
    runs = []
    for dataset in artefact_corpora(artefact):
        own_seeds = section.get("seeds") or seeds(dataset)
        own_backbones = section.get("backbones") or backbones(dataset)
        grid = [("", seed) for seed in own_seeds]
        if artefact == "figure3":
            grid = [
                (f"-share{share:02d}", seed)
                for group in section["runs"]
                for share in group["shares"]
                for seed in group["seeds"]
            ]
        if artefact == "figure5":
            own_backbones, grid = own_backbones[:1], grid[:1]
        runs += [
            dict(dataset=dataset, backbone=backbone, seed=seed, part=part, stage=stage)
            for stage in ["sft", *(f"rl-{arm}" for arm in section["arms"])]
            for backbone in own_backbones
            for part, seed in dict.fromkeys(grid)
        ]
    runs.sort(key=lambda run: run["stage"] != "sft")
    return [run for run in runs if sft or run["stage"] != "sft"]


def tabulated_runs():
    """The runs that are rows of Table 1."""
    return supervised_runs() + step_reward_runs("table1", sft=False)


def asked_runs():
    """Every run that the config asks for, for one artefact or another."""
    runs = supervised_runs()
    for artefact in config["step_reward"]:
        runs += step_reward_runs(artefact)
    return runs


def each(runs, pattern):
    """`pattern` for every one of `runs`, with their test contexts and scores where it has such."""
    paths = [
        path
        for run in runs
        for path in expand(
            pattern,
            **run,
            context=config["generate"]["contexts"],
            evaluator=evaluators(run["dataset"]),
        )
    ]
    return list(dict.fromkeys(paths))  # a pattern without {context} would come once for each


def step_reward_scores(artefact):
    """The scores of an artefact's runs by the evaluator that their models were chosen by."""
    return [
        f"{RUN}/test-generated.{config[run['dataset']]['evaluator']}.score.json".format(**run)
        for run in step_reward_runs(artefact)
    ]


def step_reward_predictions(artefact):
    """What an artefact's runs say on the test split, in the order of their scores."""
    return [f"{RUN}/test-generated.parquet".format(**run) for run in step_reward_runs(artefact)]


def step_reward_golds(artefact):
    """The test split of an artefact's corpora, and what their evaluators need besides."""
    others = {"incar": ["entities.json"]} | dict.fromkeys(MULTIWOZ, ["database.json"])
    return [
        f"results/corpora/{dataset}/{name}"
        for dataset in artefact_corpora(artefact)
        for name in ["test.parquet", *others.get(dataset, [])]
    ]


ARMS = config["rl"]["arms"]


def rl_curves(artefact):
    """The curves of an artefact's RL runs."""
    return each(step_reward_runs(artefact, sft=False), f"{RUN}/curve.csv")


def subset_files(artefact):
    """The training tables of an artefact's runs on a share of the data."""
    table = "results/corpora/{dataset}/subsets/seed{seed}{part}.parquet"
    return each([run for run in step_reward_runs(artefact) if run["part"]], table)


def judged_corpora():
    """Corpora whose runs the claims are about."""
    return list(dict.fromkeys(artefact_corpora("table2") + artefact_corpora("figure3")))


def traced_run():
    """The run whose turn Figure 5 shows: the first arm's; None without any."""
    return next(iter(step_reward_runs("figure5", sft=False)), None)


def traced_files(wildcards):
    """What Figure 5 is made of; nothing without a run."""
    run = traced_run()
    if run is None:
        return {}
    folder = RUN.format(**run)
    return {
        "gold": f"results/corpora/{run['dataset']}/test.parquet",
        "predictions": f"{folder}/test-generated.parquet",
        "tokenizer": f"{folder}/tokenizer.json",
        "tokenizer_config": f"{folder}/tokenizer_config.json",
        "config": f"{folder}/config.json",
    }


def step_reward_outputs():
    """All artefacts of the paper but its Table 1."""
    names = ["table2.csv", "figure3.csv", "figure3.svg", "figure5.csv", "figure5.svg"]
    return [f"results/step_reward/{name}" for name in [*names, "hacking.csv", "claims.md"]]
