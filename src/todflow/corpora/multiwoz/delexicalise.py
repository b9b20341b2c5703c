"""Responses with placeholders: "[value_name] is in the [value_area]", one token a slot for all domains.

In DAMD's manner (thu-spmi/damd-multiwoz: preprocess.py). Where the release says which tokens are
values, these are replaced. Where it does not, but has the system's acts, the values of the acts are
looked for. What has neither is searched for patterns and for the values of the database.
"""

import re
from collections.abc import Iterator

from todflow.corpora.multiwoz import DOMAINS
from todflow.corpora.multiwoz.release import Exchange
from todflow.corpora.multiwoz.spans import Span, annotated, located
from todflow.corpora.multiwoz.text import clean, repair
from todflow.corpora.multiwoz.tokens import tokenise
from todflow.corpora.multiwoz.values import clean_slot
from todflow.corpora.multiwoz.values import tokenise as tokenise_value

# A slot of acts that is never replaced: opening hours.
_LEXICAL = "open"
# An address of several parts, and a name in two, are one value.
_JOINED = (
    ("[value_address] , [value_address] , [value_address]", "[value_address]"),
    ("[value_address] , [value_address]", "[value_address]"),
    ("[value_name] [value_name]", "[value_name]"),
)

# In this order: a telephone number or a price in digits would else be taken apart.
_PATTERNS = tuple(
    (re.compile(pattern), f"[value_{slot}]")
    for slot, pattern in (
        ("phone", r"\d{5}\s?\d{5,7}"),
        ("stars", r"\d[\s-]stars?"),
        ("price", r"\$\d+|\$?\d+.?\d*\s(?:pounds?|gbps?)"),
        ("id", r"tr\d{4}"),
        (
            "postcode",
            r"[a-z][. ]?[a-z][. ]?\d{1,2}[, ]+\d[. ]?[a-z][. ]?[a-z]|[a-z]{2}\d{2}[a-z]{2}",
        ),
    )
)

# Columns of the database that no text is searched for: numbers, codes and flags, found by a pattern or
# not at all, and what a word of the text would rarely mean (a restaurant's "type").
_SKIPPED = {
    "restaurant": "id location introduction signature type postcode phone",
    "hotel": "id location internet parking takesbookings stars price n postcode phone",
    "attraction": "id location pricerange price openhours postcode phone",
    "train": "price id",
    "police": "id",
    "hospital": "id",
}
# Values of taxi_db.json that are parts of a car ("red", "toyota").
_CAR_COLUMNS = ("taxi_colors", "taxi_types")
# Values that are in no database, or with another slot there.
_ADDED = {
    "parkside": "address",
    "parkside, cambridge": "address",
    "cambridge belfry": "name",
    "hills road": "address",
    "hills rd": "address",
}
# The town of every entity, rarely meant as a value.
_TOWN = "cambridge"

# Words before a place or a time that tell where the journey goes: to it, or from it.
_ARRIVAL = frozenset(
    "arrive arrives arrived arriving arrival destination there reach to by before".split()
)
_DEPARTURE = frozenset(
    "leave leaves leaving depart departs departing departure from after pulls".split()
)


class ValueIndex:
    """The values of the database, to look for in a text.

    `phrases` are the values of several words, longest first, and `words` the others, each with its
    placeholder; `ambiguous` are values of more than one slot, such as the stations of trains.
    """

    def __init__(self, database: dict[str, list[dict]]):
        """`database`: as released, by domain (`release.read_database`)."""
        slots: dict[str, str] = {}
        ambiguous: set[str] = set()
        for slot, value in _values(database):
            if slots.get(value, slot) != slot:
                ambiguous.add(value)
            slots[value] = slot
        slots = {value: slot for value, slot in slots.items() if value not in ambiguous} | _ADDED
        slots.pop(_TOWN, None)
        tokens = {value: f"[value_{slot}]" for value, slot in slots.items() if value}
        self.phrases = [
            (value, tokens[value])
            for value in sorted(tokens, key=len, reverse=True)
            if " " in value
        ]
        self.words = {value: token for value, token in tokens.items() if " " not in value}
        self.ambiguous = sorted(ambiguous - {_TOWN}, key=lambda value: (-len(value), value))


def _values(database: dict[str, list[dict]]) -> Iterator[tuple[str, str]]:
    """(slot, value) of all that a text is searched for."""
    for domain in DOMAINS:
        if domain == "taxi":
            for column in _CAR_COLUMNS:
                for value in database[domain][0][column]:
                    yield "car", value.lower()
            continue
        skipped = _SKIPPED[domain].split()
        for entity in database[domain]:
            for column, value in entity.items():
                if isinstance(value, str):
                    slot, value = clean_slot(domain, column, value)
                    if slot not in skipped:
                        yield slot, tokenise_value(value)


def response_delex(exchange: Exchange, values: ValueIndex) -> str:
    """The cleaned response of an exchange with placeholders for the values.

    By the release's spans, else by the values of the acts, and if there are none of either (or no
    value is found), by patterns and the database.
    """
    tokens = tokenise(exchange.response)
    if exchange.response_spans is not None:
        spans = annotated(exchange.response_spans)
    else:
        spans = located(exchange.acts, tokens)
    if spans:
        return by_spans(tokens, spans)
    return by_values(clean(exchange.response), values)


def by_spans(tokens: list[str], spans: list[Span]) -> str:
    """The cleaned text of `tokens` with each span's tokens replaced by its placeholder.

    Where spans overlap, a later one writes over an earlier one.
    """
    tokens = list(tokens)
    for slot, first, last in spans:
        if slot != _LEXICAL and first < len(tokens):
            for index in range(first, min(last + 1, len(tokens))):
                tokens[index] = ""
            tokens[first] = f"[value_{slot}]"
    text = " ".join(filter(None, tokens))
    for old, new in _JOINED:
        text = text.replace(old, new)
    return repair(text)


def by_values(text: str, values: ValueIndex) -> str:
    """A cleaned text with what looks like a value, and what is one of the database, replaced."""
    for pattern, token in _PATTERNS:
        text = pattern.sub(token, text)
    for value, token in values.phrases:
        if value in text:
            text = text.replace(value, token)
    text = " ".join(values.words.get(word, word) for word in text.split())
    for value in values.ambiguous:
        start = text.find(f" {value}")
        if start >= 0:
            # Cues before the first occurrence decide for all, the nearest first; without one they stay.
            cues = reversed(text[:start].split())
            slot = next(filter(None, (_direction(word, value) for word in cues)), None)
            if slot:
                text = text.replace(f" {value}", f" [value_{slot}]")
    return text.replace("[value_car] [value_car]", "[value_car]")


def _direction(cue: str, value: str) -> str | None:
    """The slot that a word before `value` gives it."""
    time = ":" in value
    if cue in _ARRIVAL:
        return "arrive" if time else "destination"
    if cue in _DEPARTURE:
        return "leave" if time else "departure"
    return None
