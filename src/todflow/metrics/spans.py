"""Belief state spans and act spans: written, and parsed."""

import re
from collections.abc import Collection, Mapping

State = dict[str, dict[str, str]]

_BRACKET = re.compile(r"\[([^\]\s]+)\]$")


def state_span(state: Mapping[str, Mapping[str, str]]) -> str:
    """The state as text: [hotel] area north type guest house [train] day monday.

    Domains without slots are left out.
    """
    words = []
    for domain, slots in state.items():
        if slots:
            words += [f"[{domain}]", *(f"{slot} {value}" for slot, value in slots.items())]
    return " ".join(words)


def parse_state(span: str, slots: Mapping[str, Collection[str]]) -> State:
    """The state that a span spells: [hotel] area north -> {"hotel": {"area": "north"}}.

    `slots` has the slot names of every domain. A bracketed word opens a domain (an unknown one
    takes nothing in), a slot name of that domain opens a slot, all other words up to the next slot
    name or bracket are its value. Words before the first domain or slot are ignored, a repeated
    slot overwrites, a slot without a value is none. A value that contains a slot name of its domain
    is cut there.
    """
    state: State = {}
    domain, slot = "", ""
    for word in span.split():
        bracket = _BRACKET.match(word)
        if bracket:
            domain, slot = bracket[1], ""
        elif word in slots.get(domain, ()):
            slot = word
            state.setdefault(domain, {}).pop(slot, None)
        elif slot:
            known = state[domain].get(slot)
            state[domain][slot] = f"{known} {word}" if known else word
    return {domain: values for domain, values in state.items() if values}


def parse_acts(span: str, domains: Collection[str]) -> set[tuple[str, str, str]]:
    """The triples that a span spells: [hotel] [inform] area -> {("hotel", "inform", "area")}.

    A bracketed word is a domain if it is one of `domains`, else an act. An act without slots gives
    one triple with an empty slot. Words before the first act of a domain are ignored.
    """
    triples, bare = set(), set()
    domain, act = "", ""
    for word in span.split():
        bracket = _BRACKET.match(word)
        if bracket and bracket[1] in domains:
            domain, act = bracket[1], ""
        elif bracket:
            act = bracket[1]
            bare.add((domain, act))
        elif act:
            triples.add((domain, act, word))
    filled = {triple[:2] for triple in triples}
    return triples | {(*pair, "") for pair in bare - filled}
