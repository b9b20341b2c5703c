"""Annotation and wording of the self-play corpus."""

import random

import pytest
from convlab_play import manifest

from todflow.convlab_bridge import annotation
from todflow.convlab_bridge.runtime import open_convlab
from todflow.convlab_bridge.slots import STATE_SLOTS
from todflow.convlab_bridge.wording import Wording, sayable, tokenise


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It's 23.60 pounds, at 17:15.", "it 's 23.60 pounds , at 17:15 ."),
        ("I ' m sorry , I ' ve none", "i 'm sorry , i 've none"),
        ("I don't know !.", "i do n't know !"),
        ("rated 4 stars ,.", "rated 4 stars ."),
        ("saint john's college (north)", "saint john 's college ( north )"),
        ("ID is : TR12. Ok?", "id is : tr12 . ok ?"),
        ("the o'hara  inn", "the o'hara inn"),
        ("pool way, whitehill road", "pool way , whitehill road"),
    ],
)
def test_tokenise(text, tokens):
    assert tokenise(text) == tokens == tokenise(tokens)


def test_told_values_accumulate_under_their_short_names():
    state = {}
    told = [
        ["inform", "hotel", "price range", "cheap"],
        ["inform", "hotel", "", ""],
        ["request", "hotel", "phone", ""],
        ["inform", "hotel", "choice", "any"],
        ["inform", "restaurant", "NotBook", "none"],
        ["inform", "police", "", ""],
    ]
    annotation.add_told(state, told, {}, STATE_SLOTS)
    annotation.add_told(state, [["inform", "train", "leave at", "09:00"]], {}, STATE_SLOTS)
    annotation.add_told(state, [["inform", "hotel", "price range", "moderate"]], {}, STATE_SLOTS)
    annotation.add_told(state, [["inform", "hotel", "book day", "monday"]], {}, STATE_SLOTS)
    assert state == {
        "hotel": {"pricerange": "moderate", "day": "monday"},
        "train": {"leave": "09:00"},
    }


def test_values_told_by_reference_are_resolved():
    goal = {
        "hotel": {
            "info": {"area": "north"},
            "fail_info": {"area": "east"},
            "book": {"people": "3"},
        },
        "restaurant": {"info": {"pricerange": "cheap"}},
        "train": {"info": {"day": "monday"}},
    }
    told = [
        ["inform", "hotel", "area", "same area as the attraction"],
        ["inform", "hotel", "book people", "the same"],
        ["inform", "train", "day", "the same day"],
        ["inform", "restaurant", "price range", "in the same price range as the hotel"],
        ["inform", "restaurant", "name", "the same thing"],
    ]
    state = {}
    annotation.add_told(state, told, goal, STATE_SLOTS)
    assert state == {
        # What is bound to fail comes first.
        "hotel": {"area": "east", "people": "3"},
        "train": {"day": "monday"},
        "restaurant": {"pricerange": "cheap", "name": "the same thing"},
    }


def test_act_spans():
    acts = annotation.system_acts(
        [
            ["inform", "hotel", "choice", "3"],
            ["recommend", "hotel", "name", "x"],
            ["inform", "hotel", "price range", "cheap"],
            ["inform", "hotel", "choice", "3"],
            ["request", "train", "leave at", ""],
            ["inform", "taxi", "type", "bmw"],
            ["inform", "attraction", "entrance fee", "free"],
            ["book", "booking", "ref", "00000001"],
            ["bye", "general", "", ""],
        ],
        "restaurant",
    )
    assert acts[-2] == ["offerbooked", "restaurant", "reference", "00000001"]
    assert annotation.act_span(acts) == (
        "[hotel] [inform] choice pricerange [recommend] name [train] [request] leave "
        "[taxi] [inform] car [attraction] [inform] price [restaurant] [offerbooked] reference "
        "[general] [bye]"
    )


def test_pointless_acts_are_not_said():
    acts = [
        ["recommend", "hotel", "name", "x"],
        ["recommend", "hotel", "ref", "00000001"],
        ["recommend", "attraction", "entrance fee", ""],
        ["nooffer", "hotel", "area", "dontcare"],
        ["inform", "attraction", "entrance fee", ""],
    ]
    assert sayable(acts) == [acts[0], acts[4]]
    assert sayable([["nooffer", "hotel", "area", "dontcare"]]) == [["nooffer", "hotel", "", ""]]
    assert sayable([["nooffer", "hotel", "", ""]]) == [["nooffer", "hotel", "", ""]]


@pytest.fixture(scope="module")
def wording():
    with open_convlab(manifest()):
        yield Wording()


@pytest.mark.parametrize("seed", range(5))
def test_both_forms_come_from_one_template(wording, seed):
    random.seed(seed)
    acts = [
        ["inform", "hotel", "area", "North"],
        ["inform", "hotel", "phone", "01223353888"],
        ["book", "booking", "ref", "00000007"],
        ["inform", "attraction", "name", "Saint John's college"],
    ]
    lexical, delexicalised = wording.system(acts)
    filled = delexicalised
    for name, value in (
        ("area", "north"), ("phone", "01223353888"), ("reference", "00000007"),
        ("name", "saint john 's college"),
    ):  # fmt: skip
        assert f"[value_{name}]" in delexicalised
        filled = filled.replace(f"[value_{name}]", value)
    assert filled == lexical == lexical.lower()


def test_holes_that_templates_misspell_are_filled(wording):
    for seed in range(8):
        random.seed(seed)
        lexical, delexicalised = wording.system([["nooffer", "train", "destination", "ely"]])
        assert "ely" in lexical and "[value_destination]" in delexicalised and "#" not in lexical


def test_missing_and_negative_values(wording):
    random.seed(1)
    for value in ("", "?", "unknown"):
        lexical, delexicalised = wording.system([["inform", "attraction", "entrance fee", value]])
        assert (
            lexical == delexicalised == "sorry , i do not know the entrance fee of the attraction ."
        )
    lexical, delexicalised = wording.system([["inform", "hotel", "internet", "no"]])
    assert lexical == delexicalised == "sorry , they do not offer internet ."


def test_user_sentences(wording):
    random.seed(1)
    assert "dontcare" not in wording.user([["inform", "hotel", "area", "dontcare"]])
    assert "monday" in wording.user([["inform", "hotel", "book day", "monday"]])
    assert wording.user([["inform", "hotel", "no such slot", "x"]]) == ""
