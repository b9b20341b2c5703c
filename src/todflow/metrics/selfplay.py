"""Metrics of the self-play corpus: MultiWOZ's domains, states without entities to normalise by."""

import re

from todflow.metrics import bleu
from todflow.metrics.dialogues import Dialogue
from todflow.metrics.tally import Tally, overlap

DOMAINS = ("attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train")
# An act span also has acts that belong to no domain.
ACT_DOMAINS = (*DOMAINS, "general", "booking")
EPSILON = 1e-7

_PLACEHOLDER = re.compile(r"\[value_(\w+)\]")


def requests(dialogue: Dialogue) -> set[str]:
    """Names of the placeholders of a dialogue's responses, [value_name] excepted."""
    return {name for turn in dialogue for name in _PLACEHOLDER.findall(turn.response)} - {"name"}


def tally(gold: Dialogue, predicted: Dialogue) -> Tally:
    """The counts of one dialogue; the turn lists have equal lengths.

    Match: equal states of the last turn, over dialogues whose gold state is not empty then. SuccF1:
    sets of requested names per dialogue. BLEU: on the responses as they are, without markers. Acts:
    triples (domain, act, slot) per turn.
    """
    result = Tally(turns=len(gold))
    if gold[-1].state:
        result.match_counted = 1
        result.match = int(gold[-1].state == predicted[-1].state)
    result.requests = overlap(requests(gold), requests(predicted))
    pairs = list(zip(gold, predicted, strict=True))
    for left, right in pairs:
        result.bleu += bleu.counts(right.response, left.response)
    result.bleu_without_markers = result.bleu.copy()
    result.joint_goal_accuracy = sum(left.state == right.state for left, right in pairs)
    acts = [overlap(set(left.acts), set(right.acts)) for left, right in pairs]
    result.acts = tuple(sum(column) for column in zip(*acts, strict=True))
    return result
