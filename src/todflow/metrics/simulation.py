"""Averages over simulated dialogues, as ConvLab's analyzer takes them, with 95 % intervals."""

import math

import numpy as np
import pandas as pd

# Figure -> the results' column it averages. Shares are given x100; turns count both sides.
MEANS = ("turns", "inform_precision", "inform_recall", "inform_f1", "book")
RATES = ("success", "success_strict", "complete")
Z = 1.959963984540054  # 97.5 % of the normal distribution


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate (0 to 1); needs n > 0."""
    rate = successes / n
    centre = (rate + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * math.sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def bootstrap(values: np.ndarray, samples: int, seed: int) -> tuple[float, float]:
    """Percentile 95 % interval of a mean, over `samples` resamples; needs values."""
    generator = np.random.default_rng(seed)
    # One resample at a time: all at once would take samples x dialogues numbers.
    means = [
        values[generator.integers(len(values), size=len(values))].mean() for _ in range(samples)
    ]
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def figures(results: pd.DataFrame, samples: int, seed: int) -> dict[str, dict]:
    """{figure: {value, n, ci: [low, high], interval}}; value and ci are None where n is 0.

    `interval` names the method of ci: "wilson" for rates, "bootstrap" for means.
    Inform figures leave out dialogues that request nothing, `book` those that book nothing (their
    value is missing). Precision, recall and F1 are means over dialogues, so F1 is not that of the
    two means.
    """
    result = {}
    for name in (*MEANS, *RATES):
        values = results[name].dropna().to_numpy(dtype=float)
        method = "wilson" if name in RATES else "bootstrap"
        scale, value, ci = (1 if name == "turns" else 100), None, None
        if len(values):
            value = float(values.mean()) * scale
            bounds = (
                wilson(int(values.sum()), len(values))
                if method == "wilson"
                else bootstrap(values, samples, seed)
            )
            ci = [bound * scale for bound in bounds]
        result[name] = {"value": value, "n": len(values), "ci": ci, "interval": method}
    return result
