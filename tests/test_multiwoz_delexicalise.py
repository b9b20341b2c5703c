"""Responses with placeholders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiwoz_texts import damd, damd_100, exchanges, one_space, values

from todflow.corpora.multiwoz.delexicalise import ValueIndex, by_spans, by_values, response_delex
from todflow.corpora.multiwoz.release import Exchange
from todflow.corpora.multiwoz.spans import Span, annotated
from todflow.corpora.multiwoz.text import clean, repair
from todflow.corpora.multiwoz.tokens import tokenise

DATABASE = {
    "restaurant": [
        {
            "address": "Regent Street City Centre",
            "area": "centre",
            "food": "italian",
            "id": "1",
            "introduction": "nice",
            "location": [52.2, 0.1],
            "name": "pizza hut city centre",
            "phone": "01223323737",
            "postcode": "cb21ab",
            "pricerange": "cheap",
            "type": "restaurant",
        }
    ],
    "hotel": [{"name": "a and b guest house", "area": "east", "type": "guesthouse", "stars": "4"}],
    "attraction": [
        {"name": "kettle's yard", "type": "museum", "openhours": "always", "area": "west"}
    ],
    "train": [
        {
            "trainID": "TR0001",
            "arriveBy": "10:08",
            "leaveAt": "09:00",
            "departure": "cambridge",
            "destination": "ely",
            "duration": "17 minutes",
            "price": "4.40 pounds",
            "day": "monday",
        },
        {
            "trainID": "TR0002",
            "arriveBy": "09:00",
            "leaveAt": "08:43",
            "departure": "ely",
            "destination": "cambridge",
            "duration": "17 minutes",
            "price": "4.40 pounds",
            "day": "monday",
        },
    ],
    "taxi": [{"taxi_colors": ["red"], "taxi_types": ["toyota"], "taxi_phone": ["^[0-9]{10}$"]}],
    "police": [{"name": "Parkside Police Station", "id": 0}],
    "hospital": [{"department": "neurology", "id": 1, "phone": "01223256653"}],
}
INDEX = ValueIndex(DATABASE)


def test_value_index():
    assert INDEX.ambiguous == ["09:00", "ely"]
    assert INDEX.words == {
        "centre": "[value_area]",
        "italian": "[value_food]",
        "cheap": "[value_pricerange]",
        "east": "[value_area]",
        "museum": "[value_type]",
        "west": "[value_area]",
        "10:08": "[value_arrive]",
        "08:43": "[value_leave]",
        "monday": "[value_day]",
        "red": "[value_car]",
        "toyota": "[value_car]",
        "neurology": "[value_department]",
        "01223256653": "[value_phone]",
        "parkside": "[value_address]",
    }
    lengths = [len(value) for value, _ in INDEX.phrases]
    assert lengths == sorted(lengths, reverse=True)
    assert dict(INDEX.phrases)["kettle 's yard"] == "[value_name]"
    assert dict(INDEX.phrases)["guest house"] == "[value_type]"
    assert dict(INDEX.phrases)["17 minutes"] == "[value_time]"


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("Hello there.", [], "hello there ."),
        (
            "Nandos is at Fen Ditton, ok?",
            [("name", 0, 0), ("address", 3, 4)],
            "[value_name] is at [value_address] , ok ?",
        ),
        # Opening hours stay.
        ("Open from 9 to 5", [("open", 2, 4)], "open from 9 to 5"),
        # Parts of one value.
        (
            "at a road, b road, c road.",
            [("address", 1, 2), ("address", 4, 5), ("address", 7, 8)],
            "at [value_address] .",
        ),
        ("at a road, b road.", [("address", 1, 2), ("address", 4, 5)], "at [value_address] ."),
        ("Pizza Hut Centre", [("name", 0, 1), ("name", 2, 2)], "[value_name]"),
        # Of overlapping spans the later one writes over the earlier.
        ("The Gonville Hotel", [("name", 1, 2), ("type", 2, 2)], "the [value_name] [value_type]"),
        ("The Gonville Hotel", [("type", 2, 2), ("name", 1, 2)], "the [value_name]"),
        # Spans of no tokens take one; spans outside the text take none.
        ("a b c", [("type", 1, 0)], "a [value_type] c"),
        ("a b c", [("type", 3, 3)], "a b c"),
        ("a b c", [("type", 2, 5)], "a b [value_type]"),
    ],
)
def test_by_spans(text, spans, expected):
    assert by_spans(tokenise(text), [Span(*span) for span in spans]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Patterns.
        ("call 01223323737 or 01223 323737", "call [value_phone] or [value_phone]"),
        ("a 4 stars or 3-star hotel", "a [value_stars] or [value_stars] hotel"),
        (
            "it is 4.40 pounds , $5 or 17 gbp",
            "it is [value_price] , [value_price] or [value_price]",
        ),
        ("train tr1234", "train [value_id]"),
        ("at cb21ab or cb2 , 1ab", "at [value_postcode] or [value_postcode]"),
        ("at cb2, 1ab", "at [value_postcode]"),
        # Phrases before words, the longest first; in words too.
        ("pizza hut city centre", "[value_name]"),
        ("in the city centre", "in the city [value_area]"),
        ("2 guest houses", "2 [value_type]s"),
        # Words only as a whole.
        ("cheap italian in the east", "[value_pricerange] [value_food] in the [value_area]"),
        ("museums in the northeast", "museums in the northeast"),
        ("in cambridge", "in cambridge"),
        ("a red toyota", "a [value_car]"),
        # Values that may be of two slots: by the nearest word before.
        ("from ely", "from [value_departure]"),
        ("leaving cambridge to ely", "leaving cambridge to [value_destination]"),
        ("leaves at 09:00", "leaves at [value_leave]"),
        ("leave and arrive at 09:00", "leave and arrive at [value_arrive]"),
        ("is ely fine ?", "is ely fine ?"),
        ("ely it is", "ely it is"),
    ],
)
def test_by_values(text, expected):
    assert by_values(text, INDEX) == expected


RESPONSE = "The cheap Pizza Hut is in the centre."
ACTS = {"Restaurant-Inform": [["Name", "Pizza Hut"], ["Area", "none"]]}
SPANS = [["Restaurant-Inform", "Price", "cheap", 1, 1]]


@pytest.mark.parametrize(
    ("acts", "spans", "expected"),
    [
        (ACTS, SPANS, "the [value_price] pizza hut is in the centre ."),
        (ACTS, None, "the cheap [value_name] is in the centre ."),
        # Annotated, and nothing found: the acts are not asked.
        (ACTS, [], "the [value_pricerange] pizza hut is in the [value_area] ."),
        ({}, None, "the [value_pricerange] pizza hut is in the [value_area] ."),
        (
            {"Restaurant-Inform": [["Name", "Nandos"]]},
            None,
            "the [value_pricerange] pizza hut is in the [value_area] .",
        ),
    ],
)
def test_which_way(acts, spans, expected):
    exchange = Exchange("", RESPONSE, {}, acts, None, spans)
    assert response_delex(exchange, INDEX) == expected


PIECES = st.sampled_from(
    "a 4 stars $5 01223 323737 tr1234 cb2, 1ab pizza hut city centre from to ely 09:00 red toyota".split()
)


@given(st.one_of(st.text(), st.lists(PIECES).map(" ".join), st.lists(PIECES).map("".join)))
def test_by_values_gives_words_with_single_spaces(text):
    result = by_values(clean(text), INDEX)
    assert result == " ".join(result.split())


@given(
    st.text(),
    st.lists(
        st.builds(Span, st.sampled_from(["name", "open"]), st.integers(0, 9), st.integers(0, 9))
    ),
)
def test_by_spans_gives_words_with_single_spaces(text, spans):
    result = by_spans(tokenise(text), spans)
    assert result == " ".join(result.split())


def identical(mirror, oracles, release: str, strip: bool) -> tuple[int, int]:
    """Turns of the test split that are DAMD's, with or without the release's spans; all turns."""
    expected = damd(oracles, release)
    pairs = [
        (
            response_delex(
                exchange._replace(response_spans=None) if strip else exchange, values(mirror)
            ),
            one_space(expected[dialogue, turn]["resp"]),
        )
        for dialogue, turn, exchange in exchanges(mirror, release)["test"]
        if (dialogue, turn) in expected
    ]
    assert len(pairs) == len(expected)
    return sum(ours == theirs for ours, theirs in pairs), len(pairs)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("release", "strip", "at_least"),
    [
        ("2.1", False, 7369),
        pytest.param("2.1", True, 7351, id="2.1-by-acts"),
        pytest.param("2.0", True, 7334, id="2.0-by-acts"),
    ],
)
def test_responses_are_damds(mirror, oracles, release, strip, at_least):
    same, turns = identical(mirror, oracles, release, strip)
    assert same >= at_least > 0.99 * turns


@pytest.mark.oracle
def test_acts_find_what_spans_say_on_validation(mirror):
    """What training targets are made of, against what they would be with annotated spans."""
    same = turns = 0
    for _, _, exchange in exchanges(mirror, "2.1")["valid"]:
        if exchange.response_spans is not None:
            turns += 1
            stripped = exchange._replace(response_spans=None)
            same += response_delex(exchange, values(mirror)) == response_delex(
                stripped, values(mirror)
            )
    assert turns == 7365
    assert same / turns > 0.995


@pytest.mark.oracle
def test_reference_of_100_dialogues(mirror):
    """MinTL's edition writes "do not" for "do n't"; else it is the same but for one turn."""
    same = 0
    for _, _, system, theirs in damd_100(mirror):
        tokens = system["text"].split()
        spans = annotated(system["span_info"])
        ours = (
            by_spans(tokens, spans) if spans else by_values(repair(system["text"]), values(mirror))
        )
        ours = ours.replace("can not", "cannot").replace("n't", "not")
        same += ours == one_space(theirs["resp"]).replace("can not", "cannot").replace("n't", "not")
    assert same == 735
