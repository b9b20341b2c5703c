"""The rewards of the step-reward paper (eq. 2-4) as functions of counts."""

import math
from collections.abc import Mapping
from typing import NamedTuple


class Count(NamedTuple):
    """Sizes of a gold set, of what was said of it, and of all that was said (right or wrong)."""

    wanted: int
    found: int
    said: int


class Rewards(NamedTuple):
    """R_u, R_g and R_tod, each within 0 and 1; 0 where the gold set is empty."""

    u: float
    g: float
    tod: float


def step_reward(found: int, wanted: int, penalty: float) -> float:
    """R_u (eq. 2, penalty alpha) or R_g (eq. 3, penalty beta) with `found` of `wanted` elements.

    The share of those found, times exp(-penalty * share of those missed): 0 without any, 1 with
    all. An empty gold set has none (0): it must not pay for nothing.
    """
    if not wanted:
        return 0.0
    return found / wanted * math.exp(-penalty * (wanted - found) / wanted)


def combined(u: float, pairs: int, g: float, requests: int) -> float:
    """R_tod (eq. 4): the mean of R_u and R_g, weighted by the sizes of the sets; 0 if both are
    empty."""
    return (pairs * u + requests * g) / (pairs + requests) if pairs + requests else 0.0


def rewards(pairs: Count, requests: Count, options: Mapping) -> Rewards:
    """All three. With the option fp_penalty, which the paper hasn't, R_u and R_g are multiplied by
    precision, the share of what was said that is right, and weigh in R_tod by the size of gold and
    said together: where nothing is wanted, saying something costs, too."""
    u = step_reward(pairs.found, pairs.wanted, options["alpha"])
    g = step_reward(requests.found, requests.wanted, options["beta"])
    if not options["fp_penalty"]:
        return Rewards(u, g, combined(u, pairs.wanted, g, requests.wanted))
    u *= pairs.found / pairs.said if pairs.said else 0.0
    g *= requests.found / requests.said if requests.said else 0.0
    all_pairs, all_requests = (c.wanted + c.said - c.found for c in (pairs, requests))
    return Rewards(u, g, combined(u, all_pairs, g, all_requests))
