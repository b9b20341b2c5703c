"""In-Car's preparation: its parts, the release's errors, and agreement with LABES' own output."""

import copy
import gzip
import json
import os
import subprocess
import sys
import zipfile

import pytest

from todflow.corpora.incar.delexicalise import delexicalise, replace_words
from todflow.corpora.incar.entities import entity_map
from todflow.corpora.incar.prepare import split_rows, turns_of
from todflow.corpora.incar.release import Dialogue, Utterance, read_dialogues, read_entities
from todflow.corpora.incar.state import clean_state, clean_value
from todflow.corpora.turns import read_turns, write_turns
from todflow.errors import TodflowError

ENTITIES = entity_map(
    {
        "event": ["taking medicine", "Dinner"],
        "time": ["7pm"],
        "distance": [5],
        "traffic_info": ["heavy traffic"],
        "poi_type": ["gas station"],
        "poi": [
            {"address": "783 Arcadia Pl", "poi": "Chevron", "type": "gas station"},
            {"address": "1 Main St", "poi": "P.F. Changs", "type": "chinese restaurant"},
        ],
    }
)


def test_entity_map():
    assert ENTITIES == {
        "taking medicine": "event",
        "taking": "event",
        "dinner": "event",
        "7pm": "time",
        "heavy traffic": "traffic_info",
        "gas station": "poi_type",
        "gas": "poi_type",
        "783 arcadia pl": "address",
        "chevron": "poi",
        "1 main st": "address",
        "p.f. chang": "poi",
        "chinese restaurant": "poi_type",
        "chinese": "poi_type",
    }
    assert list(ENTITIES)[:3] == ["taking medicine", "taking", "dinner"]


@pytest.mark.parametrize(
    ("response", "said", "intent", "expected"),
    [
        ("Chevron is 5 miles away.", "", "navigate", "[value_poi] is [value_distance] away ."),
        ("Chevron is near", "the chevron please", "navigate", "chevron is near"),
        ("It is at 783 Arcadia Pl.", "", "navigate", "it is at [value_address]"),
        ("between 70-90f today", "", "weather", "between [value_temperature] today"),
        ("dinner at 7 pm", "", "schedule", "[value_event] at [value_time]"),
        ("dinner at 7 pm", "", "weather", "dinner at 7pm"),
        ("a gas station", "", "navigate", "a gas station"),  # poi_type can't be requested
        ("PF Changs, heavy traffic", "", "navigate", "pf chang , [value_traffic_info]"),
    ],
)
def test_delexicalise(response, said, intent, expected):
    assert delexicalise(response, ENTITIES, said, intent) == expected


def test_replace_words():
    assert replace_words("gas, gasoline and gas", "gas", "[x]") == "[x], [x] and [x]"
    # An occurrence within a word ends the search.
    assert replace_words("biogas and gas", "gas", "[x]") == "biogas and gas"
    assert replace_words("gas biogas gas", "gas", "[x]") == "[x] biogas gas"
    # Sequicity goes on from the old position, which may be beyond the next occurrence.
    assert replace_words("gas gas", "gas", "[x]", restart=False) == "[x] [x]"
    assert replace_words("gasoline gas gas", "gas", "[x]", restart=False) == "[x] gas [x]"


def test_clean_value():
    assert clean_value("Gas Stations", ENTITIES) == "gas station"
    assert clean_value("gas stop", ENTITIES) == "gas"
    assert clean_value("7 pm", ENTITIES) == "7pm"
    assert clean_value("5 miles", ENTITIES | {"5 mile": "distance"}) == "5 mile"
    assert clean_value("nothing known", ENTITIES) is None
    assert clean_value("", ENTITIES) is None


def test_clean_state_keeps_the_intents_slots_in_order():
    slots = {"time": "7pm", "poi": "chevron", "event": "dinner", "party": "nobody"}
    state = clean_state(slots, "schedule", ENTITIES)
    assert list(state.items()) == [("event", "dinner"), ("time", "7pm")]


