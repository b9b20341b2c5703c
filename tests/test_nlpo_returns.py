"""Step rewards, advantages and KL control, against what one gets by hand."""

import numpy as np
import pytest

from todflow.errors import TodflowError
from todflow.nlpo.returns import KlController, gae, step_rewards, whiten

LEVELS = np.array([0.0, 0.25, 0.25, 1.0])


def test_delta_is_what_each_token_added():
    paid = step_rewards(LEVELS, "delta", 1.0, 10)
    assert paid.tolist() == [0.0, 0.25, 0.0, 0.75]
    assert paid.sum() == LEVELS[-1]
    # A level can fall, where false positives count.
    assert step_rewards(np.array([0.5, 0.2]), "delta", 1.0, 10).sum() == pytest.approx(0.2)


def test_terminal_pays_the_same_at_the_end():
    paid = step_rewards(LEVELS, "terminal", 1.0, 10)
    assert paid.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert paid.sum() == step_rewards(LEVELS, "delta", 1.0, 10).sum()


def test_level_pays_again_and_again():
    assert step_rewards(LEVELS, "level", 1.0, 10).tolist() == LEVELS.tolist()


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_absorb_pays_the_rest_of_the_horizon_at_the_end(gamma):
    """Discounted, it is worth what a turn would be that stood still at its last level."""
    horizon = 10
    paid = step_rewards(LEVELS, "absorb", gamma, horizon)
    longer = np.concatenate([LEVELS, np.full(horizon - 4, LEVELS[-1])])
    expected = sum(gamma**t * level for t, level in enumerate(longer)) / horizon
    assert sum(gamma**t * reward for t, reward in enumerate(paid)) == pytest.approx(expected)
    assert paid[:3].tolist() == (LEVELS[:3] / horizon).tolist()
    # A turn that fills the horizon has nothing left to be paid for.
    assert step_rewards(LEVELS, "absorb", gamma, 4).tolist() == (LEVELS / 4).tolist()


def test_absorb_gives_nothing_for_length():
    short = step_rewards(np.array([0.0, 1.0]), "absorb", 1.0, 8).sum()
    long = step_rewards(np.array([0.0, 1.0, 1.0, 1.0]), "absorb", 1.0, 8).sum()
    late = step_rewards(np.array([0.0, 0.0, 0.0, 1.0]), "absorb", 1.0, 8).sum()
    assert short == long > late


@pytest.mark.parametrize("step", ["delta", "absorb", "level", "terminal"])
def test_one_token(step):
    assert step_rewards(np.array([0.5]), step, 1.0, 1).tolist() == [0.5]


def test_unknown_step():
    with pytest.raises(TodflowError, match="'sparse'; use one of delta, absorb"):
        step_rewards(LEVELS, "sparse", 1.0, 10)


def test_gae_of_four_steps_by_hand():
    """gamma 0.5, lambda 0.5."""
    rewards, values = np.array([0.0, 0.5, 0.0, 1.0]), np.array([0.1, 0.4, 0.5, 0.2])
    # delta_3 = 1 + 0 - 0.2 = 0.8;  delta_2 = 0 + 0.5 * 0.2 - 0.5 = -0.4
    # delta_1 = 0.5 + 0.5 * 0.5 - 0.4 = 0.35;  delta_0 = 0 + 0.5 * 0.4 - 0.1 = 0.1
    # A_3 = 0.8;  A_2 = -0.4 + 0.25 * 0.8 = -0.2;  A_1 = 0.35 - 0.25 * 0.2 = 0.3
    # A_0 = 0.1 + 0.25 * 0.3 = 0.175
    advantages, returns = gae(rewards, values, 0.5, 0.5)
    assert advantages.tolist() == pytest.approx([0.175, 0.3, -0.2, 0.8])
    assert returns.tolist() == pytest.approx([0.275, 0.7, 0.3, 1.0])


def test_gae_with_lambda_one_is_the_return():
    rewards = np.array([0.0, 0.5, -0.2, 1.0])
    _, returns = gae(rewards, np.array([3.0, -1.0, 0.7, 9.0]), 1.0, 1.0)
    assert returns.tolist() == pytest.approx([1.3, 1.3, 0.8, 1.0])


def test_whitening_is_over_all_turns():
    turns = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 10.0])]
    white = whiten(turns)
    assert [len(turn) for turn in white] == [3, 2]
    tokens = np.concatenate(white)
    assert tokens.mean() == pytest.approx(0.0) and tokens.std() == pytest.approx(1.0)
    assert (np.argsort(tokens) == np.arange(5)).all()


def test_whitening_leaves_noise_small():
    noise = [np.array([1.001, 0.999, 1.0])]
    assert np.abs(whiten(noise)[0]).max() == pytest.approx(0.001 / 0.05)
    assert whiten([np.array([1.0])])[0].tolist() == [0.0]


def test_kl_controller():
    control = KlController(0.1, target=0.2, rate=0.2, fixed=False)
    control.update(0.22)  # error 0.1
    assert control.coef == pytest.approx(0.1 * 1.02)
    control.update(9.0)  # error clipped to 0.2
    assert control.coef == pytest.approx(0.1 * 1.02 * 1.04)
    control.update(-9.0)
    assert control.coef == pytest.approx(0.1 * 1.02 * 1.04 * 0.96)


def test_kl_controller_stays_within_its_limits():
    control = KlController(0.5, target=0.2, rate=0.2, fixed=False)
    for _ in range(1000):
        control.update(5.0)
    assert control.coef == 1.0
    for _ in range(1000):
        control.update(0.0)
    assert control.coef == 1e-4


def test_kl_controller_fixed():
    control = KlController(0.0, target=0.2, rate=0.2, fixed=True)
    control.update(5.0)
    assert control.coef == 0.0
    with pytest.raises(TodflowError, match="rl.kl_coef 0 can't adapt itself.*rl.kl_fixed"):
        KlController(0.0, target=0.2, rate=0.2, fixed=False)
