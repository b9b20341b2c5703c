"""What the evaluators want of a dialogue, from the goal that its user was given."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from todflow.corpora.multiwoz import DOMAINS
from todflow.metrics.multiwoz.normalise import slot_name

# Released name of a requested slot -> the canonical word that answers it.
_TRAIN = {"trainID": "TRAINID"}
_OTHERS = {"phone": "PHONE", "address": "ADDRESS", "postcode": "POST"}


@dataclass(frozen=True)
class DomainGoal:
    """Constraints {slot: value} with normal slot names, and the canonical words of what is
    requested."""

    informable: dict[str, str] = field(default_factory=dict)
    requestable: frozenset[str] = frozenset()


def standard_goal(goal: Mapping[str, object]) -> dict[str, DomainGoal]:
    """Domain -> what the standard evaluator checks, of a goal as released.

    A domain with an empty entry is not part of the goal; one without `info` has nothing to check.
    Bookings want a REFERENCE.
    """
    result = {}
    for domain in DOMAINS:
        entry = goal.get(domain)
        if not entry:
            continue
        if "info" not in entry:
            result[domain] = DomainGoal()
            continue
        words = _TRAIN if domain == "train" else _OTHERS
        requested = {words[name] for name in entry.get("reqt", ()) if name in words}
        if "book" in entry:
            requested.add("REFERENCE")
        informable = {slot_name(slot): value.lower() for slot, value in entry["info"].items()}
        result[domain] = DomainGoal(informable, frozenset(requested))
    return result
