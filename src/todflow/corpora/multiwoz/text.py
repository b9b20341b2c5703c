"""DAMD's cleaning of utterances and of slot values.

`clean` takes running text as released and tokenises it first; `repair` takes text whose tokens are
settled, such as a response with placeholders or a slot value. The rules and their order are DAMD's
(thu-spmi/damd-multiwoz: clean_dataset.py), oddities included, so that texts compare token for token
with those of the systems that use its data; rules that never apply to the corpus are left out.
"""

import re
from functools import cache
from importlib import resources

from todflow.corpora.multiwoz.tokens import tokenise

# Character by character, before everything else.
_CHARACTERS = str.maketrans({"’": "'", "‘": "'", ";": ",", '"': " ", "/": " and "})


def _to_24_hours(match: re.Match) -> str:
    """Afternoon by plain addition: "4:15pm" is 16:15, and "12:16pm" is 24:16."""
    hour, minutes = match.group(1), match.group(2) or ":00"
    return f"{int(hour) + 12}{minutes}"


# (text that must be there, pattern, replacement). The first entry saves most searches.
_RULES = tuple(
    (needle, re.compile(pattern), replacement)
    for needle, pattern, replacement in (
        # Not left to the word table: there it would become "do not".
        ("don't", r"don't", "do n't"),
        # Clock times: one word, two digits for the hour, 24 hours. Booking references that happen to
        # hold a digit and "am" or "pm" suffer, too; in a response they are placeholders by then.
        ("m", r"(\d+) ([ap]\.?m)", r"\1\2"),
        (":", r"((?<!\d)\d:\d+)(am)?", r"0\1"),
        ("am", r"((?<!\d)\d)am", r"0\1:00"),
        ("pm", r"((?<!\d)\d)()pm", _to_24_hours),
        ("pm", r"(\d+)(:\d+)pm", _to_24_hours),
        ("m", r"(\d+)a\.?m", r"\1"),
        # Postcodes that were dictated.
        ("c.b", r"c\.b[. ] ?1[ ,]7 d\.y", "cb17dy"),
        ("c.b", r"c\.b 1,2 q\.a", "cb12qa"),
        ("postcodecb21rs", r"postcodecb21rs", "postcode cb21rs"),
        # "i.d." and the tokens of "id", which was taken for "i'd". DAMD joins the neighbours, too.
        ("i.d", r"i\.d", "id"),
        (" i d ", r" i d ", "id"),
        ("depature", r"depature", "departure"),
        ("depearting", r"depearting", "departing"),
        ("-type", r"-type", " type"),
        # One spelling of what the database calls now this, now that.
        ("b", r"b\s?&\s?b|b and b", "bed and breakfast"),
        ("guesthouse", r"guesthouses?", "guest house"),
        ("swimmingpool", r"swimmingpools?", "swimming pool"),
        # Contractions after any word; those that depend on the word before are in rewrites.txt.
        ("wo n't", r"wo n't", "will not"),
        (" 'd ", r" 'd ", " would "),
        (" 'm ", r" 'm ", " am "),
        (" 've ", r" 've ", " have "),
        ("'", r"^'|'$", ""),
        # A full stop without the space that should follow it.
        (".", r"([a-z]+)\.([a-z])", r"\1 . \2"),
        (". ", r"(\w+)\.\.? ", r"\1 . "),
    )
)


@cache
def _rewrites() -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """rewrites.txt: single words, and pairs of words with a blank on both sides."""
    content = (resources.files(__package__) / "rewrites.txt").read_text("utf-8")
    rows = [line.split("\t") for line in content.splitlines() if not line.startswith("#")]
    words = {old: new for old, new in rows if " " not in old}
    pairs = tuple((f" {old} ", f" {new} ") for old, new in rows if " " in old)
    return words, pairs


def repair(text: str) -> str:
    """DAMD's cleaning of text whose tokens are settled. Single spaces, lower case."""
    text = text.strip().lower().translate(_CHARACTERS)
    for needle, pattern, replacement in _RULES:
        if needle in text:
            text = pattern.sub(replacement, text)
    words, pairs = _rewrites()
    result, previous = [], None
    for word in text.split():
        # Of a word that is said twice the second stays: "restaurant two two", a name, becomes
        # "restaurant 2 two" in the states and databases of all systems that clean with these rules.
        previous = word if word in words and word != previous else None
        result.append(words[word] if previous else word)
    text = f" {' '.join(result)} "
    for old, new in pairs:
        if old in text:
            text = text.replace(old, new)
    return text.strip()


def clean(text: str) -> str:
    """A raw utterance as the corpus tables have it: tokenised, then `repair`ed."""
    return repair(" ".join(tokenise(text)))
