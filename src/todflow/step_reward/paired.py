"""The difference between systems on the same dialogues: paired bootstrap, and spread over seeds."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from todflow.errors import TodflowError
from todflow.metrics.bootstrap import resamples
from todflow.tables.seeds import t_interval

# A system's sign and weight in a sum, and its counts, (dialogues, columns).
Term = tuple[float, np.ndarray]
Interval = tuple[float, float]


class Difference(NamedTuple):
    """A sum of figures with signs: of every seed, and their mean.

    seeds: seed -> (value, 95 % bootstrap interval). dialogues: the mean's 95 % interval over
    dialogues, seeds as they are. spread: standard deviation over seeds, and over: the mean's 95 %
    t-interval over seeds; both None with one seed.
    """

    value: float
    dialogues: Interval
    seeds: dict[int, tuple[float, Interval]]
    spread: float | None
    over: Interval | None


class Paired:
    """Draws dialogues once, so that every system and seed is judged on the same resamples.

    figure: summed rows (..., columns) -> one figure, (...).
    """

    def __init__(self, dialogues: int, samples: int, seed: int):
        self.times = resamples(dialogues, samples, seed)

    def difference(
        self, terms: Mapping[int, Sequence[Term]], figure: Callable[[np.ndarray], np.ndarray]
    ) -> Difference:
        """The weighted sum over the terms of each seed, all of the same dialogues in one order.

        Raises TodflowError for counts of another number of dialogues.
        """
        values, drawn = {}, {}
        for seed, parts in sorted(terms.items()):
            for _, rows in parts:
                if len(rows) != self.times.shape[1]:
                    raise TodflowError(
                        f"seed {seed}: {len(rows)} dialogues where {self.times.shape[1]} are paired;"
                        " predict the whole split again"
                    )
            values[seed] = sum(weight * float(figure(rows.sum(axis=0))) for weight, rows in parts)
            drawn[seed] = sum(weight * figure(self.times @ rows) for weight, rows in parts)
        several = len(values) > 1
        mean, *over = t_interval([*values.values()]) if several else (*values.values(),)
        return Difference(
            value=mean,
            dialogues=_interval(np.mean([*drawn.values()], axis=0)),
            seeds={seed: (value, _interval(drawn[seed])) for seed, value in values.items()},
            spread=statistics.stdev(values.values()) if several else None,
            over=tuple(over) if several else None,
        )


def _interval(samples: np.ndarray) -> Interval:
    low, high = np.percentile(samples, (2.5, 97.5))
    return float(low), float(high)
