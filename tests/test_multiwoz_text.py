"""DAMD's cleaning of texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiwoz_texts import damd, exchanges

from todflow.corpora.multiwoz.text import clean, repair


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  Hello  THERE ", "hello there"),
        # Characters.
        ('a ‘day’, "b"; c', "a 'day', b , c"),
        ("hotel / guesthouse", "hotel and guest house"),
        ("depart/arrive", "depart and arrive"),
        # Clock times.
        ("at 9 am", "at 09:00"),
        ("at 9:30am", "at 09:30"),
        ("at 9:30", "at 09:30"),
        ("at 19:30", "at 19:30"),
        ("at 5 pm", "at 17:00"),
        ("at 4:15 pm", "at 16:15"),
        ("at 12:16pm", "at 24:16"),
        ("at 11 pm", "at 11pm"),
        ("at 10 am", "at 10"),
        ("at 7:15 p.m. ok", "at 07:15p . m . ok"),
        # Postcodes.
        ("c.b. 1 7 d.y", "cb17dy"),
        ("c.b.1 7 d.y", "cb17dy"),
        ("c.b 1,2 q.a", "cb12qa"),
        ("the postcodecb21rs", "the postcode cb21rs"),
        # Spellings.
        ("the i.d of it", "the id of it"),
        ("train i d please", "trainidplease"),
        ("my depature", "my departure"),
        ("it is depearting", "it is departing"),
        ("guesthouse-type", "guest house type"),
        ("the alexander b & b", "the alexander bed and breakfast"),
        ("the alexander b&b", "the alexander bed and breakfast"),
        ("a b and b", "a bed and breakfast"),
        ("2 guesthouses", "2 guest house"),
        ("a swimmingpool", "a swimming pool"),
        # Contractions.
        ("i wo n't", "i will not"),
        ("we 'd like", "we would like"),
        ("i 'm here", "i am here"),
        ("you 've got", "you have got"),
        ("it 's that 's what 's", "it is that is what is"),
        ("there 's kettle 's", "there is kettle 's"),
        ("you 're we 're they 're", "you are we 're they are"),
        ("you 'll i 'll", "you will i 'll"),
        ("i do n't", "i do n't"),
        ("don't", "do n't"),
        ("doesn't care", "does not care"),
        ("'quoted'", "quoted"),
        # Full stops.
        ("the south.they", "the south . they"),
        ("12 st. johns", "12 st . johns"),
        ("ok .. bye", "ok .. bye"),
        ("it is . .", "it is ."),
        # Words.
        ("moderately priced restaurants", "moderate -ly priced restaurant -s"),
        ("cheaper pricerange", "cheap -er price range"),
        ("one of twelve", "1 of 12"),
        ("someone", "someone"),
        ("anywhere good bye", "any where goodbye"),
        # The second of two equal words stays.
        ("restaurant two two", "restaurant 2 two"),
        ("one one one", "1 one 1"),
    ],
)
def test_repair(text, expected):
    assert repair(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I'd like a B&B. It's for 2, at 5 pm!",
            "i would like a bed and breakfast . it is for 2 , at 17:00 !",
        ),
        ("Don't worry, you're welcome.", "do n't worry , you are welcome ."),
        (
            "There are two guesthouses/hotels.Which one?",
            "there are 2 guest house and hotel -s . which 1 ?",
        ),
    ],
)
def test_clean_tokenises_first(text, expected):
    assert clean(text) == expected


# What the rules act on, in any order and number, beside arbitrary text.
PIECES = st.sampled_from(
    "a 9 9: 12 :30 am pm a.m p.m . .. , ; / \" ' 'd 'm 's n't i d b & and guesthouses one one two c.b "
    "c.b.1 7 d.y wo it restaurants [value_name]".split()
)
TEXTS = st.one_of(
    st.text(), st.lists(PIECES).map(" ".join), st.lists(PIECES).map("".join), st.text("ab9.' :m")
)


@given(TEXTS)
def test_clean_gives_words_with_single_spaces(text):
    for result in (clean(text), repair(text)):
        assert result == " ".join(result.split())
        assert result == result.lower()


@given(st.lists(st.sampled_from(["[value_name]", "[value_price]", "[value_id]"]), min_size=1))
def test_placeholders_stay(placeholders):
    assert repair(" ".join(placeholders)) == " ".join(placeholders)


def test_repair_is_not_idempotent():
    """As DAMD's: texts are cleaned once."""
    assert repair("two two") == "2 two"
    assert repair("2 two") == "2 2"


@pytest.mark.oracle
@pytest.mark.parametrize(("release", "turns"), [("2.1", 7372), ("2.0", 7354)])
def test_user_texts_are_damds(mirror, oracles, release, turns):
    expected = damd(oracles, release)
    pairs = [
        (clean(exchange.user), expected[dialogue, turn]["user"])
        for dialogue, turn, exchange in exchanges(mirror, release)["test"]
        if (dialogue, turn) in expected
    ]
    assert len(pairs) == len(expected) == turns
    assert sum(ours == theirs for ours, theirs in pairs) == turns
