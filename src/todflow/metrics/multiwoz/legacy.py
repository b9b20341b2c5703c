"""The evaluator that MultiWOZ papers used before there was a standard one, with its switches.

The line is DAMD's, then UBAR's and PPTOD's: placeholders without a domain, credited to the gold
domains of the turn; DAMD's database and query; BLEU of the NNDIAL scorer against DAMD's
delexicalised responses. Papers differ in the state that is looked up and in when a booking
reference counts, so a figure means nothing without both settings.
Source: TonyNemo/UBAR-MultiWOZ, eval.py.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from todflow.corpora.multiwoz.damd_database import DATABASE_DOMAINS, DamdDatabase
from todflow.metrics import bleu
from todflow.metrics.multiwoz import tracking
from todflow.metrics.multiwoz.damd_form import damd_response, damd_state
from todflow.metrics.multiwoz.gold import Gold
from todflow.metrics.multiwoz.legacy_goals import REQUESTS, LegacyGoal, legacy_goals
from todflow.metrics.multiwoz.outcome import Outcome
from todflow.metrics.spans import State
from todflow.predictions_multiwoz import SystemTurn

_OFFERS = ("[value_name]", "[value_id]")
# Nothing that one could offer wrongly, so these are always found.
_NO_DATABASE = ("taxi", "police", "hospital")
# Joint goal accuracy is not part of this evaluator; it is reported as the standard one's v1 has it.
_VINTAGE = "v1"


class Legacy:
    """Judges dialogues against one gold split, made from the release whose figures are wanted."""

    def __init__(self, gold: Gold):
        self.gold = gold
        self.database = DamdDatabase(gold.database)
        self.goals = {name: legacy_goals(each.goal) for name, each in gold.dialogues.items()}

    def outcomes(
        self, answers: Mapping[str, Sequence[SystemTurn]], state: str, booking_gate: bool
    ) -> dict[str, Outcome]:
        """One outcome per answered dialogue, in the order of the gold split.

        `state`: "predicted" or "gold", whose states the database is asked with; predicted ones must
        be there in every turn. `booking_gate` as in `verdicts`. A dialogue may have fewer turns
        than the split: the turns there are count as its first ones.
        """
        turns = [turn for dialogue in answers.values() for turn in dialogue]
        tracked = all(turn.state is not None for turn in turns)
        acted = all(turn.act_span is not None for turn in turns)
        result = {}
        for name, gold in self.gold.dialogues.items():
            if name not in answers:
                continue
            dialogue, n = answers[name], len(answers[name])
            predicted = [turn.state for turn in dialogue]
            responses = [damd_response(turn.response) for turn in dialogue]
            domains = verdicts(
                self.goals[name],
                responses,
                gold.states[:n] if state == "gold" else [damd_state(each) for each in predicted],
                gold.domains[:n],
                gold.pointers[:n],
                self.database,
                booking_gate,
            )
            spans = [turn.act_span for turn in dialogue]
            result[name] = Outcome(
                inform=all(inform for inform, _ in domains.values()),
                success=all(success for _, success in domains.values()),
                domains=domains,
                bleu=sum(map(bleu.counts, responses, gold.responses), np.zeros(bleu.WIDTH)),
                turns=n,
                joint=tracking.right_states(predicted, gold.states[:n], _VINTAGE)
                if tracked
                else None,
                acts=tracking.act_hits(spans, gold.act_spans[:n]) if acted else None,
            )
        return result


def verdicts(
    goals: Mapping[str, LegacyGoal],
    responses: Sequence[str],
    states: Sequence[State],
    domains: Sequence[Sequence[str]],
    pointers: Sequence[str],
    database: DamdDatabase,
    booking_gate: bool,
) -> dict[str, tuple[bool, bool]]:
    """Goal domain -> (Inform, Success) of one dialogue.

    The sequences have one entry a system turn: the response and the state to look up, both in
    DAMD's form; the turn's gold domains; DAMD's pointer. Success counts only where every domain is
    informed. With `booking_gate` a reference counts only on a turn whose pointer has one of its two
    booking bits set. That it may be the bit of a failed booking is how the published scripts work:
    they look for "ok" in the pointer's text, and find it in "booking: unable".
    """
    offered: dict[str, frozenset[str]] = {domain: frozenset() for domain in goals}
    provided: dict[str, set[str]] = {domain: set() for domain in goals}
    for response, state, about, pointer in zip(responses, states, domains, pointers, strict=True):
        given = {slot for slot in REQUESTS if f"[value_{slot}]" in response}
        if booking_gate and not _booking(pointer):
            given.discard("reference")
        offering = any(token in response for token in _OFFERS)
        for domain in goals.keys() & set(about):
            provided[domain] |= given
            if offering and domain in DATABASE_DOMAINS:
                venues = database.keys(domain, state.get(domain, {}))
                # An offer stands until another has something new; finding nothing is no offer.
                if not venues <= offered[domain]:
                    offered[domain] = venues
    informed = {
        domain: _informed(domain, goal, offered[domain], database) for domain, goal in goals.items()
    }
    whole = all(informed.values())
    return {
        domain: (informed[domain], whole and goal.requested <= provided[domain])
        for domain, goal in goals.items()
    }


def _booking(pointer: str) -> bool:
    return "1" in pointer.split(",")[-2:]


def _informed(
    domain: str, goal: LegacyGoal, offered: frozenset[str], database: DamdDatabase
) -> bool:
    """Whether something on offer fits the goal, or the goal needs no offer."""
    if "name" in goal.informable or domain in _NO_DATABASE:
        return True
    if domain == "train" and not offered and "id" not in goal.requested:
        return True
    return bool(offered & database.keys(domain, goal.informable))
