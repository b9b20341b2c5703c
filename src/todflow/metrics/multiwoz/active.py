"""Which domain a system turn is about, estimated from how the state changes."""

from collections.abc import Sequence

from todflow.metrics.spans import State


def estimate(states: Sequence[State]) -> list[tuple[str, ...]]:
    """The active domain of every turn of a dialogue: one, or none before the state first changes.

    A domain has changed if it has a (slot, value) pair that it had not in the turn before; that a
    pair is gone is no change. The current domain stays while it changes. When others change and it
    does not, the changed one with the most slots takes over, the first in the state's order on a
    tie. When nothing changes right after several did, the first of the others that is still in the
    state does. Source: Tomiinek/MultiWOZ_Evaluation, mwzeval/utils.py.
    """
    result: list[tuple[str, ...]] = []
    current: str | None = None
    before: State = {}
    changed_before: list[str] = []
    for state in states:
        changed = [
            domain
            for domain, slots in state.items()
            if not slots.items() <= before.get(domain, {}).items()
        ]
        if changed:
            if current not in changed:
                current = max(changed, key=lambda domain: len(state[domain]))
        elif len(changed_before) > 1:
            others = [domain for domain in changed_before if domain in state and domain != current]
            current = others[0] if others else current
        if current is not None:
            before, changed_before = state, changed
        result.append(() if current is None else (current,))
    return result
