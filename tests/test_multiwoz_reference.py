"""References of the standard evaluator, by hand and against the stand-in that its oracle uses."""

import gzip
import json

import pytest

from todflow.corpora.multiwoz.reference import reference, replace
from todflow.corpora.multiwoz.release import Exchange, read_split
from todflow.metrics.multiwoz import normalise


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("Hello there.", [], "Hello there."),
        (
            "Nandos is at  Fen Ditton, ok?",
            [["Name", "Nandos", 0, 0], ["Addr", "Fen Ditton", 3, 4]],
            "[name] is at [address], ok?",
        ),
        # Slots that the evaluator knows by another name; nothing is put between text that touches.
        (
            "leaves at 10:15, arrives at 11:07. Ref:AB12.",
            [["Leave", "10:15", 2, 2], ["Arrive", "11:07", 6, 6], ["Ref", "AB12", 10, 10]],
            "leaves at [leaveat], arrives at [arriveby]. Ref:[reference].",
        ),
        # A value is replaced wherever it stands as a word, in any case and spacing.
        (
            "The a and b is cheap. Cheap, and B's: A AND  B",
            [["Price", "cheap", 5, 5], ["Name", "a and b", 1, 3]],
            "The [name] is [price]. [price], and B's: [name]",
        ),
        ("cheapest or cheap", [["Price", "cheap", 2, 2]], "cheapest or [price]"),
        # All of the token is marked, though only its beginning is the value.
        ("a 4-star hotel", [["Stars", "4", 1, 1]], "a [stars] hotel"),
        # The tokens are off by one: the nearest place that spells the value.
        ("north or north , here", [["Area", "north", 1, 1]], "[area] or [area] , here"),
        ("the far north", [["Area", "north", 1, 1]], "the far [area]"),
        ("the far north", [["Area", "west", 1, 1]], "the [area] north"),
        ("the far north", [["Area", "west", 9, 9]], "the far north[area]"),
        # Overlaps: the first; of those that start together the shorter, then the alphabet.
        (
            "gonville hotel is a hotel",
            [["Type", "hotel", 1, 1], ["Name", "gonville hotel", 0, 1]],
            "[name] is a [type]",
        ),
        (
            "kings hedges pool here",
            [["Name", "kings hedges pool", 0, 2], ["Addr", "kings hedges", 0, 1]],
            "[address] pool here",
        ),
        ("at 10:15", [["Ticket", "10:15", 1, 1], ["Leave", "10:15", 1, 1]], "at [leaveat]"),
        # A span of no tokens stands before the one that it names.
        ("a boat, yes", [["Type", "boat", 3, 2]], "a [type], [type] yes"),
        ("", [], ""),
    ],
)
def test_replace(text, spans, expected):
    assert replace(text, [["Act", *span] for span in spans]) == expected


def test_without_annotated_spans_the_acts_tell():
    exchange = Exchange(
        "Hi", "Nandos serves Portuguese food.", {}, {"Restaurant-Inform": [["Food", "portuguese"]]},
        None, None,
    )  # fmt: skip
    assert reference(exchange) == "Nandos serves [food] food."
    assert reference(exchange._replace(response_spans=[])) == exchange.response


@pytest.fixture(scope="module")
def spoken(mirror, oracles):
    """(exchange, the oracle's normalised reference) for every test turn of 2.1."""
    path = oracles / "mwz/inputs/references_mwz22_derived_test.json.gz"
    expected = json.loads(gzip.decompress(path.read_bytes()))
    dialogues = read_split(mirror / "multiwoz/official-layout/MULTIWOZ2.1.zip", "test")
    return [
        pair
        for dialogue in dialogues
        for pair in zip(dialogue.exchanges, expected[dialogue.dialogue_id.lower()], strict=True)
    ]


def equal(spoken, spans) -> int:
    return sum(
        normalise.response(reference(exchange._replace(response_spans=spans(exchange))))[0] == text
        for exchange, text in spoken
    )


@pytest.mark.oracle
def test_references_are_those_of_the_oracle(spoken):
    """The others differ in the oracle's tokenisation ("i m" for "im"), docs/multiwoz.md."""
    assert len(spoken) == 7372
    assert equal(spoken, lambda exchange: exchange.response_spans) == 7322


@pytest.mark.oracle
def test_spans_found_by_the_acts_are_nearly_as_good(spoken):
    assert equal(spoken, lambda exchange: None) >= 7300
