"""Confidence intervals by resampling dialogues."""

from collections.abc import Callable

import numpy as np

from todflow.metrics.tally import figures


def resamples(dialogues: int, samples: int, seed: int) -> np.ndarray:
    """How often each of `samples` draws has each dialogue, (samples, dialogues).

    Each draws as many dialogues as there are, with replacement, by a generator seeded with `seed`.
    Product with a table of counts that add up, (dialogues, columns), gives those of every resample.
    """
    generator = np.random.default_rng(seed)
    drawn = generator.integers(dialogues, size=(samples, dialogues))
    return np.stack([np.bincount(sample, minlength=dialogues) for sample in drawn])


def percentiles(
    rows: np.ndarray,
    samples: int,
    seed: int,
    statistics: Callable[[np.ndarray], dict[str, np.ndarray]],
    level: float = 0.95,
) -> dict[str, tuple[float, float]]:
    """Percentile interval of every statistic.

    rows: (dialogues, columns), counts that add up, drawn as in `resamples`; `statistics` takes the
    summed rows of all samples, (samples, columns), to {name: (samples,)}.
    """
    times = resamples(len(rows), samples, seed)
    tail = 100 * (1 - level) / 2
    return {
        name: tuple(float(bound) for bound in np.percentile(values, (tail, 100 - tail)))
        for name, values in statistics(times @ rows).items()
    }


def intervals(
    rows: np.ndarray, samples: int, seed: int, epsilon: float = 1e-7, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Percentile interval of every figure (x100); rows: (dialogues, columns), one `Tally.row` a
    dialogue."""
    return percentiles(rows, samples, seed, lambda totals: figures(totals, epsilon), level)
