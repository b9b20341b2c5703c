import math

import numpy as np
import pytest

from todflow.metrics.bleu import WIDTH, corpus_bleu, counts, score


def test_counts_are_clipped():
    row = counts("the the the cat", "the cat the dog")
    assert row.tolist() == [3, 1, 0, 0, 4, 3, 2, 1, 4, 4]


def test_value_by_hand():
    # 1-grams 4/5, 2-grams 3/4, 3-grams 2/3, 4-grams 1/2; hypothesis and reference are equally long.
    expected = (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert corpus_bleu(["a b c d x"], ["a b c d e"]) == pytest.approx(expected, abs=1e-6)


def test_brevity_penalty():
    expected = math.exp(1 - 8 / 4)
    assert corpus_bleu(["a b c d"], ["a b c d e f g h"]) == pytest.approx(expected, abs=1e-6)
    assert corpus_bleu(["a b c d e"], ["a b c d"]) < 1


def test_counts_add_up_over_the_corpus():
    hypotheses, references = ["a b c d", "x"], ["a b c e", "a b"]
    rows = [counts(*pair) for pair in zip(hypotheses, references, strict=True)]
    assert corpus_bleu(hypotheses, references) == pytest.approx(float(score(np.sum(rows, axis=0))))


def test_nothing_generated_is_zero():
    assert corpus_bleu(["", ""], ["a b", "c"]) == 0
    assert corpus_bleu([], []) == 0
    assert score(np.zeros((2, WIDTH))).tolist() == [0, 0]


def test_epsilon():
    assert corpus_bleu(["a"], ["a"], 1e-10) < corpus_bleu(["a"], ["a"], 1e-7) < 0.1


def test_lengths_must_agree():
    with pytest.raises(ValueError):
        corpus_bleu(["a"], [])
