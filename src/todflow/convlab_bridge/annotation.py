"""Belief states and system acts as corpora for end-to-end systems annotate them (DAMD's names)."""

from todflow.convlab_bridge.session import Acts

# Unified slot name -> DAMD's. Names that are not here are the same.
_NAMES = {
    "price range": "pricerange", "entrance fee": "price", "open hours": "open", "leave at": "leave",
    "arrive by": "arrive", "train id": "id", "duration": "time", "book people": "people",
    "book stay": "stay", "book day": "day", "book time": "time", "ref": "reference",
}  # fmt: skip

# The order of a domain's slots in a state: fixed, as in MultiWOZ's, whatever the order of telling.
_ORDER = (
    "name", "type", "area", "pricerange", "food", "stars", "internet", "parking", "department",
    "departure", "destination", "day", "leave", "arrive", "time", "stay", "people",
)  # fmt: skip

# Unified state slot -> its name in the user's goal, where that differs.
_GOAL_NAMES = {"price range": "pricerange", "leave at": "leaveAt", "arrive by": "arriveBy"}


def slot_name(domain: str, slot: str) -> str:
    """DAMD's name of a unified slot."""
    if (domain, slot) == ("taxi", "type"):
        return "car"
    return _NAMES.get(slot, slot)


def goal_value(goal: dict, domain: str, slot: str) -> str | None:
    """What the user currently wants for a unified slot, or None where the goal does not say."""
    wanted = goal.get(domain, {})
    if slot.startswith("book "):
        return wanted.get("book", {}).get(slot.removeprefix("book "))
    # As long as it stands, the user tells the part of the goal that is bound to fail.
    return wanted.get("fail_info", wanted.get("info", {})).get(_GOAL_NAMES.get(slot, slot))


def add_told(state: dict, user_acts: Acts, goal: dict, tracked: dict) -> None:
    """Add to `state`, {domain: {DAMD slot: value}}, what `user_acts` tell; a later value wins.

    Domains stand in the order in which they came up, the slots of each in a fixed one.

    `tracked` is {domain: slots that a state may have}. A value told by reference ("the same day",
    "same area as the hotel") is entered as the value that the user means, which the goal knows.
    """
    for intent, domain, slot, value in user_acts:
        if intent != "inform" or slot not in tracked.get(domain, ()):
            continue
        if value.startswith(("the same", "same area as", "in the same price range as")):
            value = goal_value(goal, domain, slot) or value
        slots = {**state.get(domain, {}), slot_name(domain, slot): value}
        state[domain] = dict(sorted(slots.items(), key=lambda item: _ORDER.index(item[0])))


def system_acts(acts: Acts, booked: str) -> Acts:
    """Acts under DAMD's names; the bot's `booking` acts become `offerbooked` of domain `booked`."""
    result = []
    for intent, domain, slot, value in acts:
        if domain == "booking":
            intent, domain = "offerbooked", booked
        result.append([intent, domain, slot_name(domain, slot), value])
    return result


def act_span(acts: Acts) -> str:
    """`[hotel] [inform] choice area [request] pricerange`: by domain and intent, each slot once."""
    grouped: dict[str, dict[str, dict[str, None]]] = {}
    for intent, domain, slot, _ in acts:
        slots = grouped.setdefault(domain, {}).setdefault(intent, {})
        if slot:
            slots[slot] = None
    parts = []
    for domain, intents in grouped.items():
        parts.append(f"[{domain}]")
        for intent, slots in intents.items():
            parts += [f"[{intent}]", *slots]
    return " ".join(parts)
