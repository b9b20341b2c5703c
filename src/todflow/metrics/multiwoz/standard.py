"""The standard evaluator of MultiWOZ: Inform, Success and BLEU as mwzeval defines them.

Source: Tomiinek/MultiWOZ_Evaluation, mwzeval/metrics.py (Nekvinda & Dusek, GEM 2021). The two
vintages differ in spellings of names: `todflow.metrics.multiwoz.normalise`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from todflow.metrics import bleu
from todflow.metrics.multiwoz import corpus_bleu, normalise, tracking
from todflow.metrics.multiwoz.active import estimate
from todflow.metrics.multiwoz.database import Database
from todflow.metrics.multiwoz.goals import DomainGoal, standard_goal
from todflow.metrics.multiwoz.gold import Gold, GoldDialogue
from todflow.metrics.multiwoz.outcome import Outcome
from todflow.metrics.spans import State
from todflow.predictions_multiwoz import SystemTurn

# mwzeval rounds rates to so many decimals.
DECIMALS = 1
_VENUES = frozenset({"attraction", "hotel", "restaurant"})
_EXEMPT = frozenset({"hospital", "police", "taxi"})
_ALWAYS_KNOWN = ("PHONE", "ADDRESS", "POST", "TRAINID")
_BOOKED = "REFERENCE"


class Standard:
    """Judges dialogues against one gold split, in one vintage."""

    def __init__(self, gold: Gold, vintage: str):
        self.gold, self.vintage = gold, vintage
        self.database = Database(gold.database, vintage)
        self.goals = {name: standard_goal(each.goal) for name, each in gold.dialogues.items()}
        self.references = {
            name: [corpus_bleu.tokens(normalise.response(text)[0]) for text in each.references]
            for name, each in gold.dialogues.items()
        }

    def outcomes(
        self, answers: Mapping[str, Sequence[SystemTurn]], state: str
    ) -> dict[str, Outcome]:
        """One outcome per answered dialogue, in the order of the gold split.

        `state`: "predicted" or "gold", whose states the database is asked with; predicted ones must
        be there in every turn. A dialogue may have fewer turns than the split: the turns there are
        count as its first ones. Active domains are estimated unless every turn gives them.
        """
        turns = [turn for dialogue in answers.values() for turn in dialogue]
        tracked = all(turn.state is not None for turn in turns)
        given = all(turn.active_domains is not None for turn in turns)
        acted = all(turn.act_span is not None for turn in turns)
        result = {}
        for name, gold in self.gold.dialogues.items():
            if name not in answers:
                continue
            dialogue = answers[name]
            chosen = gold.annotated if state == "gold" else [turn.state for turn in dialogue]
            states = [normalise.state(each, self.vintage) for each in chosen[: len(dialogue)]]
            active = [turn.active_domains for turn in dialogue] if given else estimate(states)
            responses = [normalise.response(turn.response)[0] for turn in dialogue]
            domains = self.judge(name, responses, states, active)
            inform = all(informed for informed, _ in domains.values())
            result[name] = Outcome(
                inform=inform,
                success=inform and all(supplied for _, supplied in domains.values()),
                domains={
                    domain: (informed, inform and supplied)
                    for domain, (informed, supplied) in domains.items()
                },
                bleu=self.bleu_counts(name, responses),
                turns=len(dialogue),
                joint=self._joint(dialogue, gold) if tracked else None,
                acts=self._acts(dialogue, gold) if acted else None,
            )
        return result

    def judge(
        self,
        name: str,
        responses: Sequence[str],
        states: Sequence[State],
        active: Sequence[Sequence[str]],
    ) -> dict[str, tuple[bool, bool]]:
        """Goal domain -> (a right entity was offered, everything requested was supplied), of one
        dialogue's normalised responses and states."""
        goal = self.goals[name]
        offered: dict[str, frozenset[str]] = {domain: frozenset() for domain in goal}
        supplied: dict[str, set[str]] = {domain: set() for domain in goal}
        turns = zip(responses, states, active, self.gold.dialogues[name].booked, strict=False)
        for response, state, domains, booked in turns:
            for domain in goal:
                if domain not in domains:
                    continue
                if ("NAME" in response and domain in _VENUES) or (
                    "TRAINID" in response and domain == "train"
                ):
                    found = (
                        self.database.query(domain, state[domain])
                        if domain in state
                        else frozenset()
                    )
                    # A wider offer than the one before says nothing new.
                    if not offered[domain] or not offered[domain] <= found:
                        offered[domain] = found
                supplied[domain].update(word for word in _ALWAYS_KNOWN if word in response)
                if _BOOKED in response and domain in booked:
                    supplied[domain].add(_BOOKED)
        return {
            domain: (
                self._matches(domain, wanted, offered[domain]),
                wanted.requestable <= supplied[domain],
            )
            for domain, wanted in goal.items()
        }

    def _matches(self, domain: str, wanted: DomainGoal, offered: frozenset[str]) -> bool:
        if "name" in wanted.informable or domain in _EXEMPT:
            return True
        if domain == "train" and not offered and "TRAINID" not in wanted.requestable:
            return True
        return bool(offered) and offered <= self.database.query(domain, wanted.informable)

    def bleu_counts(self, name: str, responses: Sequence[str]) -> np.ndarray:
        """The counts of a dialogue's normalised responses, (bleu.WIDTH,)."""
        result = np.zeros(bleu.WIDTH)
        for response, reference in zip(responses, self.references[name], strict=False):
            result += bleu.counts(corpus_bleu.tokens(response), reference)
        return result

    def _joint(self, dialogue: Sequence[SystemTurn], gold: GoldDialogue) -> int:
        predicted = [turn.state for turn in dialogue]
        return tracking.right_states(predicted, gold.states[: len(dialogue)], self.vintage)

    def _acts(self, dialogue: Sequence[SystemTurn], gold: GoldDialogue) -> tuple[int, int, int]:
        spans = [turn.act_span for turn in dialogue]
        return tracking.act_hits(spans, gold.act_spans[: len(dialogue)])
