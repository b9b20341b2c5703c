"""Corpus BLEU of the NNDIAL scorer, which the dialogue literature uses.

Whitespace tokens, n = 1..4 with equal weights, one reference per response, p_n = clipped/(count +
e) + e, brevity penalty 1 if c > r, else exp(1 - r/c). Everything that the score needs of a response
is ten counts, which add up over responses: resampling a corpus means adding other rows.
"""

from collections.abc import Sequence

import numpy as np

ORDERS = 4
# Clipped matches per order, n-grams per order, length of the hypothesis, length of the reference.
WIDTH = 2 * ORDERS + 2


def counts(hypothesis: str, reference: str) -> np.ndarray:
    """The counts of one response, shape (WIDTH,)."""
    predicted, expected = hypothesis.split(), reference.split()
    result = [0.0] * WIDTH
    result[ORDERS : 2 * ORDERS] = [max(len(predicted) - order, 0) for order in range(ORDERS)]
    result[-2:] = len(predicted), len(expected)
    found, wanted = predicted, expected
    for order in range(ORDERS):
        if order:
            # (n-gram, word after it) stands for a longer n-gram.
            found = list(zip(found, predicted[order:], strict=False))
            wanted = list(zip(wanted, expected[order:], strict=False))
        distinct = set(found)
        common = distinct.intersection(wanted)
        if not common:
            # Then no longer n-gram is common either.
            break
        result[order] = len(common)
        if len(distinct) < len(found):
            result[order] = sum([min(found.count(each), wanted.count(each)) for each in common])
    return np.array(result)


def score(totals: np.ndarray, epsilon: float = 1e-7) -> np.ndarray:
    """BLEU in 0..1 of summed counts, shape (..., WIDTH) -> (...). 0 where nothing was generated."""
    totals = np.asarray(totals, dtype=float)
    clipped, found = totals[..., :ORDERS], totals[..., ORDERS : 2 * ORDERS]
    length, reference = totals[..., -2], totals[..., -1]
    precision = clipped / (found + epsilon) + epsilon
    with np.errstate(divide="ignore", invalid="ignore"):
        brevity = np.where(length > reference, 1.0, np.exp(1 - reference / length))
    return np.where(length > 0, brevity * np.exp(np.log(precision).mean(axis=-1)), 0.0)


def corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[str], epsilon: float = 1e-7
) -> float:
    """BLEU in 0..1 of a corpus with one reference per hypothesis."""
    rows = [counts(*pair) for pair in zip(hypotheses, references, strict=True)]
    return float(score(np.sum(rows, axis=0) if rows else np.zeros(WIDTH), epsilon))
