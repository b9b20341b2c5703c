"""The runtime folder: same bytes, repaired data, and no opening of an altered one."""

import importlib.metadata
import json
import os
import subprocess
import sys
import zipfile
from argparse import Namespace
from pathlib import Path

import pytest
from convlab_play import manifest

from todflow.convlab_bridge import data
from todflow.convlab_bridge.runtime import check
from todflow.errors import TodflowError


def test_same_bytes_under_any_hash_seed(tmp_path):
    out = tmp_path / "else" / "manifest.json"
    subprocess.run(
        [sys.executable, "-m", "todflow.convlab_bridge.data", "--out", str(out)],
        env=os.environ | {"PYTHONHASHSEED": "99"},
        check=True,
    )
    assert out.read_bytes() == manifest().read_bytes()
    assert str(tmp_path) not in out.read_text()


def test_building_again_replaces_what_is_there(tmp_path):
    out = tmp_path / "manifest.json"
    data.main(Namespace(out=out))
    (tmp_path / "data" / "stray.json").write_text("{}")
    data.main(Namespace(out=out))
    assert not (tmp_path / "data" / "stray.json").exists()
    assert out.read_bytes() == manifest().read_bytes()


def test_databases_are_repaired_and_value_sets_follow():
    folder = manifest().parent / "data" / "multiwoz"
    hospital = json.loads((folder / "db" / "hospital_db.json").read_text())
    assert {row["postcode"] for row in hospital} == {"cb20qq"}
    [police] = json.loads((folder / "db" / "police_db.json").read_text())
    assert police["postcode"] == "cb11jg" and police["phone"] == "01223358966"
    values = json.loads((folder / "value_set.json").read_text())
    lower = json.loads((folder / "value_dict.json").read_text())
    assert values["hotel"]["stars"] == ["0", "2", "3", "4"]
    assert "leaveAt" in values["train"] and "leaveat" in lower["train"]
    assert lower["taxi"] == {}  # the tracker refuses a domain without an entry
    # A typo of the shipped data stays, as the goal model has it too.
    assert "mutliple sports" in values["attraction"]["type"]


def test_ontology_has_the_empty_state():
    with zipfile.ZipFile(
        manifest().parent / "data/unified_datasets/multiwoz21/data.zip"
    ) as archive:
        state = json.loads(archive.read("data/ontology.json"))["state"]
    assert sorted(state) == ["attraction", "hospital", "hotel", "restaurant", "taxi", "train"]
    assert state["hospital"] == {"department": ""}


def test_trains_run_alike_every_day():
    """Else convlab's goal generator could move a journey to a day without a train, and fail."""
    times = {}
    for row in json.loads((manifest().parent / "data/multiwoz/db/train_db.json").read_text()):
        route = times.setdefault((row["departure"], row["destination"]), {})
        route.setdefault(row["day"], set()).add((row["leaveAt"], row["arriveBy"]))
    assert all(len(route) == 7 for route in times.values())
    assert all(len({frozenset(day) for day in route.values()}) == 1 for route in times.values())


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(TodflowError, match=r"no convlab runtime folder here; build it with"):
        check(tmp_path / "manifest.json")


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_manifest_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(TodflowError, match="not a manifest"):
        check(tmp_path / "manifest.json")


def test_altered_and_missing_files_are_refused(tmp_path):
    out = tmp_path / "manifest.json"
    data.main(Namespace(out=out))
    target = tmp_path / "data" / "multiwoz" / "value_dict.json"
    target.write_text(target.read_text() + " ")
    with pytest.raises(
        TodflowError, match=r"data/multiwoz/value_dict.json has been altered; build it"
    ):
        check(out)
    target.unlink()
    with pytest.raises(TodflowError, match=r"data/multiwoz/value_dict.json is missing; build it"):
        check(out)


def test_another_version_is_refused(monkeypatch):
    class Distribution:
        version = "3.0.0"

    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Distribution)
    with pytest.raises(TodflowError, match=r"convlab 3.0.0 is installed, not 3.0.1"):
        data.installed_package()


def test_no_convlab_is_refused(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    with pytest.raises(TodflowError, match="convlab is not installed; install it with"):
        data.installed_package()


def test_the_installed_package_is_only_read():
    package = data.installed_package()
    assert not (package.parent / "data" / "multiwoz").exists()
    linked = manifest().parent / "convlab" / "__init__.py"
    assert linked.is_symlink() and Path(os.readlink(linked)).parent == package
