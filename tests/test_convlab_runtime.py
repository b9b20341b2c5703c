"""Opening convlab: offline, silent, nothing left behind, and its repairs."""

import os
import random
import socket
import sys
from pathlib import Path

import pytest
from convlab_play import manifest

from todflow.convlab_bridge import fixes
from todflow.convlab_bridge.hdc import Hdc
from todflow.convlab_bridge.runtime import open_convlab
from todflow.convlab_bridge.session import goal_seeds, play
from todflow.errors import TodflowError


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was asked for something")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_a_dialogue_offline_silent_and_tidy(offline, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_convlab(manifest()) as convlab:
        scratch = Path.cwd()
        assert scratch != tmp_path
        assert list(play(convlab.user(4), Hdc(), 3))
    assert Path.cwd() == tmp_path and not scratch.exists() and not list(tmp_path.iterdir())
    assert capsys.readouterr() == ("", "")


def test_directory_comes_back_after_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ZeroDivisionError), open_convlab(manifest()):
        1 / 0  # noqa: B018
    assert Path.cwd() == tmp_path


def test_another_folder_in_one_process_is_refused(tmp_path):
    with open_convlab(manifest()):
        pass
    other = tmp_path / "manifest.json"
    other.write_text('{"files": {}}')
    with pytest.raises(TodflowError, match="has convlab from elsewhere"), open_convlab(other):
        pass


def test_stand_ins_go_away():
    with open_convlab(manifest()):
        pass
    for name in fixes.STAND_INS:
        module = sys.modules.get(name)
        assert module is None or module.__spec__ is not None


def test_downloads_are_refused(offline):
    with open_convlab(manifest()):
        from convlab.util.unified_datasets_util import load_dataset

        with pytest.raises(TodflowError, match="convlab wants to download"):
            load_dataset("no_such_dataset")


def test_agenda_random_samples_keys_and_fixes_initiative():
    proxy = fixes.AgendaRandom()
    random.seed(1)
    assert sorted(proxy.sample({"a": 1, "b": 2}.keys(), 2)) == ["a", "b"]
    assert {proxy.randint(1, 4) for _ in range(60)} == {1, 2, 3, 4}
    proxy.initiative = 2
    before = random.getstate()
    assert proxy.randint(1, 4) == 2
    assert random.getstate() == before
    assert proxy.randint(3, 3) == 3 and 0 <= proxy.random() < 1


def test_initiative_bounds_what_a_user_says():
    with open_convlab(manifest()) as convlab:
        user, system = convlab.user(1), Hdc()
        first = [next(iter(play(user, system, seed))).user_acts for seed in range(20)]
        assert all(len(acts) == 1 for acts in first)
        user = convlab.user(4)
        first = [next(iter(play(user, system, seed))).user_acts for seed in range(20)]
    assert max(map(len, first)) == 4


def test_goal_seeds_do_not_depend_on_global_state():
    random.seed(7)
    seeds = goal_seeds(20200202, 3)
    assert seeds == goal_seeds(20200202, 5)[:3]
    random.seed(20200202)
    assert seeds == [random.randint(1, 100000) for _ in range(3)]


def test_relative_manifest_paths(monkeypatch):
    monkeypatch.chdir(manifest().parent.parent)
    with open_convlab(Path(manifest().parent.name) / "manifest.json"):
        assert os.getcwd() != str(manifest().parent.parent)
