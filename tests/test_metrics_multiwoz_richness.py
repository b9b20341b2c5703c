"""The leaderboard's columns on how varied responses are."""

import math

import pytest

from todflow.metrics.multiwoz.richness import richness, words


def test_words_are_split_as_the_leaderboard_does():
    assert words("NAME is a PRICE-y, well-known place (really)?") == (
        "name is a pricey wellknown place really".split()
    )
    assert words("") == [""]
    assert words("- a") == ["", "a"]


def test_figures_of_a_tiny_corpus():
    # a a b, a b c: a 3, b 2, c 1; pairs aa 1, ab 2, bc 1; triples aab, abc.
    found = richness(["a a b", "A b, c."])
    assert found["avg_len"] == 3
    assert found["unique_words"] == 3
    assert found["unique_trigrams"] == 2
    entropy = -(math.log2(1 / 3) / 6 + 2 * math.log2(2 / 3) / 6 + math.log2(1 / 2) / 6)
    assert found["cond_bigram_entropy"] == pytest.approx(entropy, abs=1e-12)
