"""Where the system acts of a turn are from, in every edition: the table's way here, and what it says."""

import collections
import gzip
import hashlib
import json
import os
import subprocess
import sys

import pytest
from multiwoz_tiny import content, write_archive, write_sources

from todflow.corpora.multiwoz.act_sources import HEADER, ActSources, fetch_table
from todflow.corpora.multiwoz.release import read_dialogues
from todflow.errors import TodflowError
from todflow.files import sha256


@pytest.fixture
def archive(tmp_path):
    return write_archive(tmp_path / "a.zip", content())


def dialogues(archive):
    return {dialogue.dialogue_id: dialogue for _, dialogue in read_dialogues(archive)}


# --- what it says -----------------------------------------------------------------------------------


def test_gold_where_the_release_has_acts(archive, tmp_path):
    for path in (None, write_sources(tmp_path / "acts.tsv.gz", {})):
        sources = ActSources(path, "multiwoz20")
        assert {name: sources.of(dialogue) for name, dialogue in dialogues(archive).items()} == {
            "SNG0001": ["gold", "gold"],
            "PMUL0002": ["gold"],
            "MUL0003": ["gold"],
            "MUL0004": ["none"],
        }


def test_each_release_has_a_column(archive, tmp_path):
    table = write_sources(
        tmp_path / "acts.tsv.gz", {"SNG0001": [("gold-2.0", "gold-2.1"), ("silver", "none")]}
    )
    dialogue = dialogues(archive)["SNG0001"]
    assert ActSources(table, "multiwoz20").of(dialogue) == ["gold-2.0", "silver"]
    assert ActSources(table, "multiwoz21").of(dialogue) == ["gold-2.1", "none"]


def test_every_turn_must_be_in_the_table(archive, tmp_path):
    silver = ("silver", "silver")
    for turns, found in ({"SNG0001": [silver]}, 1), ({"PMUL0002": [silver]}, 0):
        table = write_sources(tmp_path / "acts.tsv.gz", turns)
        with pytest.raises(TodflowError) as raised:
            ActSources(table, "multiwoz20").of(dialogues(archive)["SNG0001"])
        said = str(raised.value)
        assert said.startswith(f"{table}, dialogue SNG0001: {found} turns where the archive has 2; ")
        assert "set TODFLOW_DATA_MIRROR" in said and "\n" not in said


TITLE = "\t".join(HEADER)
WRONG = {
    "": "line 1: not dialogue turn",
    "dialogue\tturn\n": "line 1: not dialogue turn source_2.0 source_2.1 method",
    f"{TITLE}\nA.json\t1\tsilver\n": "line 2: 3 fields, not 5",
    f"{TITLE}\nA.json\t2\tsilver\tsilver\tx\n": "line 2, dialogue A.json: turn 2 where 1 is due",
    f"{TITLE}\nA.json\t1\tgood\tsilver\tx\n": "line 2, field source_2.0: 'good' is none of gold-2.0",
}


@pytest.mark.parametrize("text", WRONG)
def test_one_line_for_what_is_wrong(tmp_path, text):
    table = tmp_path / "acts.tsv.gz"
    table.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(TodflowError) as raised:
        ActSources(table, "multiwoz20")
    said = str(raised.value)
    assert said.startswith(f"{table}, {WRONG[text]}") and "\n" not in said


def test_tables_that_are_none(tmp_path):
    table = tmp_path / "acts.tsv.gz"
    with pytest.raises(TodflowError, match="acts.tsv.gz: no such file"):
        ActSources(table, "multiwoz20")
    whole = gzip.compress(TITLE.encode())
    for damaged in (b"text", whole[:-9], gzip.compress(b"\xff\xff")):
        table.write_bytes(damaged)
        with pytest.raises(TodflowError, match="acts.tsv.gz: not a gzipped table"):
            ActSources(table, "multiwoz20")


# --- its way here -----------------------------------------------------------------------------------

TABLE = gzip.compress(f"{TITLE}\nA.json\t1\tsilver\tsilver\tx\n".encode(), mtime=0)


def settings(archive, **changed) -> dict:
    return {
        "mirror_sha256": sha256(archive),
        "mirror_acts": "multiwoz/acts.tsv.gz",
        "mirror_acts_size": len(TABLE),
        "mirror_acts_sha256": hashlib.sha256(TABLE).hexdigest(),
    } | changed


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "mirror/multiwoz/acts.tsv.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(TABLE)
    return path


def test_the_table_comes_from_the_mirror(archive, source, tmp_path):
    target = tmp_path / "raw/acts.tsv.gz"
    fetch_table(settings(archive), archive, target, str(tmp_path / "mirror"))
    assert target.read_bytes() == TABLE
    assert [path.name for path in target.parent.iterdir()] == ["acts.tsv.gz"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (None, "no such file in TODFLOW_DATA_MIRROR; put the table there that belongs to .*a.zip"),
        (TABLE[:-1], f"{len(TABLE) - 1} bytes where {len(TABLE)} are expected; replace it"),
        (TABLE[:-1] + b"!", "SHA-256 .* is expected; replace it"),
    ],
)
def test_another_table_is_refused_by_name(archive, source, tmp_path, written, message):
    source.unlink()
    if written:
        source.write_bytes(written)
    target = tmp_path / "acts.tsv.gz"
    target.write_bytes(b"old")
    with pytest.raises(TodflowError, match=f"^{source}: {message}"):
        fetch_table(settings(archive), archive, target, str(tmp_path / "mirror"))
    assert target.read_bytes() == b"old"


def test_the_reconstructed_archive_needs_a_mirror(archive, tmp_path):
    with pytest.raises(TodflowError, match="a.zip: has acts of several sources.*; set TODFLOW_DATA"):
        fetch_table(settings(archive), archive, tmp_path / "acts.tsv.gz", None)


def test_an_official_archive_gets_the_header_alone(archive, source, tmp_path):
    official = settings(archive, mirror_sha256="0" * 64)
    for name, mirror in (("one", None), ("two", str(tmp_path / "mirror"))):
        fetch_table(official, archive, tmp_path / name, mirror)
        assert gzip.decompress((tmp_path / name).read_bytes()).decode() == f"{TITLE}\n"
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").read_bytes()[4:8] == bytes(4)  # gzip's date
    assert ActSources(tmp_path / "one", "multiwoz20").turns == {}


def test_stage_ends_with_status_2_and_one_line(archive, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "todflow.corpora.multiwoz.act_sources", "--archive", archive]
        + ["--config", json.dumps(settings(archive)), "--out", tmp_path / "acts.tsv.gz"]
        + ["--log", tmp_path / "log"],
        env=os.environ | {"TODFLOW_DATA_MIRROR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "multiwoz/acts.tsv.gz: no such file in TODFLOW_DATA_MIRROR" in ended.stderr
    assert not (tmp_path / "acts.tsv.gz").exists()


def test_the_real_table_has_every_turn_of_the_real_archive(mirror):
    """The figures of docs/multiwoz.md."""
    folder = mirror / "multiwoz/official-layout"
    sources = ActSources(folder / "acts_provenance.tsv.gz", "multiwoz21")
    counts = collections.defaultdict(collections.Counter)
    for split, dialogue in read_dialogues(folder / "MULTIWOZ2.1.zip"):
        counts[split].update(source.split("-")[0] for source in sources.of(dialogue))
    assert counts == {
        "train": {"silver": 40143, "damd": 11494, "gold": 4430, "none": 711},
        "valid": {"gold": 7365, "silver": 9},
        "test": {"gold": 7372},
    }
