"""How varied a system's responses are: the leaderboard's columns."""

import math
import re
from collections import Counter
from collections.abc import Iterable

# lexical_diversity's list, without what normal responses never contain.
_DROPPED = str.maketrans("", "", "'.,?!)(%/-_:;")
_SPACE = re.compile(r"\s+")


def words(response: str) -> list[str]:
    """The words of a normalised response, without punctuation, in lower case.

    As in lexical_diversity, an empty response has one word, the empty one, and so has the place
    where punctuation stood at either end with a space beside it.
    """
    text = response.replace("``", "").translate(_DROPPED)
    return _SPACE.sub(" ", text).lower().split(" ")


def richness(responses: Iterable[str]) -> dict[str, float]:
    """avg_len (words a response), cond_bigram_entropy (bits of a word given the one before it),
    unique_words, unique_trigrams. Needs at least one response."""
    singles, pairs, triples = Counter(), Counter(), set()
    turns = 0
    for response in responses:
        tokens = words(response)
        turns += 1
        singles.update(tokens)
        pairs.update(zip(tokens, tokens[1:], strict=False))
        triples.update(zip(tokens, tokens[1:], tokens[2:], strict=False))
    total = singles.total()
    entropy = -math.fsum(
        times / total * math.log2(times / singles[pair[0]]) for pair, times in pairs.items()
    )
    return {
        "avg_len": total / turns,
        "cond_bigram_entropy": entropy,
        "unique_words": len(singles),
        "unique_trigrams": len(triples),
    }
