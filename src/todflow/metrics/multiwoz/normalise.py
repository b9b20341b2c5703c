"""The standard evaluator's normal forms of responses and states.

Source: Tomiinek/MultiWOZ_Evaluation, mwzeval/normalization.py. Two vintages of its rules are in
use: v1 (7f19ee0), which the leaderboard's figures are of, and v2, which knows more spellings of
guest houses.
"""

import contextlib
import json
import re
from functools import cache, lru_cache
from importlib import resources

from sacremoses import MosesDetokenizer, MosesTokenizer

from todflow.metrics.spans import State

VINTAGES = ("v1", "v2")

SPELLINGS = json.loads((resources.files(__package__) / "aliases.json").read_text(encoding="utf-8"))
_CANONICAL = {name: word for word, names in SPELLINGS["placeholders"].items() for name in names}
_NAMES = {"v1": SPELLINGS["name"], "v2": SPELLINGS["name"] | SPELLINGS["name_v2"]}
# A placeholder takes its plural ending with it.
_PLACEHOLDER = re.compile(r"\[([\w\s]+)\](?:es|s|-s|-es|)")
_BRACKETED = re.compile(r"\[([^\[\]]+)\]")
# Words of which Moses makes the same whatever stands around them: no quotation marks and brackets,
# whose spaces depend on what came before, nothing that it escapes, no dots that it counts.
_PLAIN = re.compile(
    r"[.,?!:;)-]|[a-zA-Z0-9](?:[a-zA-Z0-9,:;?!)-]|(?<=[a-zA-Z])'(?=[a-zA-Z])|\.(?!\.))*"
)
_CLOCK = re.compile(r"([0-9][0-9]):([0-9]{2,9})")
_SLOTS = {"arriveby": "arrive", "leaveat": "leave"}
_NAME_SLOTS = frozenset({"name", "departure", "destination"})
_TIME_SLOTS = frozenset({"arrive", "leave", "time"})
_YES_SLOTS = frozenset({"parking", "internet"})


class _Tokenizer(MosesTokenizer):
    """sacremoses' tokenizer, which makes two sets of all Unicode letters anew for every full
    stop."""

    _lower, _alpha = frozenset(MosesTokenizer.IsLower), frozenset(MosesTokenizer.IsAlpha)

    def islower(self, text: str) -> bool:
        return self._lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._alpha.isdisjoint(text)


@cache
def _moses() -> tuple[MosesTokenizer, MosesDetokenizer]:
    return _Tokenizer(lang="en"), MosesDetokenizer(lang="en")


@lru_cache(maxsize=1 << 16)
def response(text: str) -> tuple[str, tuple[str, ...]]:
    """The normal form of a response, and the names of the placeholders that are unknown, each time.

    Lower case; [name] becomes one of the canonical upper-case words, an unknown one nothing, or
    stays where it has more than letters, digits, "_" and spaces; "-s" and "-ly" go wherever they
    stand; Moses tokenisation and detokenisation settle the spaces. Not idempotent: a second pass
    would lower the canonical words.
    """
    text = text.lower()
    unknown = tuple(name for name in _BRACKETED.findall(text) if name not in _CANONICAL)
    text = _PLACEHOLDER.sub(lambda match: _CANONICAL.get(match[1], ""), text)
    text = text.replace("-s", "").replace("-ly", "")
    words = [_word(word) for word in text.split()]
    if None in words:
        tokenizer, detokenizer = _moses()
        return detokenizer.detokenize(tokenizer.tokenize(text)), unknown
    return "".join(words).strip(), unknown


@lru_cache(maxsize=1 << 16)
def _word(word: str) -> str | None:
    """What Moses makes of a word within a text, with a space before it unless it is punctuation;
    None where that depends on its neighbours."""
    if not _PLAIN.fullmatch(word):
        return None
    tokenizer, detokenizer = _moses()
    tokens = tokenizer.tokenize(word)
    space = "" if detokenizer.IS_PUNCT.search(tokens[0]) else " "
    return space + detokenizer.detokenize(tokens)


def slot_name(slot: str) -> str:
    """Lower case without spaces; arriveBy is arrive, leaveAt is leave."""
    slot = slot.lower().replace(" ", "")
    return _SLOTS.get(slot, slot)


def state(given: State, vintage: str) -> State:
    """A state with normal slot names and values; of two slots that become one the later is kept.
    Names of domains stay as they are."""
    return {domain: _slots(tuple(slots.items()), vintage) for domain, slots in given.items()}


# States repeat from turn to turn. Nobody changes what this returns.
@lru_cache(maxsize=1 << 16)
def _slots(slots: tuple[tuple[str, str], ...], vintage: str) -> dict[str, str]:
    names = {slot_name(slot): text for slot, text in slots}
    return {name: value(name, text, vintage) for name, text in names.items()}


@lru_cache(maxsize=1 << 16)
def value(slot: str, text: str, vintage: str) -> str:
    """The normal form of the value of a slot with a normal name."""
    if slot in _NAME_SLOTS:
        return _name(text, vintage)
    if slot in _TIME_SLOTS:
        return clock(text)
    if slot == "type":
        return SPELLINGS["type"].get(text, text)
    if slot == "food":
        text = text.strip().lower()
        return SPELLINGS["food"].get(text, text)
    if slot in _YES_SLOTS and text == "free":
        return "yes"
    return text


def _name(text: str, vintage: str) -> str:
    text = text.strip().lower().replace(" & ", " and ").replace("&", " and ").replace(" '", "'")
    if vintage == "v2":
        text = text.replace("bed and breakfast", "b and b")
    return _NAMES[vintage].get(text, text)


def clock(text: str) -> str:
    """HH:MM of many spellings; whatever else is said stays as it is, up to small words around
    it."""
    text = text.strip().lower()
    if text in SPELLINGS["time"]:
        return SPELLINGS["time"][text]
    for start, known in SPELLINGS["time_prefix"].items():
        if text.startswith(start):
            return known
    if text.startswith("by"):
        text = text[3:]
    for word in ("after", "afer"):
        if text.startswith(word):
            text = text[len(word) :].strip()
    for ending in ("am", "a.m."):
        if text.endswith(ending):
            text = text[: -len(ending)].strip()
    if text.endswith(("pm", "p.m.")):
        for ending in ("pm", "p.m."):
            if text.endswith(ending):
                text = text[: -len(ending)].strip()
        hour, colon, rest = text.partition(":")
        if text.isdigit() or (colon and ":" not in rest):
            with contextlib.suppress(ValueError):
                return f"{int(hour) + 12}:{rest if colon else '00'}"
    if not text:
        return "00:00"
    text = text[:-1] if text[-1] in ".,?" else text
    if text.isdigit():
        return f"{text[:2]}:{text[2:]}" if len(text) == 4 else f"{text.zfill(2)}:00"
    if ":" in text:
        text = text.replace(" ", "")
    if len(text) == 4 and text[1] == ":":
        hour, minute = text.split(":")[:2]
        return f"{hour.zfill(2)}:{minute}"
    return text


def minutes(text: str) -> int:
    """Minutes since midnight of HH:MM; 0 of anything that does not start so."""
    match = _CLOCK.match(text)
    return 60 * int(match[1]) + int(match[2]) if match else 0
