"""A user's goal as the per-paper evaluators read it."""

from collections.abc import Mapping
from dataclasses import dataclass

from todflow.corpora.multiwoz import DOMAINS
from todflow.corpora.multiwoz.values import clean_value, slot_name

# What can be told apart in a delexicalised response, and hence counts for Success.
REQUESTS = ("phone", "address", "postcode", "reference", "id")


@dataclass(frozen=True)
class LegacyGoal:
    """What the user wants in one domain: constraints in DAMD's form, and slots out of REQUESTS."""

    informable: dict[str, str]
    requested: frozenset[str]


def legacy_goals(goal: Mapping[str, Mapping]) -> dict[str, LegacyGoal]:
    """The domains of a goal as released, in the order of DOMAINS; empty ones are left out.

    Constraints go through the cleaning and tokenisation of the belief states. A booking in the goal
    is a request for its reference; a train's other request can only be its id. Without `info` a
    domain asks for nothing, whatever else it has.
    """
    return {domain: _goal(domain, goal[domain]) for domain in DOMAINS if goal.get(domain)}


def _goal(domain: str, goal: Mapping) -> LegacyGoal:
    if "info" not in goal:
        return LegacyGoal({}, frozenset())
    countable = ("id",) if domain == "train" else REQUESTS
    requested = {slot_name(slot) for slot in goal.get("reqt", ())} & set(countable)
    if "book" in goal:
        requested.add("reference")
    named = ((slot_name(slot), value) for slot, value in goal["info"].items())
    return LegacyGoal(
        {slot: clean_value(domain, slot, value) for slot, value in named}, frozenset(requested)
    )
