"""Belief states of In-Car, from the annotation."""

import re

from todflow.corpora.incar import INFORMABLE
from todflow.corpora.incar.text import clean

_MILES = re.compile(r"(\d+)\s?miles?")


def clean_value(value: str, entities: dict[str, str]) -> str | None:
    """The entity that an annotated value stands for: itself, or its first word; None if neither is
    one."""
    value = _MILES.sub(r"\1 mile", clean(value))
    if value in entities:
        return value
    first = value.split(" ", 1)[0]
    return first if first in entities else None


def clean_state(slots: dict[str, str], intent: str, entities: dict[str, str]) -> dict[str, str]:
    """The informable slots of `intent` with their cleaned values, in the order of INFORMABLE."""
    cleaned = {
        slot: clean_value(slots[slot], entities) for slot in INFORMABLE[intent] if slot in slots
    }
    return {slot: value for slot, value in cleaned.items() if value is not None}
