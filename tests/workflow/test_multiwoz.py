"""MultiWOZ through the rules: from the archives to the table, and what a change makes stale.

The archives are prepared whole; then the tables are cut, so that training and tests take seconds.
"""

import gzip
import json
import re

import pandas as pd
import pytest
import yaml

pytestmark = pytest.mark.workflow
TINY = "tests/config/tiny.yaml"
DIALOGUES = {"train": 40, "valid": 3, "test": 20}
CONFIG = {
    "corpora": ["multiwoz20"],
    "multiwoz20": {"max_new_tokens": 8, "evaluators": ["standard-v1", "legacy-pred"]},
    "rescore": {"folder": "outputs", "evaluators": ["standard-v1", "legacy-nogate"]},
    "sft": {"epochs": 1, "evaluate_from": 1, "checkpoint_steps": 100},
    "simulate": {"dialogues": 2, "shards": 1},
}
CONFIGS = ["--configfile", TINY, "multiwoz.yaml"]


def cut(project) -> None:
    """Leave the first few dialogues of every table; the test splits of both releases stay alike."""
    for split, count in DIALOGUES.items():
        for corpus in ("multiwoz20", "multiwoz21"):
            path = project.folder / f"results/corpora/{corpus}/{split}.parquet"
            table = pd.read_parquet(path)
            kept = sorted(table["dialogue_id"].unique())[:count]
            table[table["dialogue_id"].isin(kept)].to_parquet(path, index=False)


def publish(project, oracles) -> None:
    """A folder with PPTOD's outputs on the dialogues that are left, and a broken file of UBAR's."""
    test = pd.read_parquet(project.folder / "results/corpora/multiwoz20/test.parquet")
    with gzip.open(oracles / "mwz/predictions/pptod.json.gz", "rt") as content:
        outputs = json.load(content)
    kept = {name: outputs[name] for name in test["dialogue_id"].unique()}
    folder = project.folder / "outputs"
    folder.mkdir()
    (folder / "pptod.json").write_text(json.dumps(kept))
    (folder / "ubar.json.gz").write_bytes(gzip.compress(b'{"pmul0001": [{}]}'))


@pytest.fixture(scope="module")
def scored(checkout, tmp_path_factory, mirror, oracles):
    """A finished run that trained on MultiWOZ 2.0 and scored published outputs."""
    project = checkout(tmp_path_factory.mktemp("multiwoz"))
    (project.folder / "multiwoz.yaml").write_text(
        yaml.safe_dump(CONFIG | {"rescore": {"folder": None}})
    )
    corpora = [f"results/corpora/{corpus}/test.parquet" for corpus in ("multiwoz20", "multiwoz21")]
    project.snakemake(*corpora, *CONFIGS, config=None, TODFLOW_DATA_MIRROR=str(mirror))
    cut(project)
    publish(project, oracles)
    (project.folder / "multiwoz.yaml").write_text(yaml.safe_dump(CONFIG))
    project.said = project.snakemake("all", *CONFIGS, config=None).stdout
    return project


def lines(project, system: str) -> list[list[str]]:
    """(status, evaluator, published, whether there is a figure) of a system's Inform on 2.0."""
    table = pd.read_csv(project.folder / "results/table1.csv", dtype=str, keep_default_na=False)
    rows = table[
        (table["system"] == system) & (table["dataset"] == "multiwoz20") & (table["metric"] == "inform")
    ]
    rows = rows.assign(figure=rows["reproduced"] != "")
    return rows[["status", "evaluator", "published", "figure"]].values.tolist()


def test_published_outputs_stand_beside_the_published_figures(scored):
    assert lines(scored, "PPTOD") == [
        ["published_only", "legacy-pred", "89.2", False],
        ["rescored", "standard-v1", "", True],
        ["rescored", "legacy-nogate", "", True],
    ]
    standard = json.loads((scored.folder / "results/rescored/pptod.standard-v1.score.json").read_text())
    assert standard["references"] == "multiwoz21" and standard["n_dialogues"] == DIALOGUES["test"]
    assert standard["predictions"]["file"] == "pptod.json"
    legacy = json.loads((scored.folder / "results/rescored/pptod.legacy-nogate.score.json").read_text())
    assert legacy["references"] == "multiwoz20"


