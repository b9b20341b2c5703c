"""In-Car metrics of Sequicity: bags of state words, X_SLOT placeholders, a generous Match."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from todflow.corpora.incar import INFORMABLE
from todflow.corpora.incar.delexicalise import replace_words
from todflow.metrics import bleu
from todflow.metrics.dialogues import Turn
from todflow.metrics.incar import JUNK, alike, similar, without_markers
from todflow.metrics.tally import Tally, overlap

START, END = "<GO>", "</s>"
EPSILON = 1e-7

# Slots whose entities are replaced in responses, per intent.
_REPLACED = {
    "weather": ("weather_attribute", "location", "weekly_time"),
    "navigate": ("poi", "poi_type", "distance", "traffic", "address"),
    "schedule": ("event", "date", "time", "party", "room", "agenda"),
}
_INFORMABLE = {slot for slots in INFORMABLE.values() for slot in slots}
# State words that name a slot and no value.
_SLOT_WORDS = frozenset(
    "address traffic poi poi_type distance weather temperature weather_attribute date time "
    "location event agenda party room weekly_time forecast".split()
)
# Sequicity drops nltk's stop words of all languages, the Spanish "los" of Los Angeles among them.
# Here are those that could soft-match an entity: from Snowball's lists of fourteen languages, and
# in the last line the words of entities that are in nltk's list for Hinglish.
_STOP_WORDS = frozenset("""
    a ad ai aki al all am ama an and any as at att au aura avreste avresti be bli bu c ce chi ci col
    com con d da dan de den di din do down du e ed el ela ele eles em en end enn er era ert es ese
    est esta et fareste faresti fra ge ha hai ham hat he her hin ho hos hur i ihr ihre ihrem ihren
    ihrer ihres il ile ill im in ind inn io is ist it j je jo jona jonka jos ki l la le les li lo
    los m ma man me med men met mi min mis mon mot my n na ne ni no now o of off og om on op opp or
    os other ou over own par per por qu s sa sareste saresti se sea sehr si siden sig so son sta
    stareste staresti sto su t ta tai te tem tengas the through ti tive to ton tu tue u ud um un und
    ut ve vi vil ville war we wo y yo
    certain go new two
    """.split())
_PLACEHOLDER = re.compile(r"\[value_(\w+)\]")


@dataclass(frozen=True)
class BagTurn:
    """One turn in Sequicity's form: state words ("thursday ; cleveland"), response with X_SLOT."""

    state: str
    response: str


def bag_turn(turn: Turn) -> BagTurn:
    """A turn of ours in Sequicity's form."""
    values = [value for slots in turn.state.values() for value in slots.values()]
    return BagTurn(" ; ".join(values), _PLACEHOLDER.sub(r"\1_SLOT", turn.response))


def clean_response(response: str, intent: str, entities: Mapping[str, str]) -> str:
    """The response between markers, with entities of the intent's slots replaced by X_SLOT."""
    text = response.replace("<go> ", "").replace(" SLOT", "_SLOT")
    text = f"{START} {text} {END}"
    for value, slot in entities.items():
        if slot in _REPLACED[intent]:
            text = replace_words(text, value, f"{slot}_SLOT", restart=False)
    return text


def constraints(state: str, entities: Mapping[str, str]) -> set[str]:
    """The informable entities that the words of a state hint at.

    A word finds the first entity, in alphabetical order, that is similar to it, and the entity's
    words then find nothing more. Sequicity goes through the words in the order of a Python set,
    which changes from run to run; here it is the order of the text.
    """
    words = state.split()
    if "EOS_Z1" in words:
        words = words[: words.index("EOS_Z1")]
    spent = {*JUNK, *_SLOT_WORDS, *_STOP_WORDS}
    candidates = sorted(value for value, slot in entities.items() if slot in _INFORMABLE)
    found = set()
    for word in words:
        if word in spent:
            continue
        entity = next((entity for entity in candidates if similar(word, entity)), None)
        if entity is not None:
            found.add(entity)
            spent.update(entity.split())
    return found


def requests(responses: list[str]) -> set[str]:
    """Names requested in cleaned responses: the part of every X_SLOT before the first
    underscore."""
    names = {
        word.split("_")[0]
        for response in responses
        for word in response.split()
        if word.endswith("SLOT") and word != "SLOT"
    }
    return names - {"name"}


def tally(
    gold: list[BagTurn], predicted: list[BagTurn], intent: str, entities: Mapping[str, str]
) -> Tally:
    """The counts of one dialogue; `entities` is Sequicity's map where its own figures are to be
    had.

    Match compares the states of the last turns whose cleaned responses have a placeholder, on
    either side the last turn's state where that yields nothing; dialogues without gold constraints
    are not counted.
    """
    result = Tally(turns=len(gold))
    wanted = [clean_response(turn.response, intent, entities) for turn in gold]
    given = [clean_response(turn.response, intent, entities) for turn in predicted]
    expected = _decisive(gold, wanted, entities)
    if expected:
        result.match_counted = 1
        result.match = int(alike(expected, _decisive(predicted, given, entities)))
    result.requests = overlap(requests(wanted), requests(given))
    for hypothesis, reference in zip(given, wanted, strict=True):
        result.bleu += bleu.counts(hypothesis, reference)
        result.bleu_without_markers += bleu.counts(
            without_markers(hypothesis), without_markers(reference)
        )
    result.joint_goal_accuracy = sum(
        constraints(left.state, entities) == constraints(right.state, entities)
        for left, right in zip(gold, predicted, strict=True)
    )
    return result


def _decisive(dialogue: list[BagTurn], cleaned: list[str], entities: Mapping[str, str]) -> set[str]:
    offers = [turn for turn, text in zip(dialogue, cleaned, strict=True) if "SLOT" in text]
    found = constraints(offers[-1].state, entities) if offers else set()
    return found or constraints(dialogue[-1].state, entities)
