"""MultiWOZ's preparation from archive to tables: miniature archives, and the real test splits."""

import argparse
import gzip
import json
import os
import subprocess
import sys

import multiwoz_oracle
import pandas as pd
import pytest
from multiwoz_tiny import (
    DATABASE,
    TAXI,
    content,
    content21,
    metadata,
    write_archive,
    write_sources,
)

from todflow.corpora.multiwoz import prepare
from todflow.corpora.turns import COLUMNS, OPTIONAL, read_turns, write_turns
from todflow.errors import TodflowError
from todflow.files import sha256

COUNTS = {"train": (1, 2), "valid": (1, 1), "test": (2, 2)}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A miniature archive of 2.1 that passes for the release."""
    monkeypatch.setattr(prepare, "DIALOGUES", {name: count[0] for name, count in COUNTS.items()})
    monkeypatch.setattr(prepare, "TURNS", {name: count[1] for name, count in COUNTS.items()})
    return write_archive(tmp_path / "MULTIWOZ2.1.zip", content21(), "MultiWOZ_2.1/")


def options(archive, folder, acts=None, **config) -> argparse.Namespace:
    return argparse.Namespace(
        archive=archive,
        acts=acts,
        config=config,
        database=folder / "database.json",
        **{split: folder / f"{split}.parquet" for split in COUNTS},
    )


def test_tables_of_a_miniature_archive(tiny, tmp_path):
    folder = tmp_path / "corpus"
    prepare.main(options(tiny, folder, release="multiwoz21", sha256=sha256(tiny)))
    tables = {split: read_turns(folder / f"{split}.parquet") for split in COUNTS}
    assert {
        split: (table["dialogue_id"].nunique(), len(table)) for split, table in tables.items()
    } == COUNTS
    for split, table in tables.items():
        assert list(table.columns) == [*COLUMNS, *OPTIONAL]
        assert set(table["dataset"]) == {"multiwoz21"} and set(table["split"]) == {split}
    first, second = tables["train"].to_dict("records")
    assert (first["dialogue_id"], first["turn"], second["turn"]) == ("sng0001", 0, 1)
    assert first["user"] == "a guest house in the north ."
    assert first["response"] == "the acorn guest house ?"
    assert first["response_delex"] == "the [value_name] ?"
    assert first["reference"] == "The [name]?"
    assert first["state_span"] == "[hotel] area north type guest house"
    assert json.loads(first["state"]) == {"hotel": {"area": "north", "type": "guest house"}}
    assert json.loads(first["annotated_state"]) == {
        "hotel": {"area": "north", "type": "guesthouse"}
    }
    assert first["act_span"] == "[hotel] [recommend] name"
    assert second["act_span"] == "[hotel] [offerbooked] reference"
    assert json.loads(second["acts"]) == [["offerbooked", "hotel", "reference", "ab12"]]
    assert first["domain"] == "hotel"
    assert json.loads(first["goal"])["hotel"]["reqt"] == ["phone"]
    assert (first["act_source"], first["booked"], second["booked"]) == ("gold", "[]", '["hotel"]')
    assert second["pointer"] == "0,1,0,0,0,1"
    assert list(tables["test"]["act_source"]) == ["gold", "none"]
    # Annotated spans: [departure], not what the acts call it.
    assert tables["test"]["reference"][0] == "[id] leaves from [departure]."
    database = json.loads((folder / "database.json").read_text())
    assert database["hotel"] == DATABASE["hotel"] and database["taxi"] == [TAXI]


def test_split_rows_are_those_of_the_stage(tiny, tmp_path):
    prepare.main(options(tiny, tmp_path))
    write_turns(tmp_path / "again.parquet", prepare.split_rows(tiny, "test"))
    of_the_stage = read_turns(tmp_path / "test.parquet").drop(columns="act_source")
    pd.testing.assert_frame_equal(read_turns(tmp_path / "again.parquet"), of_the_stage)


def test_booked():
    assert prepare.booked(metadata("hotel")) == ["hotel"]
    assert prepare.booked(metadata("taxi")) == []
    assert prepare.booked(metadata("bus")) == []
    assert prepare.booked({}) == []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"sha256": "0" * 64}, "SHA-256 .* where 0{64} is expected"),
        (
            {"sha256": "0" * 64, "mirror_sha256": "1" * 64},
            "SHA-256 .* where 0{64} or 1{64} is expected",
        ),
        ({"release": "multiwoz20"}, "this is multiwoz21, not multiwoz20"),
    ],
)
def test_another_archive_is_refused(tiny, tmp_path, config, message):
    with pytest.raises(TodflowError, match=rf"MULTIWOZ2\.1\.zip: {message}.*; take the unmodified"):
        prepare.main(options(tiny, tmp_path / "corpus", **config))
    assert not (tmp_path / "corpus").exists()


SOURCES = {
    "SNG0001": [("silver", "silver"), ("none", "none")],
    "PMUL0002": [("silver", "silver")],
    "MUL0003": [("gold-2.0", "gold-2.1")],
    "MUL0004": [("damd-slots", "damd-slots")],
}


def test_the_reconstructed_edition_has_the_sources_of_its_table(tiny, tmp_path):
    acts = write_sources(tmp_path / "acts.tsv.gz", SOURCES)
    hashes = {
        "sha256": "0" * 64,
        "mirror_sha256": sha256(tiny),
        "mirror_acts_sha256": sha256(acts),
    }
    prepare.main(options(tiny, tmp_path, acts, **hashes))
    tables = {split: read_turns(tmp_path / f"{split}.parquet") for split in COUNTS}
    assert {split: list(table["act_source"]) for split, table in tables.items()} == {
        "train": ["silver", "none"],
        "valid": ["silver"],
        "test": ["gold-2.1", "damd-slots"],
    }


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        (None, "--acts: no turns, but .*MULTIWOZ2.1.zip needs them"),
        ({}, "acts.tsv.gz: no turns, but .*MULTIWOZ2.1.zip needs them"),
        (
            SOURCES | {"MUL0004": []},
            "acts.tsv.gz, dialogue MUL0004: 0 turns where the archive has 1",
        ),
        (SOURCES | {"MUL0005": [("none", "none")]}, "acts.tsv.gz: SHA-256 .* where 1{64} is expected"),
    ],
)
def test_the_reconstructed_edition_is_refused_without_its_table(tiny, tmp_path, turns, message):
    acts = None if turns is None else write_sources(tmp_path / "acts.tsv.gz", turns)
    hashes = {"sha256": "0" * 64, "mirror_sha256": sha256(tiny)}
    if turns and "MUL0005" in turns:
        hashes["mirror_acts_sha256"] = "1" * 64
    with pytest.raises(TodflowError, match=f"{message}; set TODFLOW_DATA_MIRROR") as raised:
        prepare.main(options(tiny, tmp_path / "corpus", acts, **hashes))
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "corpus").exists()


def test_an_official_archive_has_its_own_acts_whatever_the_table_says(tiny, tmp_path):
    acts = write_sources(tmp_path / "acts.tsv.gz", SOURCES)
    prepare.main(options(tiny, tmp_path, acts, sha256=sha256(tiny), mirror_sha256="0" * 64))
    assert list(read_turns(tmp_path / "train.parquet")["act_source"]) == ["gold", "gold"]


def test_stage_refuses_in_one_line_and_writes_nothing(tmp_path):
    archive = write_archive(tmp_path / "a.zip", content())
    outputs = [part for name in COUNTS for part in (f"--{name}", tmp_path / f"{name}.parquet")]
    ended = subprocess.run(
        [sys.executable, "-m", "todflow.corpora.multiwoz.prepare", "--archive", archive, *outputs]
        + ["--database", tmp_path / "database.json", "--log", tmp_path / "log"],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "train: 1 dialogues with 2 turns where the release has 8438 with 56778" in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "log", "log.lock"]


@pytest.fixture(scope="module")
def tested(mirror):
    """The rows of the real test splits, by release."""
    folder = mirror / "multiwoz/official-layout"
    return {
        f"multiwoz2{minor}": prepare.split_rows(folder / f"MULTIWOZ2.{minor}.zip", "test")
        for minor in (0, 1)
    }


@pytest.mark.oracle
def test_every_test_turn_of_21_is_that_of_damd(tested, oracles):
    """Shares of equal turns; what the rest is, is in docs/multiwoz.md."""
    ours = {(row["dialogue_id"], row["turn"]): row for row in tested["multiwoz21"]}
    theirs = multiwoz_oracle.damd_on_21(oracles)
    assert len(ours) == len(theirs) == 7372
    equal = dict.fromkeys(["user", "resp", "constraint", "sys_act", "turn_domain", "pointer"], 0)
    columns = ["user", "response_delex", "state_span", "act_span", "domain", "pointer"]
    for turn in theirs:
        row = ours[turn["dialogue"], turn["turn"]]
        for name, column in zip(equal, columns, strict=True):
            expected = (
                turn[name].replace("[", "").replace("]", "") if column == "domain" else turn[name]
            )
            equal[name] += row[column] == expected
    assert min(equal.values()) >= 0.99 * 7372, equal


@pytest.mark.oracle
def test_booked_domains_are_the_evaluators(tested, oracles):
    path = oracles / "mwz/inputs/booked_domains_test.json.gz"
    expected = json.loads(gzip.decompress(path.read_bytes()))
    for rows in tested.values():
        assert len(rows) == 7372
        for row in rows:
            booked = expected[row["dialogue_id"]][row["turn"]]
            assert sorted(json.loads(row["booked"])) == sorted(booked)


def test_both_releases_have_the_same_dialogues_and_goals(tested):
    old, new = tested["multiwoz20"], tested["multiwoz21"]
    assert [(row["dialogue_id"], row["turn"]) for row in old] == [
        (row["dialogue_id"], row["turn"]) for row in new
    ]
    assert [json.loads(row["goal"]) for row in old] == [json.loads(row["goal"]) for row in new]
