"""Tokens as the release's annotation counts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiwoz_texts import damd_100, exchanges

from todflow.corpora.multiwoz.tokens import tokenise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Yes, please.  Thank you!", "Yes , please . Thank you !"),
        ('The type is "boat."', 'The type is " boat . "'),
        ("(about 5 pounds)", "( about 5 pounds )"),
        ("Wait...", "Wait ..."),
        # Contractions, with an apostrophe or without; only where the list has them.
        ("I'm sure it's what they'd do", "I 'm sure it 's what they 'd do"),
        ("Don't, can't and won't", "Do n't , ca n't and wo n't"),
        ("Im sure thats it, I dont", "I m sure that s it , I do nt"),
        ("I cannot. Let's go", "I can not . Let 's go"),
        ("ill its hell", "ill its hell"),
        ("I'M", "I'M"),
        ("the train id is", "the train i d is"),
        ("Kettle's Yard, Queens' College", "Kettle 's Yard , Queens ' College"),
        # Times.
        ("at 9am, 9 a.m. or 11pm", "at 9 am , 9 a.m. or 11 pm"),
        ("at 17:15.", "at 17:15 ."),
        ("at 9:30pm", "at 9:30pm"),
        # Hyphens and stops between letters, not beside digits.
        ("moderately-priced 4-star guesthouse", "moderately - priced 4-star guesthouse"),
        ("15-17 norman way", "15 - 17 norman way"),
        ("the south.They", "the south . They"),
        ("the south.they", "the south.they"),
        ("no,thanks", "no , thanks"),
        ("depart/arrive", "depart / arrive"),
        ("and/or", "and/or"),
        # Abbreviations and initials.
        ("12 St. Johns Street", "12 St. Johns Street"),
        ("postcode C.B 2, 1 U.F.", "postcode C.B 2 , 1 U.F."),
        ("the B&B.", "the B&B."),
        ("ask the BBC.", "ask the BBC ."),
        # Numbers with units and currencies.
        ("$5, 3km, cb22ha", "$ 5 , 3 km , cb22 ha"),
        ("10.10 pounds, 16.50GBP", "10.10 pounds , 16.50GBP"),
        # Booking references.
        ("It is WAEYAQ0M.", "It is WAEYAQ0M ."),
        ("#VNRRC76K.I have", "# VNRRC76K .I have"),
        ("(ref#PHXZ03NH)", "( ref#PHXZ03NH )"),
    ],
)
def test_tokens(text, expected):
    assert " ".join(tokenise(text)) == expected


@given(st.text())
def test_nothing_but_blanks_is_lost(text):
    tokens = tokenise(text)
    assert "".join(tokens) == "".join(text.split())
    assert all(tokens)


@given(st.lists(st.sampled_from("St. don't ( ) , . 9am B&B. a-b #A1B2C3D4 's".split())))
def test_blanks_between_words_are_token_borders(words):
    assert tokenise(" ".join(words)) == [token for word in words for token in tokenise(word)]


@pytest.mark.oracle
def test_tokens_of_the_annotators(mirror):
    pairs = [
        (tokenise(text), turn["text"].split())
        for exchange, user, system, _ in damd_100(mirror)
        for text, turn in ((exchange.user, user), (exchange.response, system))
    ]
    # Three texts have other words ("Trer", "There").
    different = [pair for pair in pairs if "".join(pair[0]) != "".join(pair[1])]
    assert (len(pairs), len(different)) == (1472, 3)
    assert [pair for pair in pairs if pair not in different and pair[0] != pair[1]] == []


@pytest.mark.oracle
def test_spans_of_the_release_count_these_tokens(mirror):
    """A phone number or a booking reference is where the span says, as it can't be rephrased."""
    total = right = 0
    for _, _, exchange in exchanges(mirror, "2.1")["valid"]:
        tokens = [token.lower() for token in tokenise(exchange.response)]
        for _, slot, value, first, last in exchange.response_spans or []:
            if slot in ("Phone", "Ref", "Post", "Id", "Name", "Addr"):
                total += 1
                right += "".join(tokens[first : last + 1]) == "".join(value.lower().split())
    assert total > 4000
    assert right / total > 0.99
