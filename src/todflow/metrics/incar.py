"""In-Car metrics of LABES and GALAXY: Match, SuccF1, BLEU.

Both work on slot-value states and [value_x] placeholders, with the entity map of
`todflow.corpora.incar.entities`. They differ in Match alone (`match`), and in BLEU's epsilon.
Sequicity's variant works on other material: `todflow.metrics.sequicity`.
"""

from collections.abc import Callable, Collection, Mapping

from todflow.corpora.incar import INFORMABLE
from todflow.corpora.incar.delexicalise import placeholder, replace_words
from todflow.metrics import bleu
from todflow.metrics.dialogues import Dialogue
from todflow.metrics.spans import State
from todflow.metrics.tally import Tally, overlap

START, END = "<sos_r>", "<eos_r>"

# Words that say nothing about an entity, deleted from values in this order.
JUNK = (
    "good",
    "great",
    "quickest",
    "shortest",
    "route",
    "week",
    "fastest",
    "nearest",
    "next",
    "closest",
    "way",
    "mile",
    "activity",
    "restaurant",
    "appointment",
)
# A value with one of these in it may be missing on the other side.
_FORGIVEN = ("temperature", "week", "est ", "quick", "reminder", "near")

EPSILON = {"galaxy": 1e-7, "labes": 1e-10}

Constraints = dict[tuple[str, str], str]


def clean_response(response: str, entities: Mapping[str, str]) -> str:
    """The response between markers, with the entities that it still names replaced by
    placeholders."""
    text = f"{START} {response.replace(f'{START} ', '').replace(f' {END}', '')} {END}"
    for value, slot in entities.items():
        text = replace_words(text, value, placeholder(slot))
    return text


def without_markers(response: str) -> str:
    """A cleaned response without its first and its last token."""
    return " ".join(response.split()[1:-1])


def requests(responses: list[str]) -> set[str]:
    """Names requested in a dialogue's cleaned responses: of every placeholder other than
    [value_name] the part between the first and the second underscore ("poi" for [value_poi] and for
    [value_poi_type])."""
    return {
        word[1:-1].split("_")[1]
        for response in responses
        for word in response.split()
        if "[value_" in word and word.endswith("]") and word != "[value_name]"
    }


def normalise(state: State, entities: Mapping[str, str]) -> Constraints:
    """The informable (domain, slot) pairs whose value, without junk, is an entity."""
    result = {}
    for domain, slots in state.items():
        for slot, value in slots.items():
            for junk in JUNK:
                value = " ".join(value.replace(junk, "").split())
            if slot in INFORMABLE.get(domain, ()) and value in entities:
                result[domain, slot] = value
    return result


def similar(left: str, right: str) -> bool:
    """Equal, one within the other, or the same first or last word. Neither may be empty."""
    return (
        left in right
        or right in left
        or left.split()[0] == right.split()[0]
        or left.split()[-1] == right.split()[-1]
    )


def alike(left: Collection[str], right: Collection[str]) -> bool:
    """Mutual soft inclusion: every value is similar to one of the other side, or forgiven."""
    if not left or not right:
        return not left and not right
    return _within(left, right) and _within(right, left)


def _within(inner: Collection[str], outer: Collection[str]) -> bool:
    return all(
        any(similar(value, other) for other in outer) or any(part in value for part in _FORGIVEN)
        for value in inner
    )


def _galaxy(gold: Constraints, predicted: Constraints) -> bool:
    return alike(list(gold.values()), list(predicted.values()))


def _labes(gold: Constraints, predicted: Constraints) -> bool:
    return gold == predicted


SAME: dict[str, Callable[[Constraints, Constraints], bool]] = {"galaxy": _galaxy, "labes": _labes}


def last_offer(dialogue: Dialogue) -> State | None:
    """The state of the last turn whose response has a placeholder; None without such a turn."""
    offers = [turn.state for turn in dialogue if "[value" in turn.response]
    return offers[-1] if offers else None


def tally(
    gold: Dialogue, predicted: Dialogue, entities: Mapping[str, str], variant: str = "galaxy"
) -> Tally:
    """The counts of one dialogue. `variant` is "galaxy" or "labes"; the turn lists have equal
    lengths.

    A dialogue is in Match's denominator if the gold state of its last turn with a placeholder has a
    normalised value. A prediction without a placeholder is judged by its last state.
    """
    result = Tally(turns=len(gold))
    offered = normalise(last_offer(gold) or {}, entities)
    if offered:
        found = last_offer(predicted)
        state = predicted[-1].state if found is None else found
        result.match_counted = 1
        result.match = int(SAME[variant](offered, normalise(state, entities)))
    wanted = [clean_response(turn.response, entities) for turn in gold]
    given = [clean_response(turn.response, entities) for turn in predicted]
    result.requests = overlap(requests(wanted), requests(given))
    for hypothesis, reference in zip(given, wanted, strict=True):
        result.bleu += bleu.counts(hypothesis, reference)
        result.bleu_without_markers += bleu.counts(
            without_markers(hypothesis), without_markers(reference)
        )
    result.joint_goal_accuracy = sum(
        left.state == right.state for left, right in zip(gold, predicted, strict=True)
    )
    return result
