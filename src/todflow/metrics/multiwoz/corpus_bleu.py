"""sacrebleu's corpus BLEU from counts that add up over responses.

The counts are those of `todflow.metrics.bleu`, on sacrebleu's 13a tokens; case is kept, there is
one reference a response, and orders without a match are smoothed exponentially (sacrebleu's
defaults).
"""

from functools import cache, lru_cache

import numpy as np
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from todflow.metrics import bleu


@cache
def _tokenizer() -> Tokenizer13a:
    return Tokenizer13a()


def tokens(text: str) -> str:
    """The 13a tokens of a text, separated by spaces."""
    # It looks beyond a word's end only where a line may end in a hyphen.
    if "\n" in text:
        return _tokenizer()(text.rstrip())
    return " ".join([tokens for word in text.split() if (tokens := _word(word))])


@lru_cache(maxsize=1 << 16)
def _word(word: str) -> str:
    return _tokenizer()(word)


def score(totals: np.ndarray) -> np.ndarray:
    """BLEU in 0..1 of summed counts, shape (..., bleu.WIDTH) -> (...)."""
    totals = np.asarray(totals, dtype=float)
    matched, found = totals[..., : bleu.ORDERS], totals[..., bleu.ORDERS : 2 * bleu.ORDERS]
    length, reference = totals[..., -2], totals[..., -1]
    missed = matched == 0
    # The first order without a match counts as half a match, the next as a quarter, and so on.
    smoothed = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matched)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(smoothed / found).mean(axis=-1)
        brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
        defined = (found > 0).all(axis=-1) & ~missed.all(axis=-1)
        return np.where(defined, brevity * np.exp(precision), 0.0)
