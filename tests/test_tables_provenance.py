"""Provenance, and the scripts that Snakemake runs, with a stand-in for its `snakemake` object."""

import hashlib
import json
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import tables_inputs as inputs
import yaml

from todflow.errors import TodflowError
from todflow.tables import provenance, scripts

SCRIPTS = Path(__file__).resolve().parent.parent / "workflow" / "scripts"
BENCHMARK = (
    "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
    "12.5\t0:00:12\t310.25\t1\t1\t1\t0\t0\t98.5\t12.1\n"
)
SHORT = BENCHMARK.splitlines()[0] + "\n0.2\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class Files(SimpleNamespace):
    """Snakemake's named files: attributes, items and `get`."""

    def __getitem__(self, name):
        return getattr(self, name)

    def get(self, name, default=None):
        return getattr(self, name, default)


def run(script, monkeypatch, inputs_, outputs, **params):
    """Run a script as Snakemake does: `snakemake` is there, and streams are the script's own."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    snakemake = SimpleNamespace(
        input=Files(**inputs_),
        output=Files(**outputs),
        params=SimpleNamespace(
            root=".", **{name: json.dumps(value) for name, value in params.items()}
        ),
        log=["script.log"],
    )
    try:
        runpy.run_path(str(SCRIPTS / script), init_globals={"snakemake": snakemake})
    finally:
        sys.stderr.close()


TABLES = {
    "table": "results/table1.csv",
    "step_reward": "results/step_reward/table1.csv",
    "react": "results/react/table1.csv",
    "page": "results/table1.html",
}
CFG = {
    "scale": "embedded",
    "backbone": inputs.BACKBONES,
    "outputs": inputs.outputs(),
    "pretrained": {"multiwoz20": None},
    "arms": {"tod": {}},
    "episodes": {"multiwoz20": 640},
}
NONE = {"scores": [], "simulations": [], "rescored": [], "training": []}


def test_tabulate_and_plot_from_measurements_to_picture(monkeypatch):
    # One file may come as text, several as a list.
    given = {"scores": inputs.score(), "simulations": [inputs.simulation()]}
    given |= {
        "rescored": [inputs.rescored()],
        "training": inputs.training_table("multiwoz20", ["silver"]),
    }
    run("tabulate_results.py", monkeypatch, given, TABLES, cfg=CFG)
    run(
        "plot_results.py", monkeypatch, {"table": TABLES["table"]}, {"figure": "results/table1.svg"}
    )
    for path in (*TABLES.values(), "results/table1.svg"):
        assert Path(path).stat().st_size > 1000, path
    assert "97.40" in Path(TABLES["react"]).read_text()
    assert Path("script.log").read_text() == ""


def test_plot_curve(monkeypatch):
    Path("curve.csv").write_text(
        "step,epoch,train_loss,valid_loss,match,succ_f1,bleu,combined,lr\n1,1,2.0,,,,,,0.1\n"
    )
    run(
        "plot_curve.py",
        monkeypatch,
        {"curve": "curve.csv"},
        {"figure": "c.svg"},
        cfg={"title": "x", "stage": "sft"},
    )
    assert Path("c.svg").read_text().startswith("<?xml")


def test_plot_curve_draws_rl_as_well(monkeypatch):
    from step_reward_inputs import curve

    cfg = {"title": "x", "stage": "rl-tod"}
    path = str(curve(Path("rl.csv")))
    run("plot_curve.py", monkeypatch, {"curve": path}, {"figure": "rl.svg"}, cfg=cfg)
    assert Path("rl.svg").read_text().startswith("<?xml")


def test_an_error_ends_a_script_with_one_line(monkeypatch, capsys):
    path = inputs.score(match="high")
    given = NONE | {"scores": [path]}
    monkeypatch.setattr(sys, "__stderr__", sys.stderr)
    with pytest.raises(SystemExit) as caught:
        run("tabulate_results.py", monkeypatch, given, TABLES, cfg=CFG)
    assert caught.value.code == 2
    line = f"error: {path}: match isn't a number; delete the file and run its stage again\n"
    assert Path("script.log").read_text() == line
    assert capsys.readouterr().err == line
    assert not Path(TABLES["table"]).exists()


def test_write_provenance(monkeypatch):
    Path("data").mkdir()
    Path("data/turns.txt").write_text("hello")
    Path("train.tsv").write_text(BENCHMARK)
    Path("short.tsv").write_text(SHORT)
    Path("requirements.lock").write_text(
        f"# made by hand\npytest=={pytest.__version__}\n"
        "no-such-package-here==1.0 --hash=sha256:00\n"
    )
    config = {"scale": "embedded", "seeds": [1, 2], "incar": {"name": "ünïcode"}}
    run(
        "write_provenance.py",
        monkeypatch,
        {
            "data": [str(Path("data/turns.txt").resolve())],
            "benchmarks": ["train.tsv", "short.tsv"],
            "lock": "requirements.lock",
        },
        {"provenance": "results/provenance.json", "config": "results/config.yaml"},
        cfg=config,
        digests={"train": "b", "score": "a"},
    )
    record = json.loads(Path("results/provenance.json").read_text())
    assert record["config"] == config == yaml.safe_load(Path("results/config.yaml").read_text())
    assert record["scale"] == "embedded"
    assert record["python"] == sys.version.split()[0]
    assert record["data"] == {"data/turns.txt": hashlib.sha256(b"hello").hexdigest()}
    assert list(record["code"].items()) == [("score", "a"), ("train", "b")]
    assert record["times"]["train.tsv"] == {
        "s": 12.5,
        "max_rss": 310.25,
        "mean_load": 98.5,
        "cpu_time": 12.1,
    }
    assert record["times"]["short.tsv"]["max_rss"] is None
    assert record["packages"]["pytest"]["installed"] == pytest.__version__
    assert record["packages"]["no-such-package-here"] == {"installed": None, "locked": "1.0"}
    assert record["git"] is None


def test_provenance_without_a_lock_file():
    assert provenance.provenance({}, {}, [], [], None)["packages"] is None


def test_broken_inputs_are_named():
    Path("a.tsv").write_text("seconds\n1\n")
    with pytest.raises(TodflowError, match="a.tsv: not a Snakemake benchmark"):
        provenance.read_benchmark("a.tsv")
    Path("a.lock").write_text("# nothing\n")
    with pytest.raises(TodflowError, match="a.lock: no line"):
        provenance.package_versions("a.lock")
    with pytest.raises(TodflowError, match="cfg: not JSON"):
        scripts.parse_settings("{", "cfg")
    with pytest.raises(TodflowError, match="cfg: not a JSON object"):
        scripts.parse_settings("[]", "cfg")


def test_git_state_of_a_checkout_and_inside_somebody_elses(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        subprocess.run(
            ["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True
        )

    git("init", "--quiet")
    (tmp_path / "a.txt").write_text("one")
    git("add", "a.txt")
    git("commit", "--quiet", "-m", "one")
    state = provenance.git_state(tmp_path)
    assert len(state["commit"]) == 40 and not state["dirty"]
    (tmp_path / "a.txt").write_text("two")
    assert provenance.git_state(tmp_path)["dirty"]
    (tmp_path / "inside").mkdir()
    assert provenance.git_state(tmp_path / "inside") is None
