"""System acts: from the release's annotation to a list of acts, and to a span."""

from collections.abc import Mapping, Sequence
from functools import cache

from todflow.corpora.multiwoz.text import repair
from todflow.corpora.multiwoz.values import slot_name, tokenise

ReleasedActs = Mapping[str, Sequence[Sequence[str]]]  # {"Hotel-Inform": [["Area", "north"]]}
Act = list[str]  # [intent, domain, slot, value]; slot and value empty where an act has none

# What Booking acts are called once their domain is known.
_BOOKING = {"inform": "offerbook", "book": "offerbooked"}

# Intents that keep the ball rolling come after those that tell something.
_LAST = ("request", "reqmore", "bye", "offerbook")


def domain_of(act: str) -> str:
    """The domain in a released act's name: "Hotel-Inform" -> "hotel"."""
    return act.split("-", 1)[0].lower()


def act_list(acts: ReleasedActs, turn_domains: Sequence[str]) -> list[Act]:
    """The acts of one system turn, [intent, domain, slot, value], in the order of DAMD's act span.

    A greeting comes first, then domain by domain, those of the turn before others; in a domain,
    requests and the like come last. Booking acts go to the turn's first domain. What is told along
    with a booking that has been made belongs to that act: `inform` is merged into `offerbooked`. Of
    two acts that get the same domain and intent the later replaces the earlier, as in DAMD. Values
    are cleaned and in tokens; slot and value are "" where an act has none.
    """
    greeting: list[Act] = []
    told, asked = [], []
    for act, pairs in acts.items():
        domain, intent = act.lower().split("-", 1)
        if (domain, intent) == ("general", "greet"):
            greeting = [[intent, domain, "", ""]]
            continue
        if domain == "booking":
            domain, intent = turn_domains[0], _BOOKING.get(intent, intent)
        slots = [(slot_name(slot), _value(value)) for slot, value in pairs if slot != "none"]
        (asked if intent in _LAST else told).append((domain, intent, slots))
    grouped: dict[str, dict[str, list[tuple[str, str]]]] = {name: {} for name in turn_domains}
    for domain, intent, slots in told + asked:
        grouped.setdefault(domain, {})[intent] = slots
    for intents in grouped.values():
        if "offerbooked" in intents and "inform" in intents:
            intents["offerbooked"] = intents["offerbooked"] + intents.pop("inform")
    return greeting + [
        [intent, domain, slot, value]
        for domain, intents in grouped.items()
        for intent, slots in intents.items()
        for slot, value in slots or [("", "")]
    ]


@cache
def _value(value: str) -> str:
    return "" if value in ("?", "none") else tokenise(repair(value))


def act_span(acts: Sequence[Act]) -> str:
    """The span of a list of acts: [hotel] [inform] choice area [request] pricerange.

    A slot is named once for each act, and `[general] [greet]` stands by itself.
    """
    words: list[str] = []
    previous: list[str] = ["", ""]
    named: set[str] = set()
    for intent, domain, slot, _ in acts:
        if domain != previous[1] or previous[0] == "greet":
            words.append(f"[{domain}]")
        if [intent, domain] != previous:
            words.append(f"[{intent}]")
            named = {""}
        if slot not in named:
            words.append(slot)
            named.add(slot)
        previous = [intent, domain]
    return " ".join(words)
