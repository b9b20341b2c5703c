"""Which tokens of an utterance say the value of a slot.

Validation and test of 2.1 have it annotated. Elsewhere the values of the system's acts are looked for
in the tokens, as the annotation itself was made; what that gives on the validation split is in
docs/multiwoz.md.
"""

import re
from typing import NamedTuple

from todflow.corpora.multiwoz.tokens import tokenise
from todflow.corpora.multiwoz.values import slot_name

# Values of acts that are nowhere in the text.
_NO_VALUES = frozenset({"", "none", "?"})
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_OTHER_SPELLING = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_OTHER_SPELLING |= {digits: word for word, digits in _OTHER_SPELLING.items()}
# What may follow a value inside its last token: a letter or "es" after letters ("guesthouses",
# "churches"; the act "Hughes Hal" for "Hughes Hall"), a word joined to it ("4-star", "17:15,please"),
# the end of a sentence that isn't a token ("B&B.").
_ENDINGS = (re.compile(r"[a-z]"), re.compile(r"es"))
_JOINED = re.compile(r"[-,][a-z]")
_STOP = re.compile(r"[.,!?]+")
# A number alone says little: the word after it tells what is counted.
_COUNTED = {
    "people": frozenset("people person persons guest guests adult adults".split()),
    "stay": frozenset("night nights day days".split()),
}


class Span(NamedTuple):
    """Tokens `first` to `last` (inclusive, from 0) say the value of `slot`."""

    slot: str
    first: int
    last: int


def annotated(spans: list[list]) -> list[Span]:
    """The spans of a release's span annotation: [act, slot, value, first, last] each."""
    return [Span(slot_name(slot), first, last) for _, slot, _, first, last in spans]


def located(acts: dict[str, list[list[str]]], tokens: list[str]) -> list[Span]:
    """Spans of the values of a system turn's acts, in the order of the acts.

    A value is taken where it first occurs, whatever its case and its spaces; its last word may be a
    plural ("guesthouses"), a number may be a word. As in the annotation, spans may overlap: "hotel"
    as a type may be found inside a name. Values that are not in the text give no span.
    """
    text = _Text(tokens)
    result = []
    for pairs in acts.values():
        for slot, value in pairs:
            slot = slot_name(slot)
            if value.strip().lower() not in _NO_VALUES:
                found = text.find(slot, value)
                if found:
                    result.append(Span(slot, *found))
    return result


class _Text:
    """Tokens, to look for values in: lower-case and written without spaces."""

    def __init__(self, tokens: list[str]):
        self.tokens = [token.lower() for token in tokens]
        self.joined = "".join(self.tokens)
        self.starts, self.ends = {}, {}
        position = 0
        for index, token in enumerate(self.tokens):
            self.starts[position] = index
            position += len(token)
            self.ends[position] = index

    def find(self, slot: str, value: str) -> tuple[int, int] | None:
        """First and last token of the value."""
        value = value.lower()
        places = self._places(value)
        if value in _OTHER_SPELLING:
            places += self._places(_OTHER_SPELLING[value])
        counted = _COUNTED.get(slot, ())
        fitting = [place for place in places if self._after(place) in counted]
        return min(fitting or places, default=None)

    def _after(self, place: tuple[int, int]) -> str | None:
        return self.tokens[place[1] + 1] if place[1] + 1 < len(self.tokens) else None

    def _places(self, value: str) -> list[tuple[int, int]]:
        joined = "".join(value.split())
        longest = len(tokenise(value))
        places = []
        start = self.joined.find(joined)
        while start >= 0:
            first = self.starts.get(start)
            last = self._last(joined, start + len(joined))
            # Not of more tokens than the value: a guesthouse isn't the "Guest House" of a name.
            if None not in (first, last) and last - first < longest:
                places.append((first, last))
            start = self.joined.find(joined, start + 1)
        return places

    def _last(self, value: str, end: int) -> int | None:
        """The token that ends where the value does, or with a little more after it."""
        if end in self.ends:
            return self.ends[end]
        if _JOINED.match(self.joined, end):
            return self.ends[min(place for place in self.ends if place > end)]
        letters = value[-1].isalpha() and value not in _OTHER_SPELLING
        for ending in (_STOP, *_ENDINGS) if letters else (_STOP,):
            more = ending.match(self.joined, end)
            if more and more.end() in self.ends:
                return self.ends[more.end()]
        return None
