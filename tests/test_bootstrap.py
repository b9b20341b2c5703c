import numpy as np
import pytest

from todflow.metrics.bleu import counts
from todflow.metrics.bootstrap import intervals
from todflow.metrics.tally import Tally, figures


@pytest.fixture
def rows():
    texts = ["a b c d e", "a b c d x", "a b x y z f", "q"]
    return np.stack(
        [
            Tally(
                match=index % 2,
                match_counted=1,
                requests=(index % 3, 1, 1),
                bleu=counts(texts[index % 4], "a b c d e"),
                turns=1,
            ).row()
            for index in range(40)
        ]
    )


def test_same_seed_same_interval(rows):
    assert intervals(rows, 200, 1) == intervals(rows, 200, 1)
    assert intervals(rows, 200, 1) != intervals(rows, 200, 2)


def test_interval_of_a_share_is_about_the_binomial_one(rows):
    low, high = intervals(rows, 4000, 1)["match"]
    # 20 of 40: standard error 7.9 points.
    assert low == pytest.approx(50 - 1.96 * 7.9, abs=2.6)
    assert high == pytest.approx(50 + 1.96 * 7.9, abs=2.6)


def test_interval_holds_the_figure(rows):
    point = figures(rows.sum(axis=0))
    for name, (low, high) in intervals(rows, 500, 3).items():
        assert low <= point[name] <= high


def test_samples_are_those_of_naive_resampling(rows):
    drawn = np.random.default_rng(7).integers(len(rows), size=(50, len(rows)))
    naive = [float(figures(rows[sample].sum(axis=0))["combined"]) for sample in drawn]
    expected = np.percentile(naive, (2.5, 97.5))
    assert intervals(rows, 50, 7)["combined"] == pytest.approx(tuple(expected), abs=1e-9)


def test_alike_dialogues_have_no_spread(rows):
    low, high = intervals(np.repeat(rows[:1], 5, axis=0), 20, 1)["bleu"]
    assert low == high