def test_a_malformed_file_and_a_missing_one_leave_reasons_and_no_figures(scored):
    assert [row[0] for row in lines(scored, "UBAR†")] == ["published_only", "not_run", "not_run"]
    assert [row[0] for row in lines(scored, "GALAXY")] == ["published_only", "not_run"]
    page = (scored.folder / "results/table1.html").read_text()
    reason = "ubar.json.gz, dialogue .*pmul0001.*, turn 0, field response: missing"
    assert re.search(f"Not re-scored: {reason}", page)
    assert "Not re-scored: the folder of outputs has no such file." in page
    assert re.search(f"rescore standard-v1: {reason}", scored.said)
    assert "rescore: no galaxy-e2e.json or galaxy-e2e.json.gz in outputs" in scored.said


def test_a_model_of_ours_is_scored_by_every_evaluator(scored):
    for system in ("SFT scratch-tiny", "SFT+RL scratch-tiny"):
        assert lines(scored, system) == [
            ["stand_in", "standard-v1", "", True],
            ["stand_in", "legacy-pred", "", True],
        ]
    table = pd.read_csv(scored.folder / "results/table1.csv", dtype=str, keep_default_na=False)
    ours = table[(table["system"] == "SFT scratch-tiny") & (table["reproduced"] != "")]
    assert set(ours["state"]) == {"predicted"} and set(ours["dialogues"]) == {"20"}
    # The standard score of a system trained on 2.0 has 2.1's test split as its gold side.
    data = json.loads((scored.folder / "results/provenance.json").read_text())["data"]
    assert {"results/raw/multiwoz20.zip", "results/corpora/multiwoz21/test.parquet"} <= set(data)


TABLES = {"tabulate_results", "plot_results", "write_provenance"}
FLIPS = {
    "an evaluator more": (
        {"multiwoz20": {"evaluators": ["standard-v1", "legacy-pred", "legacy-gold"]}},
        {"score_multiwoz"} | TABLES,
    ),
    "an evaluator less": ({"multiwoz20": {"evaluators": ["standard-v1"]}}, TABLES),
    "another one for outputs": (
        {"rescore": {"evaluators": ["legacy-pred"]}},
        {"rescore_outputs"} | TABLES,
    ),
    "no outputs": ({"rescore": {"folder": None}}, TABLES),
    "the other corpus' references": (
        {"rescore": {"systems": {"pptod": "multiwoz21"}}},
        {"rescore_outputs"} | TABLES,
    ),
    "bootstrap": (
        {"bootstrap": {"seed": 2}},
        {"score_multiwoz", "rescore_outputs", "measure_simulation"}
        | {"tabulate_ablation", "judge_claims"}
        | TABLES,
    ),
}


@pytest.mark.parametrize("change", FLIPS)
def test_a_change_of_scores_reruns_no_training(scored, change):
    overlay, expected = FLIPS[change]
    (scored.folder / "flip.yaml").write_text(yaml.safe_dump(overlay))
    assert scored.stale(*CONFIGS, "flip.yaml", config=None) == expected


def test_nothing_is_stale_until_a_file_of_outputs_changes(scored):
    assert scored.stale(*CONFIGS, config=None) == set()
    path = scored.folder / "outputs/pptod.json"
    path.touch()
    assert scored.stale(*CONFIGS, config=None) == set()
    before = path.read_text()
    path.write_text(before + " ")
    stale = scored.stale(*CONFIGS, config=None)
    path.write_text(before)
    assert stale == {"rescore_outputs"} | TABLES - {"write_provenance"}


def test_a_folder_that_is_not_there_stops_everything_with_its_key(project):
    (project.folder / "mine.yaml").write_text("rescore: {folder: nowhere}\n")
    done = project.snakemake("results/table1.csv", "-n", config="mine.yaml", check=False)
    assert done.returncode != 0
    assert "config: 'rescore.folder': there is no folder 'nowhere'" in done.stdout
