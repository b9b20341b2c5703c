"""The standard evaluator's query, against looking through all entities."""

import pytest
from fuzzywuzzy import fuzz as fuzzywuzzy
from hypothesis import given, settings
from hypothesis import strategies as st
from multiwoz_scoring import DATABASE
from rapidfuzz import fuzz as rapidfuzz

from todflow.errors import TodflowError
from todflow.metrics.multiwoz import normalise
from todflow.metrics.multiwoz.database import DONT_CARE, Database, partial_ratio

fixed = settings(derandomize=True, deadline=None)
WORDS = st.text(alphabet="ab c", max_size=12)
NAMES = st.sampled_from(["acorn house", "acorn guest house", "nandos", "the nandos", "rosa's", "?"])
CLOCKS = st.sampled_from(["09:00", "9:15", "10:07", "noon", "soon", "?", "24:10"])
HOTELS = st.fixed_dictionaries(
    {"name": NAMES, "area": st.sampled_from(["north", "south", "?"])},
    optional={"stars": st.sampled_from(["3", "4"]), "location": st.just([0.5, 52.2])},
)
TRAINS = st.fixed_dictionaries(
    {"trainID": st.sampled_from(["TR1", "TR2", "TR3"]), "arriveBy": CLOCKS, "leaveAt": CLOCKS}
)
VALUES = {
    "name": NAMES,
    "area": st.sampled_from(["north", "south", "dontcare", "do n't care", ""]),
    "stars": st.sampled_from(["3", "4", "5"]),
    "arrive": CLOCKS,
    "leave": CLOCKS,
    "nothing": st.just("at all"),
}
CONSTRAINTS = st.fixed_dictionaries({}, optional=VALUES)


def database(hotels=(), trains=()):
    hotels = [{"id": str(number), **hotel} for number, hotel in enumerate(hotels)]
    return Database(
        DATABASE | {"hotel": hotels or DATABASE["hotel"], "train": trains or DATABASE["train"]},
        "v1",
    )


def looked_through(entities, constraints, identity):
    """The query as its definition reads, entity by entity."""

    def fits(entity, slot, value):
        found = entity.get(slot)
        if found == "?":
            return True
        if found is None:
            return False
        if slot in ("arrive", "leave"):
            limits = normalise.minutes(value), normalise.minutes(found)
            return limits[1] <= limits[0] if slot == "arrive" else limits[1] >= limits[0]
        return fuzzywuzzy.partial_ratio(found, value) >= 90 if slot == "name" else found == value

    renamed = [
        {normalise.slot_name(name): value for name, value in each.items()} for each in entities
    ]
    columns = renamed[0].keys() - {"location"}
    wanted = {
        slot: normalise.value(slot, value, "v1")
        for slot, value in constraints.items()
        if slot in columns and value not in DONT_CARE
    }
    return {
        entity[identity]
        for entity in renamed
        if all(fits(entity, slot, value) for slot, value in wanted.items())
    }


@fixed
@given(st.lists(HOTELS, min_size=1, max_size=6), CONSTRAINTS)
def test_hotels_as_by_looking_through(hotels, constraints):
    numbered = [{"id": str(number), **hotel} for number, hotel in enumerate(hotels)]
    expected = looked_through(numbered, constraints, "id")
    queried = database(hotels)
    assert queried.query("hotel", constraints) == expected
    # The second time it is remembered.
    assert queried.query("hotel", constraints) == expected


@fixed
@given(st.lists(TRAINS, min_size=1, max_size=6), CONSTRAINTS)
def test_trains_as_by_looking_through(trains, constraints):
    expected = looked_through(trains, constraints, "trainid")
    assert database(trains=trains).query("train", constraints) == expected


@fixed
@given(
    st.lists(HOTELS, min_size=1, max_size=6),
    CONSTRAINTS,
    st.sampled_from(sorted(VALUES)),
    st.data(),
)
def test_another_constraint_adds_nothing(hotels, constraints, slot, data):
    more = {slot: data.draw(VALUES[slot]), **constraints}
    queried = database(hotels)
    assert queried.query("hotel", more) <= queried.query("hotel", constraints)


@fixed
@given(st.lists(HOTELS, min_size=1, max_size=6), CONSTRAINTS)
def test_the_order_of_constraints_does_not_matter(hotels, constraints):
    backwards = dict(reversed(constraints.items()))
    assert database(hotels).query("hotel", constraints) == database(hotels).query(
        "hotel", backwards
    )


@fixed
@given(WORDS, WORDS)
def test_partial_ratio_is_fuzzywuzzys(left, right):
    assert partial_ratio(left, right) == fuzzywuzzy.partial_ratio(left, right)


@fixed
@given(
    st.text(alphabet="abc", min_size=1, max_size=70),
    st.text(alphabet="abc", min_size=1, max_size=70),
)
def test_rapidfuzz_own_partial_ratio_is_never_lower(left, right):
    assert rapidfuzz.partial_ratio(left, right) >= partial_ratio(left, right) - 0.5 - 1e-9


def test_without_constraints_everything_fits():
    assert database().query("hotel", {}) == {"0", "1", "2"}
    assert database().query("hotel", {"area": "dontcare", "people": "3"}) == {"0", "1", "2"}
    assert database().query("taxi", {}) == database().query("bus", {"x": "y"}) == frozenset()


def test_question_marks_fit_and_missing_columns_do_not():
    assert database().query("hotel", {"phone": "01224"}) == {"1", "2"}
    assert database([{"area": "north", "stars": "3"}, {"area": "north"}]).query(
        "hotel", {"stars": "3"}
    ) == {"0"}


def test_trains_share_ids():
    assert database().query("train", {"departure": "cambridge"}) == {"TR1"}
    assert database().query("train", {"arrive": "10:15"}) == {"TR1"}
    assert database().query("train", {"leave": "10:30"}) == {"TR1"}
    assert database().query("train", {"leave": "11:01"}) == frozenset()


def test_the_misspelt_type_of_the_release_is_found():
    entities = [{"id": "5", "name": "cambridge", "type": "mutliple sports"}]
    queried = Database(DATABASE | {"attraction": entities}, "v1")
    assert queried.query("attraction", {"type": "multiple sports"}) == {"5"}
    assert queried.query("attraction", {"type": "mutliple sports"}) == {"5"}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (DATABASE | {"hotel": []}, "no entities of hotel"),
        (DATABASE | {"train": [{"id": "1"}]}, "an entity of train has no 'trainid'"),
    ],
)
def test_refuses_databases_without_ids(raw, message):
    with pytest.raises(TodflowError, match=message):
        Database(raw, "v1")
