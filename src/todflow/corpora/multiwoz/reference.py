"""What the standard evaluator compares a response with: the utterance with its values replaced.

The evaluator's own references are MultiWOZ 2.2's utterances with that release's spans replaced by
[slot]. These are 2.1's with 2.1's spans, made to look the same; where a release has no spans, they are
found by the values of the system's acts. docs/multiwoz.md says how close both come. They are not
normalised; the evaluator does that (`todflow.metrics.multiwoz.normalise`).
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from todflow.corpora.multiwoz.release import Exchange
from todflow.corpora.multiwoz.spans import located
from todflow.corpora.multiwoz.tokens import tokenise

# The slots of spans, by the names that the evaluator knows.
_NAMES = {
    "addr": "address",
    "arrive": "arriveby",
    "depart": "departure",
    "dest": "destination",
    "fee": "price",
    "leave": "leaveat",
    "post": "postcode",
    "ref": "reference",
    "ticket": "price",
}


def reference(exchange: Exchange) -> str:
    """The response with its values replaced by [slot]."""
    if exchange.response_spans is not None:
        return replace(exchange.response, exchange.response_spans)
    tokens = tokenise(exchange.response)
    spans = [
        ["", slot, " ".join(tokens[first : last + 1]), first, last]
        for slot, first, last in located(exchange.acts, tokens)
    ]
    return replace(exchange.response, spans)


def replace(text: str, spans: Sequence[Sequence]) -> str:
    """`text` with each span ([act, slot, value, first, last], token positions) replaced by [slot].

    Of spans that overlap the first counts; of those that start together the shorter one, of equal ones
    the first slot of the alphabet. A value of a span that occurs elsewhere in the text is replaced
    there, too: annotators marked it once.
    """
    tokens = _offsets(text)
    found = [
        (*_place(text, tokens, value, first, last), slot) for _, slot, value, first, last in spans
    ]
    pieces, position = [], 0
    for start, end, slot in sorted(found):
        if start >= position:
            # A span without tokens stands before the one that it names.
            pieces += [text[position:start], f"[{_name(slot)}]", " " if start == end else ""]
            position = end
    result = "".join([*pieces, text[position:]])
    for _, slot, value, _, _ in sorted(spans, key=lambda span: -len(span[2])):
        if value.strip():
            result = _pattern(value).sub(f"[{_name(slot)}]", result)
    return " ".join(result.split())


def _name(slot: str) -> str:
    return _NAMES.get(slot.lower(), slot.lower())


def _offsets(text: str) -> list[tuple[int, int]]:
    """Where each token starts and ends."""
    result, position = [], 0
    for token in tokenise(text):
        start = text.index(token, position)
        position = start + len(token)
        result.append((start, position))
    return result


def _place(
    text: str, tokens: list[tuple[int, int]], value: str, first: int, last: int
) -> tuple[int, int]:
    """Start and end of a span's tokens; where its value isn't in them, of the nearest place that it is.

    "4" marks all of "4-star", which is one token.
    """
    start = tokens[first][0] if first < len(tokens) else len(text)
    end = tokens[min(last, len(tokens) - 1)][1] if last >= first and tokens else start
    end = max(start, end)
    if _plain(value) not in _plain(text[start:end]) and last >= first:
        found = [match.span() for match in _pattern(value).finditer(text)] if value.strip() else []
        if found:
            return min(found, key=lambda place: abs(place[0] - start))
    return start, end


def _plain(text: str) -> str:
    return "".join(text.split()).lower()


@lru_cache(maxsize=1 << 12)
def _pattern(value: str) -> re.Pattern:
    """`value` as a word of its own, whatever its case, with blanks anywhere or nowhere between its
    tokens: values have the spaces of tokenised text."""
    pieces = [re.escape(piece) for word in value.split() for piece in tokenise(word)]
    return re.compile(r"(?<![\w\[])" + r"\s*".join(pieces) + r"(?![\w\]])", re.IGNORECASE)
