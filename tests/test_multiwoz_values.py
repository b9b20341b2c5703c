import pytest

from todflow.corpora.multiwoz.text import repair
from todflow.corpora.multiwoz.values import _table, clean_slot, clean_value, slot_name, tokenise


@pytest.mark.parametrize(
    ("released", "name"),
    [
        ("arriveBy", "arrive"), ("leaveAt", "leave"), ("trainID", "id"), ("entrance fee", "price"),
        ("car type", "car"), ("duration", "time"), ("price range", "pricerange"),
        ("Addr", "address"), ("Dest", "destination"), ("area", "area"), ("pricerange", "pricerange"),
    ],
)  # fmt: skip
def test_slot_name(released, name):
    assert slot_name(released) == name


@pytest.mark.parametrize(
    ("domain", "slot", "released", "value"),
    [
        # Text cleaning.
        ("hotel", "type", "Guesthouse", "guest house"),
        ("taxi", "leave", "5:45pm", "17:45"),
        ("hotel", "stars", "four", "4"),
        # Corrections, of this domain's slot only.
        ("attraction", "area", "Town Centre", "centre"),
        ("hotel", "area", "we", "west"),
        ("train", "destination", "we", "we"),
        ("restaurant", "pricerange", "mo", "moderate"),
        ("hotel", "internet", "free", "yes"),
        ("attraction", "type", "mutiple sports", "multiple sports"),
        # What says nothing.
        ("train", "day", "not mentioned", ""),
        ("train", "day", "", ""),
        ("attraction", "area", "ely", ""),
        # Slots with a closed list of values.
        ("restaurant", "area", "somewhere", ""),
        ("restaurant", "area", "north", "north"),
        ("hotel", "type", "bed and breakfast", ""),
        ("hotel", "area", "somewhere", "somewhere"),
        # Don't care, in 2.0's spellings and in 2.1's, which DAMD leaves alone or drops.
        ("hotel", "area", "don't care", "do n't care"),
        ("restaurant", "area", "don't care", "do n't care"),
        ("train", "day", "dont care", "do n't care"),
        ("train", "day", "doesn't care", "does not care"),
        ("hotel", "area", "dontcare", "dontcare"),
        ("restaurant", "area", "dontcare", ""),
        # Values of several words are in tokens; of one word they are not.
        ("attraction", "name", "queens' college", "queens ' college"),
        ("hotel", "name", "alpha-milton guest house", "alpha - milton guest house"),
        ("hotel", "name", "alpha-milton", "alpha-milton"),
        ("attraction", "name", "Kettle's Yard", "kettle 's yard"),
        ("restaurant", "name", "the peking restaurant:", "the peking restaurant :"),
    ],
)
def test_clean_value(domain, slot, released, value):
    assert clean_value(domain, slot, released) == value


def test_clean_slot_leaves_the_value_whole():
    assert clean_slot("train", "arriveBy", "9:15") == ("arrive", "09:15")
    assert clean_slot("attraction", "name", "queens' college") == ("name", "queens' college")


def test_tokenise():
    assert tokenise("25-27 king's parade") == "25 - 27 king 's parade"
    assert tokenise(tokenise("queens' college")) == "queens ' college"


def test_no_correction_is_dead_and_every_corrected_value_stays():
    """Text cleaning comes first: it must leave what a correction waits for, and what it gives."""
    table = _table()
    rules = [*table.corrections.items(), (("", ""), table.everywhere)]
    for (domain, slot), meant in rules:
        for written, value in meant.items():
            assert repair(written) == written, (domain, slot, written)
            if value and domain:
                assert clean_slot(domain, slot, value) == (slot, value)
