"""The workflow as a whole: formatting, plans, the tiny run, its products, and its errors."""

import csv
import gzip
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.workflow
ROOT = Path(__file__).resolve().parent.parent.parent
TINY = "tests/config/tiny.yaml"


def test_rule_files_are_formatted():
    subprocess.run(
        [sys.executable, "-m", "snakefmt", "--check", "Snakefile", "workflow"], cwd=ROOT, check=True
    )


def test_lint_finds_nothing(project):
    done = project.snakemake("--lint", config=None)
    assert "Congratulations" in done.stdout


def test_the_snakefile_is_short_and_every_rule_says_what_it_does():
    assert len((ROOT / "Snakefile").read_text().splitlines()) < 60
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        text = path.read_text()
        assert text.startswith('"""'), path
        for rule in re.findall(r"^rule (\w+):\n(.*)$", text, re.MULTILINE):
            assert rule[1].strip().startswith('"""'), rule
        assert len(text.splitlines()) <= 200, path


def test_the_code_parameter_of_a_rule_is_that_of_the_stage_it_runs():
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        for rule in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            stage = re.search(r'"python -m ([\w.]+) ', rule)
            script = re.search(r'"\.\./scripts/(\w+\.py)"', rule)
            if stage and not rule.startswith("fetch_"):
                assert f'code=code("{stage[1]}")' in rule, rule
            elif script:
                assert f'code=script_code("{script[1]}")' in rule, rule


PROBE = """
import sys
from snakemake.cli import main
try:
    main(["-n", "--quiet", "all", "--cores", "1"])
except SystemExit as end:
    assert not end.code, end
heavy = {"torch", "pandas", "transformers", "matplotlib", "convlab", "pyarrow"}
print("imported:", *sorted(heavy & set(sys.modules)))
"""


def imported(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()[-1]


def test_parsing_imports_nothing_heavy(project, tmp_path):
    # Snakemake itself imports pandas where it finds it.
    (tmp_path / "Snakefile").write_text("rule all:\n    output: 'x'\n    shell: 'touch {output}'\n")
    assert imported(project.folder) == imported(tmp_path)


def test_plan_of_the_default_config(project):
    assert project.plan("results/table1.csv", None) == {
        "assemble_convlab": 1,
        "play_selfplay": 8,
        "split_selfplay": 1,
        "train_sft": 1,
        "train_rl": 1,
        "generate_responses": 2,
        "score_responses": 2,
        "simulate_dialogues": 16,
        "measure_simulation": 2,
        "tabulate_results": 1,
    }


def test_the_tiny_run_makes_the_table_and_everything_beside_it(finished):
    with open(finished.folder / "results/table1.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    # So few dialogues are a stand-in for the paper's 1000.
    assert {row["status"] for row in rows} == {"published_only", "stand_in", "not_run"}
    runs = finished.folder / "results/selfplay/scratch-tiny"
    for name in ["seed1/sft", "seed1/rl-tod", "seed1-share50/sft", "seed1-share50/rl-tod"]:
        assert (runs / name / "test-generated.selfplay.score.json").stat().st_size > 0
        assert (runs / name / "curve.svg").stat().st_size > 0
    whole = pd.read_parquet(finished.folder / "results/corpora/selfplay/train.parquet")
    share = pd.read_parquet(
        finished.folder / "results/corpora/selfplay/subsets/seed1-share50.parquet"
    )
    assert (whole["dialogue_id"].nunique(), share["dialogue_id"].nunique()) == (24, 12)
    for name in ["table1.svg", "table1.html", "step_reward/table1.csv", "react/table1.csv"]:
        assert (finished.folder / "results" / name).stat().st_size > 0
    provenance = json.loads((finished.folder / "results/provenance.json").read_text())
    assert provenance["config"]["scale"] == "tiny"


def test_the_same_config_gives_the_same_bytes_whatever_the_cores(finished, project):
    project.snakemake("all", "--cores", "8")
    names = [
        *["table1.csv", "table1.svg", "table1.html", "react/table1.csv", "step_reward/table1.csv"],
        "corpora/selfplay/train.parquet",
        "selfplay/scratch-tiny/seed1/sft/model.safetensors",
        "selfplay/scratch-tiny/seed1/sft/test-generated.parquet",
        "selfplay/scratch-tiny/seed1-share50/rl-tod/model.safetensors",
        "selfplay/scratch-tiny/seed1-share50/rl-tod/curve.csv",
        "simulate/hdc/convlab2/transcripts.parquet",
        "simulate/hdc/convlab3/metrics.json",
    ]
    for name in names:
        one, other = (place.folder / "results" / name for place in (finished, project))
        assert one.read_bytes() == other.read_bytes(), name


def test_the_report_holds_tables_figures_and_captions(finished, tmp_path):
    finished.snakemake("all", "--report", str(tmp_path / "report.zip"))
    with zipfile.ZipFile(tmp_path / "report.zip") as report:
        pages = [name for name in report.namelist() if name.endswith(".html")]
        text = "".join(report.read(name).decode() for name in pages)
        names = " ".join(report.namelist())
    for product in ["table1.csv", "table1.svg", "curve.svg"]:
        assert product in names + text


def test_a_misspelt_key_stops_everything_with_the_nearest_one(project):
    (project.folder / "mine.yaml").write_text("sft: {learning_rte: 0.1}\n")
    done = project.snakemake("results/table1.csv", config="mine.yaml", check=False)
    assert done.returncode != 0
    assert "unknown key 'sft.learning_rte'; did you mean 'learning_rate'?" in done.stdout


def test_an_arm_that_is_not_there_stops_everything_with_the_nearest_one(project):
    (project.folder / "mine.yaml").write_text("step_reward: {table2: {arms: [sparce]}}\n")
    done = project.snakemake("results/table1.csv", config="mine.yaml", check=False)
    assert done.returncode != 0
    assert "'step_reward.table2.arms': unknown 'sparce'; did you mean 'sparse'?" in done.stdout


def incar(project, mirror, **environment):
    return project.snakemake(
        "results/corpora/incar/test.parquet",
        config=None,
        check=False,
        TODFLOW_DATA_MIRROR=str(mirror),
        **environment,
    )


def test_a_mirror_without_the_corpus_gives_one_error_and_leaves_the_rest(finished, tmp_path):
    before = (finished.folder / "results/table1.csv").read_bytes()
    done = incar(finished, tmp_path)
    assert done.returncode != 0
    assert "TODFLOW_DATA_MIRROR" in done.stdout and "kvret_dataset_public.zip" in done.stdout
    assert "Traceback" not in done.stdout
    assert (finished.folder / "results/table1.csv").read_bytes() == before


def test_an_altered_archive_is_refused(project, tmp_path):
    (tmp_path / "kvret").mkdir()
    (tmp_path / "kvret/kvret_dataset_public.zip").write_bytes(b"x" * 1035595)
    done = incar(project, tmp_path)
    assert done.returncode != 0
    assert "SHA-256" in done.stdout
    assert not (project.folder / "results/raw/kvret_dataset_public.zip").exists()


def test_an_archive_put_there_by_hand_is_checked_too(project, tmp_path):
    archive = project.folder / "results/raw/kvret_dataset_public.zip"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"something else")
    done = incar(project, tmp_path)
    assert done.returncode != 0
    assert "SHA-256" in done.stdout and "Traceback" not in done.stdout
    assert not (project.folder / "results/corpora/incar/test.parquet").exists()


def test_an_archive_put_there_by_hand_stays_when_the_sources_of_its_acts_are_fetched(project):
    archive = project.folder / "results/raw/multiwoz20.zip"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"as good as official")
    acts = "results/raw/multiwoz20.acts_provenance.tsv.gz"
    project.snakemake(acts, TODFLOW_DATA_MIRROR="")
    assert archive.read_bytes() == b"as good as official"
    assert gzip.decompress((project.folder / acts).read_bytes()).startswith(b"dialogue\tturn\t")
    archive.touch()
    assert project.stale(target=acts) == set()


