"""Equations 2 to 4 of the step-reward paper."""

import math

import pytest

from todflow.reward.formula import Count, Rewards, combined, rewards, step_reward

PLAIN = {"alpha": 1.0, "beta": 1.0, "fp_penalty": False}


@pytest.mark.parametrize(
    ("penalty", "wanted", "expected"),
    [
        (1.0, 3, [0, 0.171139, 0.477688, 1]),
        (1.0, 2, [0, 0.303265, 1]),
        (0.5, 3, [0, 0.238844, 0.564321, 1]),
        (0.0, 2, [0, 0.5, 1]),
    ],
)
def test_one_set(penalty, wanted, expected):
    got = [step_reward(found, wanted, penalty) for found in range(wanted + 1)]
    assert got == pytest.approx(expected, abs=5e-7)
    assert got[-1] == 1.0


@pytest.mark.parametrize(
    ("pairs", "requests", "expected"),
    [
        ((3, 2), (2, 1), 0.407919),
        ((3, 2), (2, 0), 0.286613),
        ((3, 3), (2, 0), 0.6),
        ((3, 3), (2, 2), 1),
    ],
)
def test_both_sets(pairs, requests, expected):
    got = rewards(Count(*pairs, 9), Count(*requests, 9), PLAIN)
    assert got.tod == pytest.approx(expected, abs=5e-7)
    assert got.u == step_reward(pairs[1], pairs[0], 1.0)
    assert got.g == step_reward(requests[1], requests[0], 1.0)


def test_alpha_is_of_pairs_and_beta_of_requests():
    got = rewards(Count(2, 1, 1), Count(2, 1, 1), {"alpha": 2.0, "beta": 0.5, "fp_penalty": False})
    assert got[:2] == (0.5 * math.exp(-1.0), 0.5 * math.exp(-0.25))


def test_a_set_that_is_empty_drops_out():
    assert rewards(Count(0, 0, 4), Count(2, 2, 2), PLAIN) == Rewards(0.0, 1.0, 1.0)
    assert rewards(Count(2, 2, 2), Count(0, 0, 4), PLAIN) == Rewards(1.0, 0.0, 1.0)
    assert rewards(Count(0, 0, 4), Count(0, 0, 4), PLAIN) == Rewards(0.0, 0.0, 0.0)
    assert combined(0.0, 0, 0.0, 0) == 0.0


def test_everything_right_is_exactly_one():
    for pairs in range(1, 20):
        for requests in range(1, 20):
            got = rewards(Count(pairs, pairs, pairs), Count(requests, requests, requests), PLAIN)
            assert got == Rewards(1.0, 1.0, 1.0)


def test_precision_only_on_demand():
    counts = Count(2, 2, 4), Count(1, 1, 2)
    assert rewards(*counts, PLAIN).tod == 1.0
    got = rewards(*counts, PLAIN | {"fp_penalty": True})
    assert got == Rewards(0.5, 0.5, 0.5)
    assert rewards(Count(2, 0, 0), Count(1, 0, 0), PLAIN | {"fp_penalty": True}).tod == 0.0


def test_with_the_penalty_saying_what_nobody_wants_costs():
    strict = PLAIN | {"fp_penalty": True}
    assert rewards(Count(2, 2, 2), Count(0, 0, 0), strict) == Rewards(1.0, 0.0, 1.0)
    assert rewards(Count(2, 2, 2), Count(0, 0, 2), strict) == Rewards(1.0, 0.0, 0.5)
    assert rewards(Count(2, 2, 2), Count(0, 0, 2), PLAIN).tod == 1.0
