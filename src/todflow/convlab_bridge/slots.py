"""MultiWOZ slot names: convlab 3's unified ones, and the older ones of its rule-based parts.

This file has two lives. The project imports it, and `data` puts a copy where convlab looks for
`data/unified_datasets/multiwoz21/preprocess.py`, from which it takes three names: `reverse_da`,
`normalize_domain_slot_value` and `reverse_da_slot_name_map`. So it imports nothing.
"""

# The slots that each domain's acts may carry, under their unified names.
SLOTS = {
    "attraction": (
        "area", "name", "type", "entrance fee", "open hours", "address", "phone", "postcode",
        "choice",
    ),
    "hotel": (
        "name", "area", "type", "price range", "stars", "internet", "parking", "book people",
        "book stay", "book day", "address", "phone", "postcode", "ref", "choice",
    ),
    "restaurant": (
        "name", "area", "food", "price range", "book people", "book time", "book day", "address",
        "phone", "postcode", "ref", "choice",
    ),
    "train": (
        "departure", "destination", "day", "leave at", "arrive by", "book people", "duration",
        "price", "train id", "ref", "choice",
    ),
    "taxi": ("departure", "destination", "leave at", "arrive by", "type", "phone"),
    "hospital": ("department", "address", "phone", "postcode"),
    "police": ("name", "address", "phone", "postcode"),
    "general": (),
}  # fmt: skip

# The slots that a belief state tracks, in the order in which convlab keeps them.
STATE_SLOTS = {
    "attraction": ("type", "name", "area"),
    "hotel": (
        "name", "area", "parking", "price range", "stars", "internet", "type", "book stay",
        "book day", "book people",
    ),
    "restaurant": (
        "food", "price range", "name", "area", "book time", "book day", "book people",
    ),
    "taxi": ("leave at", "destination", "departure", "arrive by"),
    "train": ("leave at", "destination", "day", "arrive by", "departure", "book people"),
    "hospital": ("department",),
}  # fmt: skip

# Unified name -> older name. Two unified names may share an older one (the time of a
# table and of a journey).
reverse_da_slot_name_map = {
    "address": "Addr", "postcode": "Post", "price range": "Price", "price": "Ticket",
    "entrance fee": "Fee", "open hours": "Open", "arrive by": "Arrive", "leave at": "Leave",
    "departure": "Depart", "destination": "Dest", "train id": "Id", "duration": "Time",
    "book people": "People", "book stay": "Stay", "book day": "Day", "book time": "Time",
    "taxi": {"type": "Car", "phone": "Phone"},
}  # fmt: skip

# Spellings of a slot that are not its unified name: the older names, and those of databases and
# goals. A name that means different slots in different domains stands under (domain, name).
_ALIASES = {
    **{
        older.lower(): unified
        for unified, older in reverse_da_slot_name_map.items()
        if isinstance(older, str) and older not in ("Price", "Time", "Day")
    },
    "none": "", "car": "type", "car type": "type", "pricerange": "price range",
    "arriveby": "arrive by", "leaveat": "leave at", "trainid": "train id",
    ("attraction", "price"): "entrance fee", ("hotel", "price"): "price range",
    ("restaurant", "price"): "price range", ("hotel", "day"): "book day",
    ("restaurant", "day"): "book day", ("restaurant", "time"): "book time",
    ("train", "time"): "duration",
}  # fmt: skip

_VALUES = {
    "do nt care": "dontcare",
    "do n't care": "dontcare",
    "?": "",
    "none": "",
    "not mentioned": "",
}

_INTENTS = {"nooffer": "NoOffer", "nobook": "NoBook", "offerbook": "OfferBook"}


def normalize_domain_slot_value(domain, slot, value):
    """(domain, slot, value) under unified names.

    Raises KeyError when the domain does not know the slot: convlab's callers count on an exception.
    """
    domain, slot, value = domain.lower(), slot.lower(), value.strip()
    value = _VALUES.get(value, value)
    if slot not in SLOTS[domain]:
        alias = slot if slot in _ALIASES else (domain, slot)
        slot = _ALIASES[alias]
        if slot and slot not in SLOTS[domain]:
            raise KeyError(f"{domain} has no slot {slot}")
    return domain, slot, value


def reverse_da(dialogue_acts):
    """{group: [{intent, domain, slot, value}]} as older acts, {"Hotel-Inform": [[Slot, value]]}."""
    older = {}
    for group in dialogue_acts.values():
        for act in group:
            intent, domain, slot = act["intent"], act["domain"], act["slot"]
            if domain == "general":
                name = f"{domain}-{intent}"
            else:
                name = f"{domain.capitalize()}-{_INTENTS.get(intent, intent.capitalize())}"
            value = act.get("value", "") or ("?" if intent == "request" else "none")
            older.setdefault(name, []).append([_older_slot(domain, slot) or "none", value])
    return older


def _older_slot(domain, slot):
    for names in (reverse_da_slot_name_map, reverse_da_slot_name_map.get(domain, {})):
        if slot in names:
            return names[slot]
    return slot.capitalize()
