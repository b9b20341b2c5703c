"""DAMD's database: processed values, a query, and the pointer that tells a system what it finds.

The query keeps the oddities that published figures rest on; for anything new the standard
evaluator's is the better one. Source: thu-spmi/damd-multiwoz, db_ops.py and preprocess.py.
"""

from collections.abc import Iterable, Mapping, Sequence

from todflow.corpora.multiwoz.values import clean_value, slot_name

DATABASE_DOMAINS = ("restaurant", "hotel", "attraction", "train")

# Values that ask for nothing in particular; the first two do not even count as a constraint.
_UNSET = ("", "not mentioned")
_ANYTHING = frozenset((*_UNSET, "don't care", "do n't care", "dont care", "dontcare"))
# Slots of a booking, which no entity has.
_BOOKING = {
    "restaurant": {"people", "stay", "day", "time"},
    "hotel": {"people", "stay", "day"},
    "attraction": {"people", "stay"},
    "train": {"people", "stay"},
}
# Upper bounds of the pointer's first three bins; the fourth is open.
_BINS = {"train": (0, 5, 10)}
_USUAL_BINS = (0, 1, 3)


class DamdDatabase:
    """The entities of restaurant, hotel, attraction and train, with DAMD's values and DAMD's query.

    `raw` is the released database: domain -> entities (`release.read_database`). Slots take DAMD's
    names (arriveBy -> arrive, trainID -> id, entrance fee -> price), values go through the cleaning
    and tokenisation of the belief states, since the query compares strings.
    """

    def __init__(self, raw: Mapping[str, Sequence[Mapping]]):
        self._entities = {
            domain: [_processed(domain, entity) for entity in raw[domain]]
            for domain in DATABASE_DOMAINS
        }
        self._index = {domain: _index(rows) for domain, rows in self._entities.items()}
        self._found: dict[tuple, tuple[int, ...]] = {}
        self._within: dict[tuple, frozenset[int]] = {}

    def query(self, domain: str, constraints: Mapping[str, str]) -> list[dict[str, str]]:
        """The entities of `domain` that fit, in the database's order; text columns only.

        * No constraint, or only empty ones: none. "Don't care" alone: every entity.
        * A `name` that the database has: its first bearer alone, whatever else is asked. An unknown
          name is ignored.
        * Slots of a booking are ignored. Any other slot that is not a column: none.
        * Times are compared the wrong way round: trains that arrive at or after the wanted time, or
          leave at or before it. A time that is not HH:MM: none.
        """
        return [self._entities[domain][row] for row in self._rows(domain, constraints)]

    def keys(self, domain: str, constraints: Mapping[str, str]) -> frozenset[str]:
        """What names the entities that `query` finds: train ids, or else names."""
        key = "id" if domain == "train" else "name"
        return frozenset(entity[key] for entity in self.query(domain, constraints))

    def matches(self, domains: Sequence[str], state: Mapping[str, Mapping[str, str]]) -> int | None:
        """How many entities fit the state of the turn's domain; None without database or state.

        `domains` are the turn's domains, in order; of several the second is meant.
        """
        domain = domains[min(len(domains), 2) - 1] if domains else None
        if domain not in DATABASE_DOMAINS or not state.get(domain):
            return None
        return len(self._rows(domain, state[domain]))

    def pointer(
        self,
        domains: Sequence[str],
        state: Mapping[str, Mapping[str, str]],
        acts: Mapping[str, Sequence],
    ) -> str:
        """DAMD's pointer of a system turn, "0,0,0,1,0,1": four bins of `matches`, two booking bits.

        The bins are 0 | 1 | 2-3 | more, for trains 0 | 1-5 | 6-10 | more; all zero where `matches`
        is None. The bits come from the turn's gold acts, as released: a booking that failed
        (Booking-NoBook), one that was made (Booking-Book, Train-OfferBooked); the latter wins.
        """
        bins = [0, 0, 0, 0]
        count = self.matches(domains, state)
        if count is not None:
            bounds = _BINS.get(domains[min(len(domains), 2) - 1], _USUAL_BINS)
            bins[sum(count > bound for bound in bounds)] = 1
        given = {act.lower() for act, slots in acts.items() if slots}
        booking = [0, 0]
        if given & {"booking-book", "train-offerbooked"}:
            booking = [0, 1]
        elif "booking-nobook" in given:
            booking = [1, 0]
        return ",".join(map(str, bins + booking))

    def _rows(self, domain: str, constraints: Mapping[str, str]) -> tuple[int, ...]:
        asked = (domain, frozenset(constraints.items()))
        if asked not in self._found:
            self._found[asked] = self._search(domain, constraints)
        return self._found[asked]

    def _search(self, domain: str, constraints: Mapping[str, str]) -> tuple[int, ...]:
        if all(value in _UNSET for value in constraints.values()):
            return ()
        index = self._index[domain]
        bearers = index.get("name", {}).get(constraints.get("name"))
        if bearers:
            return (min(bearers),)
        rows = frozenset(range(len(self._entities[domain])))
        for slot, value in constraints.items():
            if slot == "name" or slot in _BOOKING[domain] or value in _ANYTHING:
                continue
            if slot in ("arrive", "leave"):
                rows &= self._in_time(domain, slot, value)
            else:
                wanted = "yes" if value == "free" else value
                rows &= index.get(slot, {}).get(wanted, frozenset())
        return tuple(sorted(rows))

    def _in_time(self, domain: str, slot: str, value: str) -> frozenset[int]:
        asked = (domain, slot, value)
        if asked not in self._within:
            wanted = _minutes(value)
            self._within[asked] = frozenset(
                row
                for time, rows in self._index[domain].get(slot, {}).items()
                for row in (rows if _fits(slot, _minutes(time), wanted) else ())
            )
        return self._within[asked]


def _processed(domain: str, entity: Mapping) -> dict[str, str]:
    """The text columns of an entity; what is no text (positions, hotel prices) fits nothing."""
    columns = {
        slot_name(column): value for column, value in entity.items() if isinstance(value, str)
    }
    return {slot: clean_value(domain, slot, value) for slot, value in columns.items()}


def _index(entities: Iterable[Mapping[str, str]]) -> dict[str, dict[str, frozenset[int]]]:
    """Slot -> value -> rows."""
    result: dict[str, dict[str, set[int]]] = {}
    for row, entity in enumerate(entities):
        for slot, value in entity.items():
            result.setdefault(slot, {}).setdefault(value, set()).add(row)
    return {
        slot: {value: frozenset(rows) for value, rows in values.items()}
        for slot, values in result.items()
    }


def _minutes(time: str) -> int | None:
    """Minutes since midnight; None of what is no H:M."""
    try:
        hours, minutes = time.split(":")
        return 60 * int(hours) + int(minutes)
    except ValueError:
        return None


def _fits(slot: str, time: int | None, wanted: int | None) -> bool:
    if time is None or wanted is None:
        return False
    return time >= wanted if slot == "arrive" else time <= wanted
