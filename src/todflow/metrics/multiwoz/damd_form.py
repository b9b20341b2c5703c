"""Other systems' responses and states in DAMD's form, which the per-paper evaluators compare.

Prediction files spell placeholders, slots and text in many ways: [restaurant_name], [entrance fee];
arriveBy, book people; "restaurant-s." or "restaurant -s ."; "17 : 15". What DAMD would have written
is left as it is.
"""

import re
from collections.abc import Mapping
from functools import cache

from todflow.corpora.multiwoz import DOMAINS
from todflow.corpora.multiwoz.text import repair
from todflow.corpora.multiwoz.values import slot_name, tokenise
from todflow.metrics.spans import State

# Spellings without blanks or underscores that `slot_name` does not know -> DAMD's.
_SLOTS = {
    "entrancefee": "price", "cartype": "car", "booktime": "time", "bookday": "day",
    "bookpeople": "people", "bookstay": "stay",
}  # fmt: skip
# Names of placeholders that DAMD does not use, or hardly ever -> the usual one.
_MERGED = {"pricerange": "price", "place": "destination", "count": "choice", "train": "id"}
_PLACEHOLDERS = frozenset(
    "address area arrive car choice day department departure destination food id leave name people "
    "phone postcode price pricerange reference stars stay time type".split()
)
_PREFIX = re.compile(rf"(value|{'|'.join(DOMAINS)})[ _-]")
_PLACEHOLDER = re.compile(r"\[([^\[\]]+)\]")

# Where text that is not tokenised gets its blanks, in this order. Digits hold "," and ":" together.
_BLANKS = (
    (re.compile(r"[?!();]|,(?!\d)|:(?!\d)|\.+(?![\w.])"), r" \g<0> "),
    (re.compile(r"(?<=[\w\]])-(s|ly)\b"), r" -\1"),
    (re.compile(r"(?<=[\w\]])(n't|'(?:s|d|m|re|ve|ll))\b"), r" \1"),
)
_TIME = re.compile(r"(\d) ?: ?(\d)")
_TIMES = ("arrive", "leave", "time")


def damd_response(text: str) -> str:
    """A delexicalised response with DAMD's placeholders and tokens, in lower case.

    [restaurant_name], [value_name] and [name] are all [value_name]; names nobody knows stay. The
    plural "-s" is a token.
    """
    text = _PLACEHOLDER.sub(lambda found: f"[{_placeholder(found[1])}]", text.lower())
    for pattern, replacement in _BLANKS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def unknown_placeholders(text: str) -> list[str]:
    """The names in brackets that no evaluated placeholder has, each time, in lower case."""
    return [
        name
        for name in _PLACEHOLDER.findall(text.lower())
        if _placeholder(name).removeprefix("value_") not in _PLACEHOLDERS
    ]


@cache
def _placeholder(name: str) -> str:
    prefix = _PREFIX.match(name)
    domain = prefix[1] if prefix else ""
    slot = damd_slot(name[prefix.end() :] if prefix else name)
    if (domain, slot) == ("taxi", "type"):
        slot = "car"
    elif domain != "value" or slot not in _PLACEHOLDERS:
        slot = _MERGED.get(slot, slot)
    # [restaurant_id] is the number of a row of the database, no train's.
    unlike = slot == "id" and domain not in ("", "value", "train")
    return f"value_{slot}" if slot in _PLACEHOLDERS and not unlike else name


def damd_state(state: Mapping[str, Mapping[str, str]]) -> State:
    """A belief state with DAMD's slot names, and its spelling and tokens of values.

    Only the form is changed: a value that is wrong stays wrong, and one that means nothing stays.
    """
    return {
        domain.lower(): {
            damd_slot(slot): _value(damd_slot(slot), value) for slot, value in slots.items()
        }
        for domain, slots in state.items()
    }


@cache
def damd_slot(name: str) -> str:
    """DAMD's name of a slot."""
    spaced = slot_name(name.replace("_", " "))
    bare = spaced.replace(" ", "")
    return slot_name(_SLOTS.get(bare, bare))


@cache
def _value(slot: str, value: str) -> str:
    text = tokenise(repair(value))
    return _TIME.sub(r"\1:\2", text) if slot in _TIMES else text
