"""Several training runs as one figure: mean and Student's t-interval over seeds."""

import math
import statistics


def t_interval(values: list[float]) -> tuple[float, float, float]:
    """Mean, low and high end of the 95 % t-interval of two or more independent values."""
    mean = statistics.fmean(values)
    half = t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def t_quantile(freedom: int) -> float:
    """The t that |T| exceeds with probability 5 %, for `freedom` >= 1 degrees of freedom."""
    low, high = 0.0, 20.0  # the largest quantile, at one degree, is 12.71
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _inside(middle, freedom) < 0.95 else (low, middle)
    return (low + high) / 2


def _inside(t: float, freedom: int) -> float:
    """P(|T| <= t): the finite series of Abramowitz & Stegun 26.7.3-4 for whole `freedom`."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine**2 * (k - 1) / k
    return (angle + sine * total) * 2 / math.pi if odd else sine * total
