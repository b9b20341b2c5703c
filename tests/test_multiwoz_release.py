"""Reading the release archives: both layouts, and an error in one line for whatever is wrong."""

import json
import re

import pytest
from multiwoz_tiny import TAXI, content, content21, write_archive

from todflow.corpora.multiwoz.release import (
    read_database,
    read_dialogues,
    read_split,
    release_of,
)
from todflow.errors import TodflowError


def names(dialogues) -> list[str]:
    return [dialogue.dialogue_id for dialogue in dialogues]


def test_layout_of_2_0(tmp_path):
    archive = write_archive(tmp_path / "MULTIWOZ2.0.zip", content())
    assert release_of(archive) == "multiwoz20"
    assert names(read_split(archive, "train")) == ["SNG0001"]
    assert names(read_split(archive, "valid")) == ["PMUL0002"]
    # In the order of data.json, not of the list.
    assert names(read_split(archive, "test")) == ["MUL0003", "MUL0004"]
    (dialogue,) = read_split(archive, "train")
    assert dialogue.goal["hotel"]["reqt"] == ["phone"]
    first, second = dialogue.exchanges
    assert (first.user, first.response) == ("A guesthouse in the north.", "The Acorn Guest House?")
    assert first.metadata["hotel"]["semi"]["area"] == "north"
    assert first.acts == {"Hotel-Recommend": [["Name", "Acorn Guest House"]]}
    assert second.acts == {"Booking-Book": [["Ref", "AB12"]]}
    assert first.user_spans is None and first.response_spans is None
    assert read_split(archive, "test")[1].exchanges[0].acts == {}


def test_layout_of_2_1(tmp_path):
    archive = write_archive(tmp_path / "MULTIWOZ2.1.zip", content21(), "MultiWOZ_2.1/")
    assert release_of(archive) == "multiwoz21"
    train, noted = read_split(archive, "test")
    assert train.exchanges[0].user_spans == []
    assert train.exchanges[0].response_spans[1] == ["Train-Inform", "Depart", "Cambridge", 3, 3]
    assert noted.exchanges[0].response_spans is None
    assert read_split(archive, "valid")[0].exchanges[0].acts == {
        "Restaurant-Inform": [["Area", "south"]]
    }


def test_2_1_with_the_member_names_of_2_0(tmp_path):
    # As the Cambridge repository has it; the ids of its acts may end in .json.
    members = content()
    members["dialogue_acts.json"] = {
        f"{name}.json": acts for name, acts in members["dialogue_acts.json"].items()
    }
    archive = write_archive(tmp_path / "MULTIWOZ2.1.zip", members, "MULTIWOZ2.1/")
    assert release_of(archive) == "multiwoz21"
    assert read_split(archive, "train")[0].exchanges[0].acts


@pytest.mark.parametrize("folder", ["", "a/b c/"])
def test_any_folder_or_none(tmp_path, folder):
    archive = write_archive(tmp_path / "a.zip", content(), folder)
    assert release_of(archive) == "multiwoz20"
    assert len(list(read_dialogues(archive))) == 4


def test_dialogues_and_turns_without_acts(tmp_path):
    members = content()
    del members["dialogue_acts.json"]["SNG0001"]["2"]
    del members["dialogue_acts.json"]["MUL0003"]
    archive = write_archive(tmp_path / "a.zip", members)
    assert read_split(archive, "train")[0].exchanges[1].acts == {}
    assert read_split(archive, "test")[0].exchanges[0].acts == {}


@pytest.mark.parametrize(
    "taxi",
    [
        [TAXI],
        TAXI,
        '[\n "taxi_colors" : ["red"],\n "taxi_types": ["skoda"],\n "taxi_phone": ["^[0-9]{10}$"]\n]',
        '{ taxi_colors : ["red"], taxi_types: ["skoda"], taxi_phone: ["^[0-9]{10}$"]}',
    ],
)
def test_database(tmp_path, taxi):
    archive = write_archive(tmp_path / "a.zip", content() | {"taxi_db.json": taxi})
    database = read_database(archive)
    assert database["taxi"] == [TAXI]
    assert [hotel["name"] for hotel in database["hotel"]] == ["gonville hotel", "acorn guest house"]
    assert list(database) == [
        "attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train"
    ]  # fmt: skip


def changed(path: str, value: object) -> dict[str, object]:
    """The members with one field of a parsed one changed; a missing value removes it."""
    members = content()
    member, *keys = path.split("/")
    if not keys:
        members[member] = value
    else:
        place = members[member]
        for key in keys[:-1]:
            place = place[int(key) if isinstance(place, list) else key]
        last = int(keys[-1]) if isinstance(place, list) else keys[-1]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return members