def test_turns_of_a_dialogue_that_does_not_alternate():
    dialogue = Dialogue(
        "d",
        "schedule",
        [
            Utterance(False, "Hello", {"time": "7pm"}),
            Utterance(True, "dinner", {}),
            Utterance(True, "at what time", {}),
            Utterance(False, "Dinner is at 7pm", {}),
            Utterance(False, "Really", {"event": "dinner"}),
            Utterance(True, "bye", {}),
            Utterance(False, "Bye", {}),
        ],
    )
    rows = turns_of(dialogue, "test", ENTITIES)
    assert [row["user"] for row in rows] == ["at what time", "bye"]
    # Both driver turns count as said, so dinner stays in words.
    assert [row["response_delex"] for row in rows] == ["dinner is at [value_time]", "bye"]
    assert rows[0]["response"] == "dinner is at 7pm"
    # The slots of assistant turns without a turn of their own enter the state.
    assert rows[0]["state_span"] == "[schedule] time 7pm"
    assert json.loads(rows[1]["state"]) == {"schedule": {"event": "dinner", "time": "7pm"}}
    assert [row["turn"] for row in rows] == [0, 1]


DIALOGUE = {
    "dialogue": [
        {"turn": "driver", "data": {"utterance": "hi"}},
        {"turn": "assistant", "data": {"utterance": "hello", "slots": {"time": "7pm"}}},
    ],
    "scenario": {"uuid": "one", "task": {"intent": "schedule"}},
}
GOOD = {"kvret_test_public.json": [DIALOGUE], "kvret_entities.json": {"time": ["7pm"]}}


def archive(path, members):
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in members.items():
            text = content if isinstance(content, str) else json.dumps(content)
            opened.writestr(name, text)
    return path


def changed(*keys, value):
    """DIALOGUE with the field at `keys` set, or deleted for value None."""
    result = copy.deepcopy(DIALOGUE)
    inner = result
    for key in keys[:-1]:
        inner = inner[key]
    if value is None:
        del inner[keys[-1]]
    else:
        inner[keys[-1]] = value
    return result


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (changed("scenario", "uuid", value=None), "scenario.uuid: missing, not text"),
        (DIALOGUE, "scenario.uuid: 'one' is used before"),
        (changed("scenario", "task", "intent", value="fly"), "scenario.task.intent: 'fly' is none"),
        (changed("dialogue", value={}), "dialogue: {}, not a list"),
        (changed("dialogue", 0, "turn", value="cat"), "utterance 0, field turn: 'cat'"),
        (
            changed("dialogue", 1, "data", "utterance", value=None),
            "utterance 1, field data.utterance: missing",
        ),
        (
            changed("dialogue", 1, "data", "slots", value=None),
            "utterance 1, field data.slots: missing, not an object",
        ),
        (
            changed("dialogue", 1, "data", "slots", "time", value=7),
            "utterance 1, field data.slots.time: 7, not text",
        ),
        ("text", "field scenario.task.intent: missing"),
    ],
)
def test_bad_field_is_named(tmp_path, second, message):
    path = archive(tmp_path / "k.zip", GOOD | {"kvret_test_public.json": [DIALOGUE, second]})
    with pytest.raises(TodflowError) as raised:
        read_dialogues(path, "kvret_test_public.json")
    text = str(raised.value)
    assert text.startswith(f"{path}, kvret_test_public.json, dialogue 1, ")
    assert message in text and "stage todflow.corpora.fetch" in text and "\n" not in text


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "no member kvret_test_public.json"),
        ({"kvret_test_public.json": "{"}, "kvret_test_public.json: not JSON"),
        ({"kvret_test_public.json": {}}, "kvret_test_public.json: not a list of dialogues"),
        (
            GOOD,
            "1 dialogues with 1 turns where the public release has 304 with 808",
        ),
    ],
)
def test_bad_member_is_named(tmp_path, members, message):
    path = archive(tmp_path / "k.zip", members)
    with pytest.raises(TodflowError, match=message):
        split_rows(path, "test", {"7pm": "time"})


