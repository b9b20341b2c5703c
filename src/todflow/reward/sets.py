"""What a turn is rewarded for: the pairs of its belief state and the slots that it must supply.

The sets SV_gt and S_gt of the step-reward paper (eq. 2-4), read from a turn's gold texts; what
the paper leaves open is decided in docs/rewards.md.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from todflow.corpora import incar, multiwoz
from todflow.corpora.multiwoz.state import parse
from todflow.corpora.multiwoz.values import clean_value
from todflow.errors import TodflowError
from todflow.metrics.selfplay import ACT_DOMAINS
from todflow.metrics.spans import State, parse_acts, parse_state
from todflow.seq2seq.sequences import Segments
from todflow.seq2seq.settings import require

Pair = tuple[str, str, str]
Request = tuple[str, str]

OPTIONS = ("alpha", "beta", "informables", "requestables", "fp_penalty")
PLACEHOLDER = re.compile(r"\[value_([a-z0-9_]+)\]")

# Those that MultiWOZ's Success counts.
_EVALUATED = frozenset(("phone", "address", "postcode", "reference", "id"))
# LABES' list, and what drivers ask about the weather most: its placeholder is written by a pattern.
_INCAR = incar.REQUESTABLE | {"weather": (*incar.REQUESTABLE["weather"], "temperature")}
# Annotators' ways to say that any value will do.
_ANY = frozenset(("dontcare", "dont care", "don't care", "do n't care", "do not care"))


class Wanted(NamedTuple):
    """What a turn is rewarded for.

    `pairs` are (domain, slot, value) with the value in canonical form, `requests` are ("a" for
    the act or "r" for the response, slot). Only slots in `requestable` count as supplied at all,
    whatever the turn asks for (None: all do).
    """

    pairs: frozenset[Pair]
    requests: frozenset[Request]
    requestable: frozenset[str] | None


@dataclass(frozen=True)
class Schema:
    """What the texts of a corpus mean. `schema` gives the one of a dataset.

    `slots` has the words that open a slot in a state span, by domain, and `requestable` the slots
    that a user may ask for; `parse` reads a state span, `canonical(domain, slot, value)` gives
    the one form of a value. `peoples`: "people" before "'s" is part of a value, though a slot's
    name.
    """

    slots: Mapping[str, Collection[str]]
    requestable: Mapping[str, Collection[str]]
    parse: Callable[[str], State]
    canonical: Callable[[str, str, str], str]
    acts: bool
    evaluated: frozenset[str]
    peoples: bool

    def pairs(self, state: State) -> frozenset[Pair]:
        """The (domain, slot, canonical value) of a state."""
        return frozenset(
            (domain, slot, self.canonical(domain, slot, value))
            for domain, slots in state.items()
            for slot, value in slots.items()
        )

    def named(self, act: str, response: str) -> frozenset[Request]:
        """The slots that an act span names and a response has placeholders of, tagged."""
        triples = parse_acts(act, ACT_DOMAINS) if self.acts else ()
        return frozenset(
            [("a", request(slot)) for _, _, slot in triples if slot]
            + [("r", request(slot)) for slot in PLACEHOLDER.findall(response)]
        )


def request(slot: str) -> str:
    """The one name of a requestable slot: the release calls a price range "price", too."""
    return "price" if slot == "pricerange" else slot


def check(options: Mapping) -> None:
    """TodflowError unless these are settings of a reward.

    {"alpha": 1.0, "beta": 1.0, "informables": "cumulative" | "new", "requestables": "ontology" |
    "eval5" | "all_placeholders", "fp_penalty": false}; `docs/rewards.md` explains them.
    """
    require(dict(options), OPTIONS)
    for name in ("alpha", "beta"):
        value = options[name]
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 <= value < math.inf
        ):
            raise TodflowError(f"config: reward.{name} is {value!r}; give a number from 0 on")
    for name, known in (
        ("informables", ("cumulative", "new")),
        ("requestables", ("ontology", "eval5", "all_placeholders")),
        ("fp_penalty", (True, False)),
    ):
        if options[name] not in known:
            listed = ", ".join(map(str, known))
            raise TodflowError(f"config: reward.{name} is {options[name]!r}; use one of {listed}")
    if options["fp_penalty"] and options["informables"] == "new":
        raise TodflowError(
            "config: reward.fp_penalty would punish the gold state for its older pairs; "
            "set reward.informables to cumulative"
        )


def schema(dataset: str) -> Schema:
    """The schema of incar, selfplay, multiwoz20 or multiwoz21; TodflowError for any other."""
    if dataset not in _SCHEMAS:
        raise TodflowError(
            f"config: no rewards are defined for dataset {dataset}; use {', '.join(_SCHEMAS)}"
        )
    return _SCHEMAS[dataset]


def wanted(
    dataset: str,
    gold: Segments,
    before: Segments | None,
    domains: list[str],
    options: Mapping,
) -> Wanted:
    """The sets of a turn, from its gold segments; `options` as `check` wants them.

    `before` has the gold segments of the previous turn (None in a first turn); pairs that it
    already has don't count with informables "new". `domains` are the turn's, whose ontology lists
    decide which slots are requestable.
    """
    known = schema(dataset)
    pairs = known.pairs(known.parse(gold.state))
    if options["informables"] == "new" and before is not None:
        pairs -= known.pairs(known.parse(before.state))
    requestable = _requestable(dataset, domains, options["requestables"])
    requests = known.named(gold.act, gold.response)
    if requestable is not None:
        requests = frozenset(element for element in requests if element[1] in requestable)
    return Wanted(pairs, requests, requestable)


def _requestable(dataset: str, domains: list[str], kind: str) -> frozenset[str] | None:
    known = schema(dataset)
    if kind == "all_placeholders":
        return None
    if kind == "ontology":
        slots = (slot for domain in domains for slot in known.requestable.get(domain, ()))
        return frozenset(map(request, slots))
    if not known.evaluated:
        raise TodflowError(
            f"config: reward.requestables eval5 means slots of MultiWOZ, which {dataset} lacks; "
            "use ontology or all_placeholders"
        )
    return known.evaluated


def _as_written(domain: str, slot: str, value: str) -> str:
    return value


def _multiwoz_value(domain: str, slot: str, value: str) -> str:
    """A value cleaned as the corpus' own are, so that "guesthouse" is "guest house"; one word for
    "any". What cleaning knows to mean nothing stays as it is, since it is no gold value."""
    return "dontcare" if value in _ANY else clean_value(domain, slot, value) or value


_MULTIWOZ = Schema(
    slots=dict.fromkeys(multiwoz.DOMAINS, multiwoz.SLOTS),
    requestable=multiwoz.REQUESTABLE,
    parse=parse,
    canonical=_multiwoz_value,
    acts=True,
    evaluated=_EVALUATED,
    peoples=True,
)
_SCHEMAS = {
    "incar": Schema(
        slots=incar.INFORMABLE,
        requestable=_INCAR,
        parse=partial(parse_state, slots=incar.INFORMABLE),
        canonical=_as_written,
        acts=False,
        evaluated=frozenset(),
        peoples=False,
    ),
    # MultiWOZ's domains and names; its evaluator compares values as they are.
    "selfplay": Schema(
        slots=multiwoz.STATE_SLOTS,
        requestable=multiwoz.REQUESTABLE,
        parse=partial(parse_state, slots=multiwoz.STATE_SLOTS),
        canonical=_as_written,
        acts=True,
        evaluated=_EVALUATED,
        peoples=False,
    ),
    "multiwoz20": _MULTIWOZ,
    "multiwoz21": _MULTIWOZ,
}
