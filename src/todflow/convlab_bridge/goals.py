"""convlab's goal model, completed so that its goal generator accepts it.

The package ships the marginals (`human_eval/goal/goal_model.pkl`, four items: probabilities of
slots, of their values, of domain orderings, of bookings). The generator wants six: a fifth that it
never reads, and the joint frequencies of the slots that a user tells. Those joint frequencies came
from the MultiWOZ training set and are not shipped, so `combinations` puts together a table of its
own.
"""

import io
import itertools
import math
import pickle
from pathlib import Path


def combinations(marginals: dict[str, float]) -> dict:
    """{tuple of slots: probability}: subsets of neighbouring sizes, equally likely within a size.

    The two sizes around the marginals' sum are mixed so that the expected number of slots is that
    sum.
    """
    slots = tuple(marginals)
    expected = min(sum(marginals.values()), len(slots))
    smaller = min(math.floor(expected), len(slots) - 1)
    table = {}
    for size, share in ((smaller, smaller + 1 - expected), (smaller + 1, expected - smaller)):
        subsets = list(itertools.combinations(slots, size))
        for subset in subsets:
            table[subset] = share / len(subsets)
    return table


def _venue(info: dict[str, float]) -> dict:
    """A place: its name alone, as often as the marginal says, else a combination of other slots."""
    name = info["name"]
    others = {slot: p / (1 - name) for slot, p in info.items() if slot != "name"}
    table = {("name",): name}
    for subset, p in combinations(others).items():
        table[subset] = p * (1 - name)
    return table


def slot_combinations(marginals: dict) -> dict:
    """The generator's sixth item from its first: {domain: {"info": {slots: probability}}}."""
    info = {domain: groups["info"] for domain, groups in marginals.items() if "info" in groups}
    table = {domain: _venue(info[domain]) for domain in ("hotel", "restaurant", "attraction")}
    # A journey has one time; a train always its places and day, a taxi its places or (filled in
    # later) none.
    table["train"] = {
        ("departure", "destination", "day", time): info["train"][time]
        for time in ("leaveAt", "arriveBy")
    }
    places = info["taxi"]["departure"]
    table["taxi"] = {}
    for time in ("leaveAt", "arriveBy"):
        table["taxi"][(time,)] = info["taxi"][time] * (1 - places)
        table["taxi"][("departure", "destination", time)] = info["taxi"][time] * places
    department = info["hospital"]["department"]
    table["hospital"] = {("department",): department, (): 1 - department}
    return {domain: {"info": counts} for domain, counts in table.items()}


def complete_goal_model(shipped: Path) -> bytes:
    """The six-item goal model as a pickle; same input, same bytes."""
    marginals, values, orderings, bookings = pickle.loads(shipped.read_bytes())
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=4)
    # Without the memo the bytes depend on values only, not on which equal strings share an object.
    pickler.fast = True
    pickler.dump((marginals, values, orderings, bookings, {}, slot_combinations(marginals)))
    return buffer.getvalue()
