"""From reward levels to what an update wants: step rewards, advantages, KL control.

All of it is about one turn, whose steps are its tokens, but for whitening, over an iteration.
"""

import numpy as np

from todflow.errors import TodflowError

STEPS = ("delta", "absorb", "level", "terminal")

# Of the KL coefficient that adapts itself: eq. 7 alone can change it by ten thousands in a run.
LOWEST, HIGHEST = 1e-4, 1.0


def step_rewards(levels: np.ndarray, step: str, gamma: float, horizon: int) -> np.ndarray:
    """The reward of every token [tokens] from the levels R_t after every token [tokens].

    `step` is one of STEPS:
    delta: R_t - R_(t-1), with 0 before the first token; their sum is the last level. With gamma 1
        this is potential-based shaping: the best policy is that of `terminal`.
    terminal: the last level at the last token, nothing before.
    level: R_t itself (step-reward paper, eq. 5, as printed). Whoever goes on talking is paid on.
    absorb: `level`, with the steps from the end of the turn to the `horizon` (most tokens that a
        turn can have) paid at once at its last level, and all divided by `horizon`: early still
        pays, long doesn't.
    """
    if step == "delta":
        return np.diff(levels, prepend=0.0)
    if step == "terminal":
        return np.concatenate([np.zeros(len(levels) - 1), levels[-1:]])
    if step == "level":
        return levels.copy()
    if step != "absorb":
        raise TodflowError(f"config: rl.step is {step!r}; use one of {', '.join(STEPS)}")
    left = horizon - len(levels)
    paid = levels.copy()
    paid[-1] += levels[-1] * (left if gamma == 1 else gamma * (1 - gamma**left) / (1 - gamma))
    return paid / horizon


def gae(
    rewards: np.ndarray, values: np.ndarray, gamma: float, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """Advantages and returns of every token (Schulman et al., 2016), all [tokens].

    `values` are those expected before each token; after the last one there is nothing to expect,
    whether the turn ended by itself or at the limit.
    """
    following = np.append(values[1:], 0.0)
    errors = rewards + gamma * following - values
    advantages = np.zeros_like(errors)
    sum_so_far = 0.0
    for token in reversed(range(len(errors))):
        sum_so_far = errors[token] + gamma * lam * sum_so_far
        advantages[token] = sum_so_far
    return advantages, advantages + values


def whiten(turns: list[np.ndarray], floor: float = 0.05) -> list[np.ndarray]:
    """The turns' advantages with mean 0 and deviation 1 over all tokens of the iteration.

    The divisor is at least `floor`: where nearly every turn earns everything, what is left is
    noise, and must not be blown up to full size.
    """
    tokens = np.concatenate(turns)
    mean, divisor = tokens.mean(), max(tokens.std(), floor)
    return [(turn - mean) / divisor for turn in turns]


class KlController:
    """The weight of the KL penalty (step-reward paper, eq. 6, 7), kept within LOWEST and HIGHEST.

    `target` is the KL per token to keep to, in nats, `rate` is K_beta. A `fixed` one stays as it
    is.
    """

    def __init__(self, coef: float, target: float, rate: float, fixed: bool):
        if not fixed and not LOWEST <= coef <= HIGHEST:
            raise TodflowError(
                f"config: rl.kl_coef {coef:g} can't adapt itself outside {LOWEST:g} to "
                f"{HIGHEST:g}; choose one within, or set rl.kl_fixed"
            )
        self.coef, self.target, self.rate, self.fixed = coef, target, rate, fixed

    def update(self, kl: float) -> None:
        """Take in an iteration's mean KL per token."""
        if self.fixed:
            return
        error = min(max((kl - self.target) / self.target, -0.2), 0.2)
        self.coef = min(max(self.coef * (1 + self.rate * error), LOWEST), HIGHEST)
