"""MultiWOZ 2.0 and 2.1: Wizard-of-Oz dialogues about Cambridge in seven domains.

The preprocessing follows DAMD's, which the field's systems share, so that figures compare;
docs/multiwoz.md says how closely it agrees with what DAMD's own code gives.
"""

DOMAINS = ("restaurant", "hotel", "attraction", "train", "taxi", "police", "hospital")

# Slots that a belief state may hold, by domain.
STATE_SLOTS = {
    "restaurant": ("food", "pricerange", "area", "name", "time", "day", "people"),
    "hotel": (
        "type", "parking", "pricerange", "internet", "stay", "day", "people", "area", "stars",
        "name",
    ),
    "attraction": ("area", "type", "name"),
    "train": ("destination", "day", "arrive", "departure", "people", "leave"),
    "taxi": ("leave", "destination", "departure", "arrive"),
    "police": (),
    "hospital": ("department",),
}  # fmt: skip

# Slots that the user may ask for and the system must then supply, by domain.
REQUESTABLE = {
    "restaurant": ("phone", "postcode", "address", "pricerange", "food", "area", "reference"),
    "hotel": (
        "address", "postcode", "internet", "phone", "parking", "type", "pricerange", "stars",
        "area", "reference",
    ),
    "attraction": ("price", "type", "address", "postcode", "phone", "area", "reference"),
    "train": ("time", "leave", "price", "arrive", "id", "reference"),
    "taxi": ("car", "phone"),
    "police": ("address", "phone", "postcode"),
    "hospital": ("address", "phone", "postcode"),
}  # fmt: skip

# Words that open a slot wherever they stand in a belief span: the names above, of any domain.
SLOTS = frozenset().union(*STATE_SLOTS.values(), *REQUESTABLE.values())
