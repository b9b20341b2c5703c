"""The standard evaluator's query: which entities of the raw database fit a state."""

from collections.abc import Iterable, Mapping

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, Levenshtein

from todflow.errors import TodflowError
from todflow.metrics.multiwoz import normalise

# Domain -> the column that identifies an entity. Several trains share an id.
IDENTITY = {"attraction": "id", "hotel": "id", "restaurant": "id", "train": "trainid"}
DONT_CARE = frozenset(
    {"dontcare", "not mentioned", "don't care", "dont care", "do n't care", "do not care"}
)
_IGNORED = {
    "attraction": ("location", "openhours"),
    "hotel": ("location", "price", "takesbookings"),
    "restaurant": ("location", "introduction", "signature"),
    "train": (),
}
_FUZZY = {
    "attraction": ("name",),
    "hotel": ("name",),
    "restaurant": ("name", "food"),
    "train": ("departure", "destination"),
}
_CLOCKS = ("arrive", "leave")
_LEAST_SIMILAR = 90
_ANYTHING = "?"


def partial_ratio(left: str, right: str) -> int:
    """How much of the shorter text is in the longer one, 0 to 100, as fuzzywuzzy (with its fast
    matcher) has it.

    The shorter text is compared with stretches of the longer one that begin where the blocks of one
    optimal alignment put its start; RapidFuzz' own partial ratio tries all stretches, and is higher
    at times.
    """
    if left == right:
        return 100
    if not left or not right:
        return 0
    shorter, longer = (left, right) if len(left) <= len(right) else (right, left)
    best = 0.0
    for block in Levenshtein.opcodes(shorter, longer).as_matching_blocks():
        start = max(block.b - block.a, 0)
        similar = Indel.normalized_similarity(shorter, longer[start : start + len(shorter)])
        best = 1.0 if similar > 0.995 else max(best, similar)
    return round(100 * best)


def _similar(left: str, right: str) -> bool:
    # RapidFuzz' own is never lower, and fast; it is out of the question below what is rounded up.
    return (
        fuzz.partial_ratio(left, right, score_cutoff=_LEAST_SIMILAR - 1) > 0
        and partial_ratio(left, right) >= _LEAST_SIMILAR
    )


class Column:
    """The values of one column of a domain, and which rows have them.

    A set of rows is a whole number, with one bit a row.
    """

    def __init__(self, values: Iterable[object], fuzzy: bool, clock: str | None):
        self.rows: dict[object, int] = {}
        for row, value in enumerate(values):
            self.rows[value] = self.rows.get(value, 0) | 1 << row
        self.anywhere = self.rows.pop(_ANYTHING, 0)
        # Entities that lack the column match nothing in it.
        self.rows.pop(None, None)
        self.fuzzy, self.clock = fuzzy, clock
        self.minutes = {value: normalise.minutes(value) for value in self.rows} if clock else {}
        self.found: dict[str, int] = {}

    def matching(self, wanted: str) -> int:
        """The rows whose value fits a wanted one in normal form."""
        if wanted not in self.found:
            if self.clock:
                limit = normalise.minutes(wanted)
                fit = [
                    value
                    for value, minutes in self.minutes.items()
                    if (minutes <= limit if self.clock == "arrive" else minutes >= limit)
                ]
            elif self.fuzzy:
                fit = [value for value in self.rows if _similar(value, wanted)]
            else:
                fit = [wanted] if wanted in self.rows else []
            result = self.anywhere
            for value in fit:
                result |= self.rows[value]
            self.found[wanted] = result
        return self.found[wanted]


class Database:
    """Entities of attraction, hotel, restaurant and train, with an index of every column.

    What has been asked once is not looked up again. Source: Tomiinek/MultiWOZ_Evaluation,
    mwzeval/database.py.
    """

    def __init__(self, raw: Mapping[str, list[dict]], vintage: str):
        """raw: domain -> entities as released. Raises a `TodflowError` that names domain and entity
        where an id is missing."""
        self.vintage = vintage
        self.ids: dict[str, list[str]] = {}
        self.columns: dict[str, dict[str, Column]] = {}
        self.known: dict[tuple[str, frozenset], frozenset[str]] = {}
        for domain, identity in IDENTITY.items():
            entities = [_named(entity, domain) for entity in raw.get(domain, ())]
            if not entities:
                raise TodflowError(f"database: no entities of {domain}; prepare MultiWOZ again")
            self.ids[domain] = [entity.get(identity) for entity in entities]
            if not all(isinstance(name, str) for name in self.ids[domain]):
                raise TodflowError(
                    f"database: an entity of {domain} has no '{identity}'; prepare MultiWOZ again"
                )
            # The first entity says which columns there are.
            self.columns[domain] = {
                name: Column(
                    (entity.get(name) for entity in entities),
                    name in _FUZZY[domain],
                    name if name in _CLOCKS else None,
                )
                for name in entities[0]
            }

    def query(self, domain: str, constraints: Mapping[str, str]) -> frozenset[str]:
        """Ids of the entities that fit {slot: value}, with normal slot names.

        Only slots that are columns count, and none whose value is a spelling of "don't care".
        Values are normalised here. "?" in the database fits everything; arrive and leave are
        limits; names, foods and places fit when `partial_ratio` is at least 90; everything else
        must be equal. Without constraints every entity fits; other domains have none.
        """
        if domain not in IDENTITY:
            return frozenset()
        columns = self.columns[domain]
        key = domain, frozenset(
            (slot, value)
            for slot, value in constraints.items()
            if slot in columns and value not in DONT_CARE
        )
        if key not in self.known:
            ids = self.ids[domain]
            rows = (1 << len(ids)) - 1
            for slot, value in key[1]:
                rows &= columns[slot].matching(normalise.value(slot, value, self.vintage))
            self.known[key] = frozenset(
                name for name, bit in zip(ids, reversed(f"{rows:b}")) if bit == "1"
            )
        return self.known[key]


def _named(entity: Mapping[str, object], domain: str) -> dict[str, object]:
    """An entity with normal column names, without what no query uses or is no text.

    Types are normalised: the released database has "mutliple sports", the evaluator's copy of it
    not.
    """
    result = {
        name if name == "id" else normalise.slot_name(name): value
        for name, value in entity.items()
        if name not in _IGNORED[domain] and isinstance(value, str)
    }
    if "type" in result:
        result["type"] = normalise.value("type", result["type"], "v1")
    return result
