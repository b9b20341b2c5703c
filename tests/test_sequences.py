"""Texts of eq. 1 and the way back from whatever a model wrote."""

import pytest

import seq2seq_tiny
from todflow.seq2seq.sequences import Segments, context_text, has_acts, labels, parse_target
from todflow.seq2seq.sequences import previous, target_text, turns

TURN = Segments("[hotel] area north", "[hotel] [inform] choice", "there are [value_choice] .")


def test_target_text():
    assert target_text(TURN, acts=True) == (
        "<sos_b> [hotel] area north <eos_b> <sos_a> [hotel] [inform] choice <eos_a> "
        "<sos_r> there are [value_choice] . <eos_r>"
    )
    assert "<sos_a>" not in target_text(TURN, acts=False)
    assert target_text(Segments("", "", "hi"), acts=False) == "<sos_b> <eos_b> <sos_r> hi <eos_r>"


def test_context_text():
    assert context_text("hi", None, acts=True) == "<sos_u> hi <eos_u>"
    assert context_text("and ?", ("hi", TURN), acts=False) == (
        "<sos_u> hi <eos_u> <sos_b> [hotel] area north <eos_b> "
        "<sos_r> there are [value_choice] . <eos_r> <sos_u> and ? <eos_u>"
    )


@pytest.mark.parametrize("acts", [True, False])
def test_round_trip(acts):
    expected = TURN if acts else TURN._replace(act="")
    assert parse_target(target_text(TURN, acts)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Segments()),
        ("no marker at all", Segments()),
        ("<sos_b> a b", Segments("a b")),
        ("<sos_b> a <sos_r> hi <eos_r>", Segments("a", "", "hi")),
        ("<sos_b> a <eos_b> lost <sos_r> hi", Segments("a", "", "hi")),
        ("lost <eos_b> <sos_a> x <eos_a> <sos_r> y <eos_r> lost", Segments("", "x", "y")),
        ("<sos_r> y <eos_b> z <eos_r>", Segments("", "", "y z")),
        ("<sos_b> one <eos_b> <sos_b> two <eos_b>", Segments("one")),
        ("<sos_r> y <eos_r> <sos_b> x <eos_b>", Segments("x", "", "y")),
        ("<sos_b>x<eos_b><sos_r> a  b <pad> </s><eos_r>", Segments("x", "", "a b")),
        ("<sos_b> x <sos_u> user <eos_u> <sos_r> y", Segments("x", "", "y")),
    ],
)
def test_broken_outputs(text, expected):
    assert parse_target(text) == expected


def test_previous_stays_within_a_dialogue():
    rows = turns(seq2seq_tiny.corpus(2))
    assert [before and before.turn for before, _ in previous(rows)] == [None, 0, None, 0]


def test_labels_and_acts():
    rows = turns(seq2seq_tiny.corpus())
    assert labels(rows) == ["[inform]", "[navigate]", "[value_address]", "[value_poi]"]
    assert has_acts(rows)
    assert not has_acts(turns(seq2seq_tiny.corpus(acts=False)))
