"""The self-play corpus: whole, disjoint, and the same from any number of shares."""

import json
import os
import subprocess
import sys
from argparse import Namespace

import pandas as pd
import pytest
from convlab_play import manifest

from todflow import selfplay, selfplay_merge
from todflow.corpora.turns import COLUMNS, read_turns
from todflow.errors import TodflowError
from todflow.files import read_json

SIZES = {"train": 12, "valid": 3, "test": 3}
CONFIG = {"dialogues": SIZES, "seed": 1}


def build(folder, shards):
    paths = [folder / "shards" / f"{shard}.parquet" for shard in range(shards)]
    for shard, path in enumerate(paths):
        share = CONFIG | {"shard": shard, "shards": shards}
        selfplay.main(Namespace(config=share, convlab=manifest(), out=path))
    merge(folder, paths)
    return folder


def merge(folder, paths):
    report = folder / "report.json"
    selfplay_merge.main(Namespace(config=CONFIG, shards=paths, out=folder, report=report))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return build(tmp_path_factory.mktemp("whole"), 1)


@pytest.fixture(scope="module")
def turns(whole):
    return {split: read_turns(whole / f"{split}.parquet") for split in SIZES}


def test_any_number_of_shares_gives_the_same_bytes(whole, tmp_path):
    parts = build(tmp_path, 3)
    for name in ("train.parquet", "valid.parquet", "test.parquet", "report.json"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name


def test_any_hash_seed_gives_the_same_bytes(tmp_path):
    share = json.dumps(CONFIG | {"shard": 0, "shards": 12})
    outputs = []
    for seed in ("1", "2"):
        out = tmp_path / f"{seed}.parquet"
        command = [
            sys.executable,
            "-m",
            "todflow.selfplay",
            "--config",
            share,
            "--convlab",
            str(manifest()),
        ]
        environment = os.environ | {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"}
        subprocess.run(
            [*command, "--out", str(out)], env=environment, check=True, capture_output=True
        )
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]


def test_splits_have_their_sizes_and_share_nothing(whole, turns):
    goals, names = [], []
    for split, table in turns.items():
        first = table.drop_duplicates("dialogue_id")
        assert (
            len(first)
            == SIZES[split]
            == read_json(whole / "report.json")["splits"][split]["dialogues"]
        )
        assert set(table["split"]) == {split} and set(table["dataset"]) == {"selfplay"}
        goals += [json.dumps(json.loads(goal), sort_keys=True) for goal in first["goal"]]
        names += [name.rsplit("-", 1)[1] for name in first["dialogue_id"]]
    assert len(goals) == len(set(goals)) == len(set(names)) == 18


def test_rows_are_consistent(turns):
    for table in turns.values():
        for row in table.itertuples():
            assert row.user and row.response and row.response == row.response.lower()
            for text in (row.user, row.response, row.response_delex):
                assert not set("#@") & set(text) and "  " not in text
            acts, state = json.loads(row.acts), json.loads(row.state)
            # Every placeholder has its act, and its value is in the lexical response.
            for word in row.response_delex.split():
                if word.startswith("[value_"):
                    values = [value for _, _, slot, value in acts if f"[value_{slot}]" == word]
                    assert values
            assert row.state_span.count("[") == len(state)
            assert all(slots for slots in state.values())
            domains = {domain for _, domain, _, _ in acts} - {"general"}
            assert domains <= set(row.domain.split())


def test_states_only_grow_and_end_at_the_goal(turns):
    told = 0
    for _, dialogue in turns["train"].groupby("dialogue_id"):
        goal = json.loads(dialogue["goal"].iloc[0])
        states = [json.loads(state) for state in dialogue["state"]]
        for before, after in zip(states, states[1:], strict=False):
            assert all(set(slots) <= set(after[domain]) for domain, slots in before.items())
        for domain, part in goal.items():
            for slot in ("area", "food", "pricerange", "day", "stay", "people"):
                wanted = {**part["info"], **part.get("book", {})}.get(slot)
                if wanted and slot in states[-1].get(domain, {}):
                    told += 1
                    assert states[-1][domain][slot] == wanted
    assert told > 10


def test_dialogues_end_with_the_answer_to_the_closing_act(turns):
    last = turns["train"].drop_duplicates("dialogue_id", keep="last")
    assert set(last["act_span"]) <= {"[general] [greet]", "[general] [bye]"}
    assert list(turns["train"].columns) == list(COLUMNS)


def test_candidates_never_repeat_a_seed():
    drawn = selfplay.candidates(CONFIG)
    assert len({seed for _, seed in drawn}) == len(drawn) == 18 + 3 * 5 + 1
    assert [split for split, _ in drawn] == sorted((s for s, _ in drawn), key=list(SIZES).index)


def test_failed_dialogues_and_repeated_goals_are_passed_over():
    names = [f"selfplay-{split}-{seed}" for split, seed in selfplay.candidates(CONFIG)]
    played = {name: (json.dumps({"n": i}), True) for i, name in enumerate(names)}
    played[names[0]] = ("{}", False)
    first = [name for name in names if "-valid-" in name]
    played[first[0]] = played[names[1]]
    kept = selfplay_merge.choose(CONFIG, played)
    assert kept["train"] == names[1:13] and kept["valid"] == first[1:4]


def test_too_few_candidates_and_missing_shares_are_refused(whole, tmp_path):
    names = [f"selfplay-{split}-{seed}" for split, seed in selfplay.candidates(CONFIG)]
    with pytest.raises(TodflowError, match="only 1 of 12 train dialogues are complete"):
        selfplay_merge.choose(CONFIG, dict.fromkeys(names, ("{}", True)))
    table = pd.read_parquet(whole / "shards" / "0.parquet")
    table[table["dialogue_id"] != names[0]].to_parquet(tmp_path / "0.parquet")
    with pytest.raises(TodflowError, match=f"dialogue {names[0]} is in no share"):
        merge(tmp_path, [tmp_path / "0.parquet"])


def test_an_utterance_without_words_is_refused(monkeypatch):
    class Speechless:
        def user(self, acts):
            return ""

        def system(self, acts):
            return "x", "x"

    from todflow.convlab_bridge.hdc import Hdc
    from todflow.convlab_bridge.runtime import open_convlab

    with open_convlab(manifest()) as convlab:
        user, system = convlab.user(None), Hdc()
        with pytest.raises(
            TodflowError, match="goal seed 5, turn 0: no template for the user's acts"
        ):
            selfplay.rows_of(user, system, Speechless(), "train", 5)
