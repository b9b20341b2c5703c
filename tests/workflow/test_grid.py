"""The grid of runs, from dry runs: how many, on what data, with which settings."""

import json
import re

import pytest

pytestmark = pytest.mark.workflow


@pytest.mark.parametrize(
    ("target", "overlay", "expected"),
    [
        (
            "results/table1.csv",
            "config/real.yaml",
            {"pretrain_sft": 1, "train_sft": 4, "train_rl": 4, "generate_responses": 16}
            | {"prepare_incar": 1, "prepare_multiwoz": 2, "score_responses": 12, "score_multiwoz": 16},
        ),
        (
            # The ablation has 8 arms with 3 seeds, the low-resource study 6 shares with 5.
            "all",
            "config/real.yaml",
            {"draw_subset": 30, "train_sft": 34, "train_rl": 64, "plot_curve": 98},
        ),
        (
            "results/table1.csv",
            "config/paper.yaml",
            {"pretrain_sft": None, "train_sft": 30, "train_rl": 30, "generate_responses": 120}
            | {"score_multiwoz": 320},
        ),
        (
            "all",
            "config/paper.yaml",
            {"draw_subset": 30, "train_sft": 90, "train_rl": 160},
        ),
    ],
)
def test_plan_of_the_overlays(project, target, overlay, expected):
    planned = project.plan(target, overlay)
    assert {rule: planned.get(rule) for rule in expected} == expected
    assert planned["simulate_dialogues"] == 16


def settings(output: str, module: str) -> dict:
    """What a printed command of a stage has as its --config; all its commands must agree."""
    found = set(re.findall(rf"python -m {module} --config '(.*?)' --", output))
    assert len(found) == 1, output
    return json.loads(found.pop())


def test_paper_scale_trains_on_gpus_with_the_papers_settings(project):
    run = "results/multiwoz20/flan-t5-large/seed3/rl-tod/model.safetensors"
    done = project.snakemake(run, "-n", "-p", "--quiet", "host", config="config/paper.yaml")
    assert "gpu=1" in done.stdout
    assert "google/flan-t5-large" in done.stdout
    rl = settings(done.stdout, "todflow.nlpo.train_multiwoz")["rl"]
    paper = {"episodes": 20000, "epochs": 5, "minibatch_turns": 8, "learning_rate": 2e-6}
    paper |= {"top_k": 50, "kl_coef": 0.01, "kl_rate": 0.2}
    assert {key: rl[key] for key in paper} == paper


def planned_settings(project, part: str, arm: str, config: str = "") -> dict:
    (project.folder / "mine.yaml").write_text(config)
    run = f"results/selfplay/scratch-small/seed1{part}/rl-{arm}/model.safetensors"
    done = project.snakemake(run, "-n", "-p", "--quiet", "host", config="mine.yaml")
    return settings(done.stdout, "todflow.nlpo.train")


def test_an_arm_lays_its_settings_over_those_of_the_corpus_and_of_all(project):
    config = (
        "rl: {learning_rate: 0.25, kl_coef: 0.5, clip: 0.5,"
        " arms: {mine: {clip: 0.75, alpha: 2, step: level}}}\n"
        "selfplay: {rl: {kl_coef: 0.125, step: absorb}}\n"
    )
    found = planned_settings(project, "", "mine", config)
    rl = found["rl"]
    assert (rl["learning_rate"], rl["kl_coef"], rl["clip"], rl["step"]) == (0.25, 0.125, 0.75, "level")
    assert found["reward"]["alpha"] == 2 and found["reward"]["beta"] == 1.0
    assert not {"arms", "min_episodes", "alpha"} & set(rl)
    # Another arm knows nothing of it.
    other = planned_settings(project, "", "fp", config)
    assert other["rl"]["clip"] == 0.5 and other["rl"]["step"] == "absorb"
    assert other["reward"] == found["reward"] | {"alpha": 1.0, "fp_penalty": True}


@pytest.mark.parametrize(
    ("part", "expected"), [("", 1000), ("-share50", 500), ("-share05", 200), ("-share99", 990)]
)
def test_a_run_on_a_share_has_its_share_of_the_episodes_but_not_too_few(project, part, expected):
    found = planned_settings(project, part, "tod", "rl: {episodes: 1000, min_episodes: 200}\n")
    assert found["rl"]["episodes"] == expected


def test_no_run_has_more_episodes_than_one_on_all_data(project):
    found = planned_settings(project, "-share05", "tod", "rl: {episodes: 100, min_episodes: 200}\n")
    assert found["rl"]["episodes"] == 100


def test_both_stages_of_a_run_learn_from_the_same_share(project):
    run = "results/selfplay/scratch-small/seed7-share20/rl-tod/model.safetensors"
    done = project.snakemake(run, "-n", "-p", "--quiet", "host", config=None)
    trained = re.findall(r"python -m (todflow\.\w+\.train) .*--train (\S+)", done.stdout)
    share = "results/corpora/selfplay/subsets/seed7-share20.parquet"
    assert sorted(trained) == [("todflow.nlpo.train", share), ("todflow.seq2seq.train", share)]
    assert done.stdout.count(f"--out {share}") == 1
