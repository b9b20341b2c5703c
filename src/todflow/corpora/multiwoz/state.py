"""Belief states: cumulative, and back from a span."""

from todflow.corpora.multiwoz import DOMAINS, SLOTS
from todflow.corpora.multiwoz.release import Dialogue
from todflow.corpora.multiwoz.values import clean_value, slot_name
from todflow.errors import TodflowError
from todflow.metrics.spans import State, parse_state

_SLOTS = dict.fromkeys(DOMAINS, SLOTS)
# A museum's name begins like a slot, so these two words are one while a span is parsed.
_PEOPLES, _ONE_WORD = "people 's", "people\ue000's"


def states(dialogue: Dialogue) -> list[State]:
    """The belief state after each user turn, in the order in which its slots were first filled.

    Only domains of the user's goal count, in the goal's order. A slot once filled is overwritten,
    never removed. Domains without slots are left out. Raises a `TodflowError` that names dialogue
    and turn where the annotation lacks a domain of the goal.
    """
    domains = [domain for domain in dialogue.goal if domain in DOMAINS and dialogue.goal[domain]]
    filled: State = {domain: {} for domain in domains}
    turns = []
    for turn, exchange in enumerate(dialogue.exchanges):
        for domain in domains:
            if domain not in exchange.metadata:
                raise TodflowError(
                    f"dialogue {dialogue.dialogue_id}, turn {turn}, field metadata: no '{domain}', "
                    "which the goal has; take the unmodified release"
                )
            for part in ("semi", "book"):
                for slot, value in exchange.metadata[domain][part].items():
                    if value and slot != "booked":
                        name = slot_name(slot)
                        cleaned = clean_value(domain, name, value)
                        if cleaned:
                            filled[domain][name] = cleaned
        turns.append({domain: dict(slots) for domain, slots in filled.items() if slots})
    return turns


def parse(span: str) -> State:
    """The state that a span spells; takes any text, whatever wrote it.

    A domain's bracket opens a domain, and a slot's name, of whatever domain, opens a slot, whose
    value goes on to the next of either. So a value with a slot's name in it is cut there, except for
    one with "people 's". See `todflow.metrics.spans.parse_state` for the rest.
    """
    if _PEOPLES not in span:
        return parse_state(span, _SLOTS)
    state = parse_state(span.replace(_PEOPLES, _ONE_WORD), _SLOTS)
    return {
        domain: {slot: value.replace(_ONE_WORD, _PEOPLES) for slot, value in slots.items()}
        for domain, slots in state.items()
    }
