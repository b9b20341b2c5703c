"""Spans of values: annotated ones, and those found by the system's acts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiwoz_texts import exchanges

from todflow.corpora.multiwoz.spans import Span, annotated, located
from todflow.corpora.multiwoz.tokens import tokenise


def test_annotated_slots_get_their_names():
    spans = [["Hotel-Inform", "Addr", "X", 1, 2], ["Train-Inform", "Leave", "9:15", 4, 4]]
    assert annotated(spans) == [Span("address", 1, 2), Span("leave", 4, 4)]


def find(text: str, *pairs: tuple[str, str]) -> list[tuple[str, str]]:
    """Slots of the spans and the tokens that they cover."""
    tokens = tokenise(text)
    spans = located({"Hotel-Inform": [list(pair) for pair in pairs]}, tokens)
    return [(slot, " ".join(tokens[first : last + 1])) for slot, first, last in spans]


@pytest.mark.parametrize(
    ("text", "pair", "expected"),
    [
        # Case and spaces do not matter; a release's values may be tokenised.
        ("It is in the North.", ("Area", "north"), "North"),
        ("See Kettle's Yard.", ("Name", "kettle 's yard"), "Kettle 's Yard"),
        ("See Kettle's Yard.", ("Name", "kettle's yard"), "Kettle 's Yard"),
        ("at 15-17 norman way", ("Addr", "15 - 17 norman way"), "15 - 17 norman way"),
        ("It is WAEYAQ0M.", ("Ref", "WAEYAQ0M"), "WAEYAQ0M"),
        # The last word with an ending, or without a token's last letter.
        ("two guesthouses there", ("Type", "guesthouse"), "guesthouses"),
        ("some churches there", ("Type", "church"), "churches"),
        ("at Hughes Hall.", ("Name", "Hughes Hal"), "Hughes Hall"),
        ("takes 79 minutes", ("Time", "79 minute"), "79 minutes"),
        ("is the B&B.", ("Name", "B&B"), "B&B."),
        # Joined words.
        ("a 4-star place", ("Stars", "4"), "4-star"),
        ("at 19:07,would it do", ("Arrive", "19:07"), "19:07,would"),
        # Numbers in words, and in digits.
        ("nine trains", ("Choice", "9"), "nine"),
        ("9 trains", ("Choice", "nine"), "9"),
        # The first place counts.
        ("a hotel, a hotel", ("Type", "hotel"), "hotel"),
    ],
)
def test_found(text, pair, expected):
    assert [words for _, words in find(text, pair)] == [expected]


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("It is cheap.", ("Area", "none")),
        ("It is cheap?", ("Fee", "?")),
        ("It is cheap.", ("Area", "")),
        ("It is cheap.", ("Area", " ")),
        ("It is cheap.", ("Area", "north")),
        # Not inside a word: neither its end nor its start, nor a number inside a number.
        ("a gastropub", ("Food", "pub")),
        ("at 17:15", ("Choice", "17")),
        ("100 trains", ("Choice", "10")),
        ("cheap ones", ("Choice", "1")),
        # More tokens than the value has.
        ("the Acorn Guest House", ("Type", "guesthouse")),
    ],
)
def test_not_found(text, pair):
    assert find(text, pair) == []


def test_what_is_counted_tells_equal_numbers_apart():
    text = "5 nights for 5 people"
    assert located({"Booking-Book": [["People", "5"], ["Stay", "5"]]}, tokenise(text)) == [
        Span("people", 3, 3),
        Span("stay", 0, 0),
    ]


def test_all_acts_in_their_order_and_overlaps():
    acts = {
        "Hotel-Recommend": [["Name", "gonville hotel"], ["Internet", "none"]],
        "Hotel-Inform": [["Type", "hotel"], ["Area", "centre"]],
        "general-reqmore": [["none", "none"]],
    }
    tokens = tokenise("The Gonville Hotel is in the centre.")
    assert located(acts, tokens) == [Span("name", 1, 2), Span("type", 2, 2), Span("area", 6, 6)]


WORDS = st.sampled_from(
    "one 2 17:15 guesthouse guest house hotels B&B. 4-star kettle 's cb11 ha".split()
)


@given(st.lists(WORDS, min_size=1), st.data())
def test_every_run_of_tokens_is_found(tokens, data):
    first = data.draw(st.integers(0, len(tokens) - 1))
    last = data.draw(st.integers(first, len(tokens) - 1))
    value = " ".join(tokens[first : last + 1])
    (span,) = located({"Hotel-Inform": [["Name", value]]}, tokens)
    assert 0 <= span.first <= first and span.first <= span.last < len(tokens)


@given(st.text(), st.text(), st.sampled_from(["People", "Name", "Choice"]))
def test_spans_lie_in_the_text(text, value, slot):
    tokens = tokenise(text)
    for span in located({"Hotel-Inform": [[slot, value]]}, tokens):
        assert 0 <= span.first <= span.last < len(tokens)


@pytest.mark.oracle
def test_what_is_annotated_is_found(mirror):
    """Nearly every annotated span of the validation split is found, at the same place."""
    wanted = found = 0
    for _, _, exchange in exchanges(mirror, "2.1")["valid"]:
        if exchange.response_spans:
            spans = set(located(exchange.acts, tokenise(exchange.response)))
            theirs = set(annotated(exchange.response_spans))
            wanted += len(theirs)
            found += len(theirs & spans)
    assert wanted > 11000
    assert found / wanted > 0.995
