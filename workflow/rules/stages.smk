"""What the training stages read: which module they run, their settings, the checkpoint that they start from."""

# The stages that train on each corpus. The digests are taken here already, for the provenance.
TRAINERS = {
    dataset: "todflow.seq2seq.train" + ("_multiwoz" if dataset in MULTIWOZ else "")
    for dataset in CORPORA
}
TRAINER_CODE = {dataset: code(module) for dataset, module in TRAINERS.items()}
RL_TRAINERS = {
    dataset: "todflow.nlpo.train" + ("_multiwoz" if dataset in MULTIWOZ else "")
    for dataset in CORPORA
}
RL_TRAINER_CODE = {dataset: code(module) for dataset, module in RL_TRAINERS.items()}


def train_settings(wildcards):
    """What training reads from the config, but for the choice of a corpus to begin with."""
    settings = sft_settings(wildcards.dataset)
    return as_text(
        seed=int(wildcards.seed),
        backbone=config["backbone"][wildcards.backbone],
        device=config["device"],
        max_new_tokens=config[wildcards.dataset]["max_new_tokens"],
        evaluator=config[wildcards.dataset]["evaluator"],
        **{key: settings[key] for key in settings if not key.startswith("pretrain")},
    )


def pretrain_settings(wildcards):
    """The same for the corpus to begin with: all of its epochs, scored once, after the last."""
    settings = json.loads(train_settings(wildcards))
    epochs = sft_settings(wildcards.dataset)["pretrain_epochs"]
    return as_text(
        **settings
        | {"epochs": epochs, "evaluate_from": epochs, "evaluate_every": 1, "average": 1}
        | {"evaluator": "selfplay", "max_new_tokens": config["selfplay"]["max_new_tokens"]}
    )


def pretrained_files(wildcards):
    """The checkpoint that training starts from, if it doesn't start from the backbone itself."""
    if wildcards.dataset == "selfplay" or not sft_settings(wildcards.dataset)["pretrain"]:
        return {}
    files = expand(list(checkpoint("pretrain").values()), **wildcards)
    return {"init": files[0], "init_others": files[1:]}


def episodes(settings, part):
    """Episodes of a run: on a share of the data that share of them, but no fewer than `min_episodes`."""
    if not part:
        return settings["episodes"]
    scaled = settings["episodes"] * int(part.removeprefix("-share")) // 100
    return min(settings["episodes"], max(settings["min_episodes"], scaled))


def told_settings(dataset):
    """The settings of RL that claims.md tells, those of its main arm."""
    settings = config["rl"] | config[dataset]["rl"] | config["rl"]["arms"].get("tod", {})
    told = ("context", "step", "lam", "learning_rate", "kl_coef", "kl_target", "sft_weight")
    return {name: settings[name] for name in told}


def rl_settings(wildcards):
    """What a run reads from the config: an arm's own settings over the corpus' over all others."""
    corpus = config[wildcards.dataset]
    settings = config["rl"] | corpus["rl"]
    own = settings["arms"][wildcards.arm]
    settings["episodes"] = episodes(settings, wildcards.part)
    return as_text(
        seed=int(wildcards.seed),
        device=config["device"],
        dataset=wildcards.dataset,
        evaluator=corpus["evaluator"],
        max_new_tokens=corpus["max_new_tokens"],
        rl={
            key: own.get(key, value)
            for key, value in settings.items()
            if key not in ("arms", "min_episodes")
        },
        reward={key: own.get(key, value) for key, value in config["reward"].items()},
    )


def curve_title(wildcards):
    """What stands above the picture of a run."""
    words = [wildcards.dataset, wildcards.backbone, f"seed {wildcards.seed}"]
    if wildcards.part:
        words.append(f"{int(wildcards.part.removeprefix('-share'))} % of the dialogues")
    stage, _, arm = wildcards.stage.partition("-")
    return ", ".join([f"{stage.upper()} {arm}".rstrip(), *words])