DIALOGUE = "data.json/SNG0001.json"
WRONG = {
    f"{DIALOGUE}/log/3": (None, "data.json, dialogue SNG0001.json, field log: 3 turns, where user"),
    f"{DIALOGUE}/log": ([], "dialogue SNG0001.json, field log: 0 turns"),
    f"{DIALOGUE}/goal": (None, "dialogue SNG0001.json, field goal: missing, not an object"),
    DIALOGUE: (7, "dialogue SNG0001.json: 7, not an object"),
    f"{DIALOGUE}/log/2/text": (None, "dialogue SNG0001.json, turn 2, field text: missing, not text"),
    f"{DIALOGUE}/log/3/metadata": (None, "turn 3, field metadata: missing, not an object"),
    f"{DIALOGUE}/log/1/metadata": ({}, "turn 1, field metadata: empty in a system turn"),
    f"{DIALOGUE}/log/0/metadata": ({"a": {}}, "turn 0, field metadata: not empty in a user turn"),
    f"{DIALOGUE}/goal/hotel": ([], "field goal.hotel: [], not an object"),
    f"{DIALOGUE}/log/1/metadata/taxi": (None, "turn 1, field metadata.taxi: missing, not an object"),
    f"{DIALOGUE}/log/1/metadata/hotel/semi": ([], "turn 1, field metadata.hotel.semi: []"),
    f"{DIALOGUE}/log/1/metadata/hotel/semi/area": (["x"], "field metadata.hotel.semi.area: ['x']"),
    f"{DIALOGUE}/log/1/metadata/hotel/book/booked": (None, "metadata.hotel.book.booked: missing"),
    f"{DIALOGUE}/log/1/span_info": ([["A", "b", "c", 1]], "turn 1, field span_info: ['A', 'b', 'c'"),
    "dialogue_acts.json/SNG0001": ([], "dialogue_acts.json, dialogue SNG0001: [], not an object"),
    "dialogue_acts.json/SNG0001/1": ("None", "dialogue SNG0001, turn 1: 'None', not an object"),
    "dialogue_acts.json/SNG0001/2/Booking-Book": ([["Ref"]], "turn 2, field Booking-Book: ['Ref']"),
    "dialogue_acts.json/SNG0001/1/Hotel": ([], "dialogue SNG0001, turn 1: act 'Hotel' is not Domain-Act"),
    "dialogue_acts.json": ([], "dialogue_acts.json: not an object of dialogues"),
    "testListFile.json": ("MUL9.json\n", "testListFile.json: MUL9.json is not in data.json"),
    "valListFile.json": ("MUL0003.json\n", "MUL0003.json is in both list files"),
    "valListFile.json/": ("", "valListFile.json: empty"),
    "data.json": ('{"A": {"log": [', "data.json: not JSON ("),
    "data.json//": ('{"A": ' + "[" * 200_000, "data.json: not JSON (maximum recursion depth"),
    "data.json/": ('["A"]', "data.json: not JSON ('{' is due at character 0"),
}  # fmt: skip


@pytest.mark.parametrize("path", WRONG)
def test_one_line_for_what_is_wrong(tmp_path, path):
    value, message = WRONG[path]
    members = changed(path.rstrip("/"), value)
    archive = write_archive(tmp_path / "a.zip", members)
    with pytest.raises(TodflowError) as raised:
        list(read_dialogues(archive))
    said = str(raised.value)
    assert message in said
    assert said.startswith(f"{archive}") and "\n" not in said
    assert "; take the unmodified release" in said


def test_a_dialogue_that_comes_twice(tmp_path):
    members = content()
    text = json.dumps(members["data.json"])
    members["data.json"] = text.replace('"MUL0004.json"', '"SNG0001.json"')
    with pytest.raises(TodflowError, match="dialogue SNG0001.json: comes twice"):
        list(read_dialogues(write_archive(tmp_path / "a.zip", members)))


def test_members_that_are_missing_or_double(tmp_path):
    archive = tmp_path / "a.zip"
    for gone in ("data.json", "dialogue_acts.json", "valListFile.json", "hotel_db.json"):
        write_archive(archive, {name: part for name, part in content().items() if name != gone})
        with pytest.raises(TodflowError, match=rf"a\.zip: no {re.escape(gone)}"):
            release_of(archive)
            list(read_dialogues(archive))
            read_database(archive)
    write_archive(archive, content() | {"more/data.json": {}})
    with pytest.raises(TodflowError, match="data.json and .*more/data.json are both there"):
        list(read_dialogues(archive))


def test_archives_that_are_none(tmp_path):
    with pytest.raises(TodflowError, match="no such file"):
        release_of(tmp_path / "none.zip")
    archive = write_archive(tmp_path / "a.zip", content())
    whole = archive.read_bytes()
    archive.write_bytes(whole[:-100])
    with pytest.raises(TodflowError, match="not a whole zip file"):
        release_of(archive)
    # One byte of the first member's compressed content is another.
    at = whole.index(b"data.json") + 200
    archive.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    with pytest.raises(TodflowError, match=r"data\.json: not a whole zip file"):
        list(read_dialogues(archive))
    with pytest.raises(TodflowError, match="split 'dev': none of train, valid, test"):
        read_split(archive, "dev")


@pytest.mark.parametrize("release", ["multiwoz20", "multiwoz21"])
def test_the_real_archives(mirror, release):
    archive = mirror / f"multiwoz/official-layout/MULTIWOZ2.{release[-1]}.zip"
    assert release_of(archive) == release
    counts = {split: [0, 0, 0] for split in ("train", "valid", "test")}
    for split, dialogue in read_dialogues(archive):
        counts[split][0] += 1
        counts[split][1] += len(dialogue.exchanges)
        counts[split][2] += sum(item.response_spans is not None for item in dialogue.exchanges)
    spans = {"multiwoz20": (0, 0, 0), "multiwoz21": (1503, 7365, 7372)}[release]
    assert counts == {
        "train": [8438, 56778, spans[0]],
        "valid": [1000, 7374, spans[1]],
        "test": [1000, 7372, spans[2]],
    }
