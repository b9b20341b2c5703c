"""Joint goal accuracy and act F1, which both evaluators report beside their own figures."""

from collections.abc import Sequence

from todflow.corpora.multiwoz.state import parse
from todflow.metrics.multiwoz import normalise
from todflow.metrics.multiwoz.database import DONT_CARE
from todflow.metrics.selfplay import ACT_DOMAINS
from todflow.metrics.spans import State, parse_acts, state_span
from todflow.metrics.tally import overlap

_UNSET = frozenset({"", "none", "not mentioned"})


def right_states(predicted: Sequence[State], gold: Sequence[State], vintage: str) -> int:
    """In how many turns the whole predicted state is the gold one.

    Both sides are normalised as the standard evaluator does, and what systems spell in different
    ways without meaning it is one: spellings of "don't care", unset slots, bookday for day.
    A predicted state may have been read from a span, and so may be what the gold state's own span gives
    back, where a value is cut at the name of a slot.
    """
    return sum(_right(left, right, vintage) for left, right in zip(predicted, gold, strict=True))


def _right(predicted: State, gold: State, vintage: str) -> bool:
    given = _comparable(predicted, vintage)
    if given == _comparable(gold, vintage):
        return True
    return given == _comparable(parse(state_span(gold)), vintage)


def _comparable(state: State, vintage: str) -> dict[tuple[str, str], str]:
    return {
        (domain, slot.removeprefix("book")): "dontcare" if text in DONT_CARE else text
        for domain, slots in normalise.state(state, vintage).items()
        for slot, text in slots.items()
        if text not in _UNSET
    }


def act_hits(predicted: Sequence[str], gold: Sequence[str]) -> tuple[int, int, int]:
    """True positives, false positives, false negatives over turns: (domain, act, slot) triples of
    act spans."""
    turns = [
        overlap(parse_acts(right, ACT_DOMAINS), parse_acts(left, ACT_DOMAINS))
        for left, right in zip(predicted, gold, strict=True)
    ]
    return tuple(sum(column) for column in zip(*turns, strict=True)) or (0, 0, 0)