def test_another_working_directory(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    done = project.snakemake("all", "-n", "-d", str(tmp_path / "elsewhere"), config="config/real.yaml")
    assert "write_provenance" in done.stdout


def test_the_real_corpus_through_the_rules(project, mirror):
    (project.folder / "incar.yaml").write_text(
        "corpora: [incar]\n"
        "incar: {max_new_tokens: 8}\n"
        "sft: {epochs: 1, evaluate_from: 1, checkpoint_steps: 100}\n"
        "generate: {contexts: [generated, gold]}\n"
        "simulate: {dialogues: 2, shards: 1}\n"
    )
    project.snakemake(
        *["results/table1.csv", "--configfile", TINY, "incar.yaml"],
        config=None,
        TODFLOW_DATA_MIRROR=str(mirror),
    )
    turns = {
        split: len(pd.read_parquet(project.folder / f"results/corpora/incar/{split}.parquet"))
        for split in ("train", "valid", "test")
    }
    assert turns == {"train": 6291, "valid": 777, "test": 808}
    table = pd.read_csv(project.folder / "results/table1.csv")
    ours = table[(table.dataset == "incar") & (table.status == "stand_in")]
    systems = ("SFT scratch-tiny", "SFT+RL scratch-tiny")
    assert set(ours.system) == {*systems, *(f"{system} (gold context)" for system in systems)}
    assert set(ours[ours.metric == "match"].n) == {190}


def edges(mermaid: str) -> set[tuple[str, str]]:
    return set(re.findall(r"^\s*(\w+) --> (\w+)$", mermaid, re.MULTILINE))


def test_the_rule_graph_in_the_readme_is_current(project):
    (project.folder / "outputs").mkdir()
    (project.folder / "outputs/pptod.json").write_text("{}")
    (project.folder / "whole.yaml").write_text(
        "corpora: [selfplay, incar, multiwoz20]\nrescore: {folder: outputs}\n"
        "sft: {pretrain: selfplay}\n"
        "step_reward: {figure3: {corpora: [incar], runs: [{shares: [5], seeds: [1]}]}}\n"
    )
    done = project.snakemake("all", "--rulegraph", "mermaid-js", config="whole.yaml")
    names = dict(re.findall(r"^\s*(id\d+)\[(\w+)\]", done.stdout, re.MULTILINE))
    graph = {(names[one], names[other]) for one, other in edges(done.stdout)}
    left_out = {"all", "write_provenance", "judge_claims"}
    readme = (ROOT / "README.md").read_text().split("```mermaid")[1].split("```")[0]
    assert edges(readme) == {pair for pair in graph if not left_out & set(pair)}
