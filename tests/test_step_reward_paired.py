"""Differences on the same dialogues, by hand-made counts."""

import numpy as np
import pytest

from todflow.errors import TodflowError
from todflow.step_reward.paired import Paired
from todflow.tables.seeds import t_interval


def rate(totals):
    """Hits in 100 of the dialogues: columns hits, dialogues."""
    return 100 * totals[..., 0] / totals[..., 1]


def counts(hits):
    return np.array([[hit, 1] for hit in hits], dtype=float)


def test_a_system_beside_itself_differs_by_nothing_in_every_resample():
    rows = counts([1, 0, 1, 1, 0])
    found = Paired(5, samples=50, seed=1).difference({1: [(1, rows), (-1, rows)]}, rate)
    assert (found.value, found.dialogues) == (0.0, (0.0, 0.0))
    assert (found.spread, found.over) == (None, None)


def test_pairing_is_narrower_than_two_intervals_apart():
    noise = np.random.default_rng(3).integers(2, size=200)
    better = noise.copy()
    better[:20] = 1  # never worse on any dialogue
    found = Paired(200, 400, 1).difference({1: [(1, counts(better)), (-1, counts(noise))]}, rate)
    assert found.value == pytest.approx(100 * (better - noise).mean())
    low, high = found.dialogues
    assert 0 < low < found.value < high
    alone = Paired(200, 400, 1).difference({1: [(1, counts(better))]}, rate)
    assert high - low < 0.6 * (alone.dialogues[1] - alone.dialogues[0])


def test_seeds_are_pooled_and_their_spread_is_told():
    base = counts([0] * 10)
    terms = {
        seed: [(1, counts([1] * hits + [0] * (10 - hits))), (-1, base)]
        for seed, hits in ((1, 2), (2, 3), (3, 7))
    }
    found = Paired(10, 100, 1).difference(terms, rate)
    assert found.value == pytest.approx(40)
    assert [value for value, _ in found.seeds.values()] == pytest.approx([20, 30, 70])
    assert found.spread == pytest.approx(np.std([20, 30, 70], ddof=1))
    assert found.over == pytest.approx(t_interval([20.0, 30.0, 70.0])[1:])
    again = Paired(10, 100, 1).difference(terms, rate)
    assert found == again


def test_another_number_of_dialogues_is_refused():
    with pytest.raises(TodflowError, match="seed 4: 3 dialogues where 10 are paired"):
        Paired(10, 10, 1).difference({4: [(1, counts([1, 1, 1]))]}, rate)
