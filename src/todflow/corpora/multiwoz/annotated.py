"""The belief state of a turn as its annotators left it.

The state of `todflow.corpora.multiwoz.state` is DAMD's: cleaned, and a slot once filled stays so.
The standard evaluator asks its database with states as annotated, where a system predicts none.
"""

import re
from collections.abc import Mapping

from todflow.metrics.spans import State

_UNSET = frozenset({"", "none", "not mentioned"})
# 2.1 gives several values for some slots, the preferred one first.
_ALTERNATIVES = re.compile(r"[|<>]")


def annotated_state(metadata: Mapping[str, Mapping]) -> State:
    """Domain -> slot -> value of a system turn's metadata, with what is booked for whom and when
    (bookday, bookpeople, ...), without unset slots."""
    result: State = {}
    for domain, parts in metadata.items():
        slots = dict(parts["semi"])
        slots |= {f"book{slot}": value for slot, value in parts["book"].items() if slot != "booked"}
        filled = {slot: _ALTERNATIVES.split(value)[0] for slot, value in slots.items()}
        filled = {slot: value for slot, value in filled.items() if value.strip() not in _UNSET}
        if filled:
            result[domain] = filled
    return result
