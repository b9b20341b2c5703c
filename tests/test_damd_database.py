"""DAMD's query and pointer, rule by rule and against DAMD's own output."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from todflow.corpora.multiwoz import release
from todflow.corpora.multiwoz.damd_database import DamdDatabase
from todflow.corpora.multiwoz.state import states

RESTAURANTS = [
    {"name": "Alpha", "area": "north", "food": "thai", "pricerange": "cheap", "location": [1, 2]},
    {"name": "beta", "area": "north", "food": "indian", "pricerange": "cheap"},
    {"name": "gamma", "area": "south", "food": "thai", "pricerange": "expensive"},
]
HOTELS = [
    {"name": "acorn", "type": "guesthouse", "internet": "yes", "price": {"single": "50"}},
    {"name": "bell", "type": "hotel", "internet": "no"},
]
TRAINS = [
    {"trainID": f"TR{hour:04}", "leaveAt": f"{hour:02}:00", "arriveBy": f"{hour:02}:50", "day": day}
    for hour, day in ((5, "monday"), (9, "monday"), (13, "tuesday"))
]
RAW = {
    "restaurant": RESTAURANTS,
    "hotel": HOTELS,
    "attraction": [{"name": "museum of science", "area": "centre", "entrance fee": "free"}],
    "train": TRAINS,
}


@pytest.fixture(scope="module")
def database() -> DamdDatabase:
    return DamdDatabase(RAW)


@pytest.mark.parametrize("constraints", [{}, {"area": ""}, {"area": "not mentioned", "name": ""}])
def test_no_constraint_finds_nothing(database, constraints):
    assert database.query("restaurant", constraints) == []


@pytest.mark.parametrize("anything", ["dontcare", "don't care", "do n't care", "dont care"])
def test_dont_care_finds_everything(database, anything):
    found = database.query("restaurant", {"area": anything, "planet": anything})
    assert [entity["name"] for entity in found] == ["alpha", "beta", "gamma"]


def test_a_known_name_outweighs_everything_else(database):
    assert database.keys("restaurant", {"name": "gamma", "area": "north"}) == {"gamma"}


def test_an_unknown_name_is_ignored(database):
    assert database.keys("restaurant", {"name": "delta", "area": "north"}) == {"alpha", "beta"}
    assert len(database.query("restaurant", {"name": "delta"})) == 3


@pytest.mark.parametrize("domain, slot", [("restaurant", "time"), ("restaurant", "day")])
def test_slots_of_a_booking_are_ignored(database, domain, slot):
    asked = {slot: "monday", "people": "3", "stay": "2", "food": "thai"}
    assert database.keys(domain, asked) == {"alpha", "gamma"}


def test_the_day_of_a_hotel_is_ignored_but_not_its_time(database):
    assert len(database.query("hotel", {"day": "monday"})) == 2
    assert database.query("hotel", {"time": "11:00"}) == []


def test_a_slot_that_is_no_column_finds_nothing(database):
    assert database.query("restaurant", {"stars": "4", "food": "thai"}) == []


def test_values_are_cleaned_like_belief_states(database):
    assert database.keys("hotel", {"type": "guest house"}) == {"acorn"}
    assert database.keys("hotel", {"type": "guesthouse"}) == frozenset()


def test_free_internet_is_internet(database):
    assert database.keys("hotel", {"internet": "free"}) == {"acorn"}


def test_columns_without_text_fit_nothing(database):
    assert database.query("hotel", {"price": "50"}) == []
    assert database.query("restaurant", {"location": "[1, 2]"}) == []


def test_columns_get_the_slots_names(database):
    assert database.query("attraction", {"area": "centre"})[0]["price"] == "free"
    assert database.keys("train", {"day": "tuesday"}) == {"tr0013"}


def test_times_are_compared_the_wrong_way_round(database):
    assert database.keys("train", {"arrive": "09:50"}) == {"tr0009", "tr0013"}
    assert database.keys("train", {"leave": "09:00"}) == {"tr0005", "tr0009"}


@pytest.mark.parametrize("time", ["noon", "9", "1:2:3", "after 9:00"])
def test_what_is_no_time_finds_nothing(database, time):
    assert database.query("train", {"leave": time, "day": "monday"}) == []


def _matches(entity: dict, domain: str, slot: str, value: str) -> bool:
    if value in ("", "not mentioned", "dontcare", "don't care", "do n't care", "dont care"):
        return True
    if slot in ("people", "stay") or (domain, slot) in (
        ("hotel", "day"), ("restaurant", "day"), ("restaurant", "time"),
    ):  # fmt: skip
        return True
    if slot not in entity:
        return False
    if slot in ("arrive", "leave"):
        if value.count(":") != 1:
            return False
        hour, minute = value.split(":")
        wanted, there = (int(hour), int(minute)), tuple(map(int, entity[slot].split(":")))
        return there >= wanted if slot == "arrive" else there <= wanted
    return entity[slot] == ("yes" if value == "free" else value)


def _filter(entities: list[dict], domain: str, constraints: dict[str, str]) -> list[dict]:
    if not set(constraints.values()) - {"", "not mentioned"}:
        return []
    named = [each for each in entities if each.get("name") == constraints.get("name", object())]
    if named:
        return named[:1]
    return [
        entity
        for entity in entities
        if all(_matches(entity, domain, *pair) for pair in constraints.items() if pair[0] != "name")
    ]


SLOT = st.sampled_from(
    "name area food type internet arrive leave day people stay time stars pricerange".split()
)
VALUE = st.sampled_from(
    ["", "not mentioned", "dontcare", "do n't care", "north", "thai", "cheap", "alpha", "gamma"]
    + ["delta", "guest house", "hotel", "free", "yes", "monday", "2", "9"]
    + ["09:00", "09:50", "23:59", "00:00"]
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["restaurant", "hotel", "attraction", "train"]),
    st.dictionaries(SLOT, VALUE, max_size=4),
)
def test_the_indexed_query_is_a_plain_filter(domain, constraints):
    database = DamdDatabase(RAW)
    everything = database.query(domain, {"area": "dontcare"})
    wanted = _filter(everything, domain, constraints)
    assert database.query(domain, constraints) == wanted
    assert database.query(domain, constraints) == wanted  # as remembered


def _pointer(count: int, domain: str = "restaurant", acts: dict | None = None) -> str:
    rows = [{"name": f"n{row}", "area": "north"} for row in range(count)]
    database = DamdDatabase({**RAW, domain: [*rows, {"name": "other", "area": "south"}]})
    return database.pointer([domain], {domain: {"area": "north"}}, acts or {})


@pytest.mark.parametrize("count, place", [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (9, 3)])
def test_bins_of_the_pointer(count, place):
    assert _pointer(count).split(",")[:4] == ["1" if each == place else "0" for each in range(4)]


@pytest.mark.parametrize("count, place", [(0, 0), (1, 1), (5, 1), (6, 2), (10, 2), (11, 3)])
def test_bins_of_the_pointer_for_trains(count, place):
    bins = _pointer(count, "train").split(",")[:4]
    assert bins == ["1" if each == place else "0" for each in range(4)]


@pytest.mark.parametrize(
    "acts, bits",
    [
        ({}, "0,0"),
        ({"Booking-Inform": [["none", "none"]]}, "0,0"),
        ({"Booking-NoBook": [["none", "none"]]}, "1,0"),
        ({"Booking-Book": [["Ref", "X"]]}, "0,1"),
        ({"Train-OfferBooked": [["Ref", "X"]]}, "0,1"),
        ({"Booking-NoBook": [["Time", "9"]], "Booking-Book": [["Ref", "X"]]}, "0,1"),
        ({"Booking-Book": []}, "0,0"),
    ],
)
def test_bits_of_a_booking(acts, bits):
    assert _pointer(1, acts=acts) == f"0,1,0,0,{bits}"


@pytest.mark.parametrize(
    "domains, count",
    [
        (["hotel"], 1),
        (["restaurant", "hotel"], 1),
        (["hotel", "restaurant"], 3),
        (["hotel", "restaurant", "train"], 3),
        (["taxi"], None),
        (["general"], None),
        (["attraction"], None),
        ([], None),
    ],
)
def test_the_pointer_is_about_the_second_of_several_domains(database, domains, count):
    state = {
        "hotel": {"type": "hotel"},
        "restaurant": {"area": "dontcare"},
        "taxi": {"leave": "09:00"},
    }
    assert database.matches(domains, state) == count
    assert (database.pointer(domains, state, {}) == "0,0,0,0,0,0") == (count is None)


def test_pointers_of_damds_own_code(mirror, oracles):
    """The turns' domains are the oracle's, so that their order is not judged here."""
    archive = mirror / "multiwoz" / "official-layout" / "MULTIWOZ2.1.zip"
    database = DamdDatabase(release.read_database(archive))
    with gzip.open(oracles / "mwz" / "preproc" / "damd_code_on_mwz21_test.jsonl.gz", "rt") as lines:
        expected = {(row["dialogue"], row["turn"]): row for row in map(json.loads, lines)}
    pointers, matches = 0, 0
    for dialogue in release.read_split(archive, "test"):
        turns = zip(dialogue.exchanges, states(dialogue), strict=True)
        for turn, (exchange, state) in enumerate(turns):
            row = expected.pop((dialogue.dialogue_id.lower(), turn))
            domains = row["turn_domain"].replace("[", "").replace("]", "").split()
            found = database.matches(domains, state)
            pointers += database.pointer(domains, state, exchange.acts) == row["pointer"]
            matches += ("" if found is None else str(found)) == row["match"]
    assert (pointers, matches, len(expected)) == (7372, 7372, 0)
