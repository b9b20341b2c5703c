import pytest

from todflow.corpora.incar.text import clean, join_clock, lemma, lemmatise, tokenise


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("miles", "mile"),
        ("was", "wa"),  # no noun, but shortened all the same
        ("has", "ha"),
        ("firemen", "fireman"),
        ("men", "men"),  # a noun itself, and no longer than "man"
        ("children", "child"),  # an exception of WordNet's
        ("boxes", "box"),
        ("parties", "party"),
        ("wolves", "wolf"),
        ("less", "le"),  # suffixes are cut again while no noun is found
        ("discuss", "discus"),
        ("us", "u"),  # the shortest of "us" and "u"
        ("is", "is"),
        ("blorps", "blorps"),
        ("7pm", "7pm"),
        ("", ""),
    ],
)
def test_lemma(word, expected):
    assert lemma(word) == expected


def test_tokenise_splits_contractions_and_only_a_final_stop():
    assert tokenise("that's it. ok, don't stop.") == "that 's it. ok , do n't stop ."


def test_join_clock():
    assert join_clock("7 pm or 11 am at 5 miles") == "7pm or 11am at 5 miles"


def test_lemmatise_keeps_one_space():
    assert lemmatise(" the  miles ") == "the mile"


def test_clean():
    assert clean("Remind me at 7 PM to take my pills.") == "remind me at 7pm to take my pill ."
