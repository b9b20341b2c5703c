"""Simulations: the same in any shares, known figures, results that agree with transcripts."""

import json
import os
import subprocess
import sys
from argparse import Namespace

import pandas as pd
import pytest
from convlab_play import manifest

from todflow import simulate, simulation_metrics
from todflow.errors import TodflowError
from todflow.files import read_json

CONVLAB2 = {"initiative": 4, "counting": "convlab2"}
CONVLAB3 = {"initiative": None, "counting": "convlab3"}


def config(setting, dialogues, shard=0, shards=1):
    return {
        "system": "hdc", "setting": setting, "dialogues": dialogues, "seed": 20200202,
        "shard": shard, "shards": shards,
    }  # fmt: skip


def play(folder, setting, dialogues, shards):
    """Run all shares and the merge; the folder with the three outputs."""
    for shard in range(shards):
        simulate.main(
            Namespace(
                config=config(setting, dialogues, shard, shards),
                convlab=manifest(),
                out=folder / "shards" / f"{shard}.parquet",
                results=folder / "results" / f"{shard}.parquet",
            )
        )
    merge(folder, dialogues)
    return folder


def merge(folder, dialogues):
    simulation_metrics.main(
        Namespace(
            config={
                "system": "hdc", "setting": "some", "definition": CONVLAB2,
                "dialogues": dialogues, "seed": 20200202, "bootstrap": {"samples": 100, "seed": 1},
            },
            shards=sorted((folder / "shards").glob("*.parquet")),
            results=sorted((folder / "results").glob("*.parquet")),
            out=folder,
        )
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return play(tmp_path_factory.mktemp("whole"), CONVLAB2, 40, 1)


def test_any_number_of_shares_gives_the_same_bytes(whole, tmp_path):
    parts = play(tmp_path, CONVLAB2, 40, 3)
    for name in ("transcripts.parquet", "dialogues.parquet", "metrics.json"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name


def test_any_hash_seed_and_working_directory_gives_the_same_bytes(tmp_path):
    outputs = []
    for seed in ("1", "2"):
        where = tmp_path / seed
        where.mkdir()
        command = [
            sys.executable,
            "-m",
            "todflow.simulate",
            "--config",
            json.dumps(config(CONVLAB3, 8)),
        ]
        command += ["--convlab", str(manifest()), "--out", "t.parquet", "--results", "r.parquet"]
        environment = os.environ | {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"}
        subprocess.run([*command, "--log", "log"], env=environment, cwd=where, check=True)
        assert sorted(path.name for path in where.iterdir()) == ["log", "log.lock", "r.parquet", "t.parquet"]
        outputs.append([(where / name).read_bytes() for name in ("t.parquet", "r.parquet")])
    assert outputs[0] == outputs[1]


def values(folder):
    metrics = read_json(folder / "metrics.json")["metrics"]
    return {name: round(entry["value"], 2) for name, entry in metrics.items()}


def test_the_report_says_what_its_setting_means(whole):
    assert read_json(whole / "metrics.json")["definition"] == CONVLAB2


def test_figures_of_forty_dialogues(whole):
    assert values(whole) == GOLDEN_CONVLAB2


def test_figures_of_forty_dialogues_as_convlab3_counts(tmp_path):
    assert values(play(tmp_path, CONVLAB3, 40, 1)) == GOLDEN_CONVLAB3


def test_results_agree_with_transcripts(whole):
    transcripts = pd.read_parquet(whole / "transcripts.parquet")
    results = pd.read_parquet(whole / "dialogues.parquet")
    assert list(results["dialogue"]) == list(range(40))
    assert (2 * transcripts.groupby("dialogue").size()).tolist() == results["turns"].tolist()
    for row in results.itertuples():
        goal = json.loads(row.goal)
        wanted = sum(len(part.get("reqt", [])) for part in goal.values())
        assert row.inform_tp + row.inform_fn == wanted
        assert pd.isna(row.inform_f1) == (wanted == 0)
        assert pd.isna(row.book) == (not any("book" in p and p["info"] for p in goal.values()))
    last = transcripts.drop_duplicates("dialogue", keep="last")
    assert all(json.loads(acts)[0][:2] == ["bye", "general"] for acts in last["user_acts"])


def test_a_share_of_another_run_is_refused(tmp_path):
    # As a job would leave it that outlived its workflow, and was started with other settings.
    pd.DataFrame({"dialogue": [0, 1, 2]}).to_parquet(tmp_path / "share.parquet")
    with pytest.raises(TodflowError, match="dialogue 2 is not of this run, which has 2"):
        simulation_metrics.merge([tmp_path / "share.parquet"], 2, ["dialogue"])


def test_a_missing_or_repeated_share_is_refused(tmp_path):
    play(tmp_path, CONVLAB2, 4, 2)
    first = tmp_path / "results" / "0.parquet"
    (tmp_path / "results" / "2.parquet").write_bytes(first.read_bytes())
    with pytest.raises(TodflowError, match="dialogues come twice; give each share once"):
        merge(tmp_path, 4)
    (tmp_path / "results" / "2.parquet").unlink()
    first.unlink()
    with pytest.raises(TodflowError, match=r"dialogue 0 is in no share \(2 of 4 are not\)"):
        merge(tmp_path, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": "hcd"}, "'system': 'hcd' is none of hdc"),
        (
            {"setting": {"initiative": 5, "counting": "convlab2"}},
            "'setting.initiative': 5; give 1 to 4",
        ),
        (
            {"setting": {"initiative": 4, "counting": "mine"}},
            "'setting.counting': 'mine' is none of",
        ),
    ],
)
def test_wrong_settings_are_refused(change, message):
    with pytest.raises(TodflowError, match=message):
        simulate.check_config(config(CONVLAB2, 1) | change)


def test_a_system_of_ones_own_can_play(tmp_path, monkeypatch):
    class Mute:
        belief_state = {}

        def reset(self):
            pass

        def respond(self, user_acts):
            return []

    monkeypatch.setitem(simulate.SYSTEMS, "mute", Mute)
    where = {"out": tmp_path / "t.parquet", "results": tmp_path / "r.parquet"}
    simulate.main(
        Namespace(config=config(CONVLAB2, 12) | {"system": "mute"}, convlab=manifest(), **where)
    )
    results = pd.read_parquet(tmp_path / "r.parquet")
    # The user gives up in its 21st turn.
    assert (
        results["turns"].max() <= 42
        and not results["success"].any()
        and not results["complete"].any()
    )


GOLDEN_CONVLAB2 = {
    "turns": 11.7,
    "inform_precision": 87.14,
    "inform_recall": 98.12,
    "inform_f1": 90.32,
    "book": 100.0,
    "success": 95.0,
    "success_strict": 95.0,
    "complete": 97.5,
}
GOLDEN_CONVLAB3 = {
    "turns": 14.2,
    "inform_precision": 73.23,
    "inform_recall": 98.12,
    "inform_f1": 80.89,
    "book": 100.0,
    "success": 95.0,
    "success_strict": 95.0,
    "complete": 97.5,
}
