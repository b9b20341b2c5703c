"""Confidence intervals by resampling dialogues."""

import numpy as np

from todflow.metrics.tally import figures


def intervals(
    rows: np.ndarray, samples: int, seed: int, epsilon: float = 1e-7, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Percentile interval of every figure (x100).

    rows: (dialogues, columns), one `Tally.row` a dialogue. Each of the `samples` draws as many
    dialogues as there are, with replacement, by a generator seeded with `seed`, and computes the
    figures of the whole.
    """
    generator = np.random.default_rng(seed)
    drawn = generator.integers(len(rows), size=(samples, len(rows)))
    times = np.stack([np.bincount(sample, minlength=len(rows)) for sample in drawn])
    tail = 100 * (1 - level) / 2
    return {
        name: tuple(float(bound) for bound in np.percentile(values, (tail, 100 - tail)))
        for name, values in figures(times @ rows, epsilon).items()
    }
