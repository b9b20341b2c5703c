"""The domains that a turn is about."""

from collections.abc import Iterable, Mapping, Sequence

from todflow.corpora.multiwoz.acts import ReleasedActs, domain_of
from todflow.metrics.spans import State


def turn_domains(states: Sequence[State], acts: Sequence[ReleasedActs]) -> list[list[str]]:
    """The domains of every turn of a dialogue: ["hotel"], or ["train", "hotel"].

    `states` has the cumulative belief state of each turn, `acts` its system acts as released.
    First come the domains whose state has changed, then those of the acts; a turn with neither
    keeps the domains of the turn before it. Of two, the one that the turn before was about stands
    first. ["general"] is a turn about no domain. Follows DAMD's preprocessing, except that domains
    known from acts alone stand in the order of the acts, where DAMD's order is arbitrary.
    """
    turns = []
    before: State = {}
    last = ["general"]
    for state, said in zip(states, acts, strict=True):
        domains = _changed(state, before)
        domains += [domain for domain in _spoken(said) if domain not in domains]
        domains = domains or last
        if len(domains) == 2:
            domains = [domain for domain in domains if domain != "general"]
        if len(domains) == 2 and last == domains[1:]:
            domains = domains[::-1]
        turns.append(list(domains))
        before, last = state, domains
    return turns


def _changed(state: State, before: Mapping) -> list[str]:
    return [domain for domain, slots in state.items() if slots != before.get(domain)]


def _spoken(acts: Iterable[str]) -> list[str]:
    """The domains of acts; general and booking only where no other is: booking names no domain."""
    domains = list(dict.fromkeys(domain_of(act) for act in acts))
    for vague in ("general", "booking"):
        if len(domains) > 1 and vague in domains:
            domains.remove(vague)
    return [domain for domain in domains if domain != "booking"]
