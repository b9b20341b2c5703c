"""Corpus BLEU from counts, against sacrebleu."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from todflow.metrics import bleu
from todflow.metrics.multiwoz.corpus_bleu import score, tokens

SENTENCES = st.lists(
    st.sampled_from(["a", "b", "NAME", "9.30", "don't", "b.", "&amp;", "x-y", "\u00e9,"]),
    max_size=8,
).map(" ".join)


def counts(pairs):
    return np.stack([bleu.counts(tokens(left), tokens(right)) for left, right in pairs])


@settings(derandomize=True, deadline=None)
@given(st.text(alphabet="a1.,-&; \n\u00e9'", max_size=12))
def test_tokens_as_sacrebleus(text):
    assert tokens(text) == Tokenizer13a()(text.rstrip())


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6))
def test_as_sacrebleu(pairs):
    expected = sacrebleu.corpus_bleu(*map(list, ([a for a, _ in pairs], [[b for _, b in pairs]])))
    assert 100 * score(counts(pairs).sum(axis=0)) == pytest.approx(expected.score, abs=1e-9)


def test_many_corpora_at_once():
    pairs = [("a b c d e", "a b c d f"), ("b b", "b"), ("", "a")]
    rows = counts(pairs)
    times = np.array([[1, 1, 1], [0, 2, 1], [0, 0, 3], [3, 0, 0]])
    for weights, found in zip(times, score(times @ rows), strict=True):
        corpus = [pair for pair, n in zip(pairs, weights, strict=True) for _ in range(n)]
        expected = sacrebleu.corpus_bleu([a for a, _ in corpus], [[b for _, b in corpus]])
        assert 100 * found == pytest.approx(expected.score, abs=1e-9)
