"""Slot names and values, cleaned: one spelling for what annotators wrote in many."""

import json
from functools import cache
from importlib import resources
from typing import NamedTuple

from todflow.corpora.multiwoz import tokens
from todflow.corpora.multiwoz.text import repair

# What releases, databases and acts call a slot, in lower case -> its name in spans.
_NAMES = {
    "leaveat": "leave", "arriveby": "arrive", "trainid": "id", "duration": "time",
    "car type": "car", "entrance fee": "price", "price range": "pricerange", "addr": "address",
    "fee": "price", "post": "postcode", "ref": "reference", "ticket": "price",
    "depart": "departure", "dest": "destination",
}  # fmt: skip


class _Table(NamedTuple):
    """values.json, by domain and slot: what is written -> what is meant; the values that count."""

    corrections: dict[tuple[str, str], dict[str, str]]
    everywhere: dict[str, str]
    allowed: dict[tuple[str, str], frozenset[str]]


@cache
def _table() -> _Table:
    read = json.loads((resources.files(__package__) / "values.json").read_text("utf-8"))
    return _Table(
        {key: _by_written(meant) for key, meant in _by_slot(read["corrections"])},
        _by_written(read["everywhere"]),
        {key: frozenset(values) for key, values in _by_slot(read["allowed"])},
    )


def _by_slot(tree: dict[str, dict]) -> list[tuple[tuple[str, str], list | dict]]:
    return [
        ((domain, slot), part) for domain, slots in tree.items() for slot, part in slots.items()
    ]


def _by_written(meant: dict[str, list[str]]) -> dict[str, str]:
    return {written: value for value, spellings in meant.items() for written in spellings}


def slot_name(slot: str) -> str:
    """A slot's name in spans: arriveBy -> arrive, entrance fee -> price, Addr -> address."""
    slot = slot.lower()
    return _NAMES.get(slot, slot)


def clean_slot(domain: str, slot: str, value: str) -> tuple[str, str]:
    """A slot's name and a value of it, as DAMD cleans them; the value not yet in tokens.

    The text is cleaned and corrected by values.json: "Town Centre" of an attraction's area is
    "centre". A value that says nothing is "".
    """
    slot = slot_name(slot)
    table = _table()
    value = repair(value)
    value = table.corrections.get((domain, slot), {}).get(value, value)
    allowed = table.allowed.get((domain, slot))
    if allowed is not None and value not in allowed:
        value = ""
    return slot, table.everywhere.get(value, value)


def tokenise(value: str) -> str:
    """The tokens of a value, joined by spaces: "queens' college" -> "queens ' college"."""
    return " ".join(tokens.tokenise(value))


@cache
def clean_value(domain: str, slot: str, value: str) -> str:
    """A value as a belief span has it; "" for one that says nothing.

    As `clean_slot` gives it, and in tokens where it has several words.
    """
    cleaned = clean_slot(domain, slot, value)[1]
    return tokenise(cleaned) if " " in cleaned else cleaned