def test_unreadable_archive(tmp_path):
    with pytest.raises(TodflowError, match="no such file"):
        read_entities(tmp_path / "none.zip")
    (tmp_path / "bad.zip").write_text("no zip")
    with pytest.raises(TodflowError, match=r"bad\.zip, kvret_entities\.json: not a whole zip"):
        read_entities(tmp_path / "bad.zip")


@pytest.mark.parametrize("values", ["7pm", [None], [""], [{"poi": ["x"]}]])
def test_bad_entities(tmp_path, values):
    path = archive(tmp_path / "k.zip", GOOD | {"kvret_entities.json": {"time": values}})
    with pytest.raises(TodflowError, match="kvret_entities.json, field time"):
        read_entities(path)


def stage(source, folder):
    names = ["train", "valid", "test"]
    outputs = [part for name in names for part in (f"--{name}", folder / f"{name}.parquet")]
    return subprocess.run(
        [sys.executable, "-m", "todflow.corpora.incar.prepare", "--archive", source, *outputs]
        + ["--entities", folder / "entities.json", "--log", folder / "log"],
        env=os.environ | {"PYTHONHASHSEED": "random"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_stage_refuses_in_one_line_and_writes_nothing(tmp_path):
    ended = stage(archive(tmp_path / "k.zip", GOOD), tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "no member kvret_train_public.json" in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.zip", "log", "log.lock"]


@pytest.fixture(scope="module")
def prepared(mirror, tmp_path_factory):
    folder = tmp_path_factory.mktemp("incar")
    ended = stage(mirror / "kvret" / "kvret_dataset_public.zip", folder)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.mark.oracle
def test_official_counts(prepared):
    counted = {}
    for split in ("train", "valid", "test"):
        table = read_turns(prepared / f"{split}.parquet")
        counted[split] = (table["dialogue_id"].nunique(), len(table))
    # Three training dialogues have no turn.
    assert counted == {"train": (2422, 6291), "valid": (302, 777), "test": (304, 808)}


@pytest.mark.oracle
def test_same_bytes_from_another_process(prepared, mirror, tmp_path):
    archive = mirror / "kvret" / "kvret_dataset_public.zip"
    entities = entity_map(read_entities(archive))
    write_turns(tmp_path / "test.parquet", split_rows(archive, "test", entities))
    assert (tmp_path / "test.parquet").read_bytes() == (prepared / "test.parquet").read_bytes()


@pytest.mark.oracle
def test_entities_are_those_of_labes(prepared, oracles):
    expected = json.loads(
        gzip.decompress((oracles / "incar/preproc/labes_code_entity_dict.json.gz").read_bytes())
    )
    assert json.loads((prepared / "entities.json").read_text()) == expected


@pytest.mark.oracle
def test_every_test_turn_is_that_of_labes(prepared, oracles):
    stored = json.loads(
        gzip.decompress((oracles / "incar/preproc/labes_code_test.json.gz").read_bytes())
    )
    expected = [turn for turns in stored.values() for turn in turns]
    table = read_turns(prepared / "test.parquet")
    assert len(table) == len(expected) == 808
    assert [len(turns) for turns in stored.values()] == (
        table.groupby("dialogue_id", sort=False).size().tolist()
    )
    for row, turn in zip(table.itertuples(), expected, strict=True):
        assert row.user == turn["user"]
        assert row.response_delex == turn["response"]
        state = {
            f"{domain}-{slot}": value
            for domain, slots in json.loads(row.state).items()
            for slot, value in slots.items()
        }
        assert state == json.loads(turn["constraint"])
        assert row.state_span.split() == span_of(state)


def span_of(state: dict[str, str]) -> list[str]:
    """LABES' state as a span with the slots in the published order."""
    order = (
        "weather-date weather-location weather-weather_attribute navigate-poi_type "
        "navigate-distance schedule-event schedule-date schedule-time schedule-agenda "
        "schedule-party schedule-room"
    ).split()
    words = [f"[{next(iter(state)).split('-')[0]}]"] if state else []
    for name in order:
        if name in state:
            words += [name.split("-")[1], *state[name].split()]
    return words
