"""Tokens of MultiWOZ text, as the release's span annotation counts them.

The annotators' tokens are those of spaCy 2.0's English rules, and the processed corpora of DAMD and
after have them, too. The same rules are here for what occurs in this corpus, so that no model and no
version of a library decides what a token is. A word between two blanks is taken apart in this order:
contractions and abbreviations from a list; else one punctuation mark at the front or else at the end,
again and again; then punctuation inside what is left.
"""

import re
from functools import lru_cache

_MARKS = r"""[,:;!?¿¡()\[\]{}<>_#*&"”“`‘´’‚„»«'…£€¥$]"""
_UNITS = (
    "km m/s km/h kmh mph cm mm ha m in ft yd kg mg g t lb oz MB mb GB gb KB kb T G M K % [+]"
).replace(" ", "|")
_PREFIX = re.compile(rf"\.\.+|[§%=—–]|\+(?![0-9])|{_MARKS}")
_SUFFIX = re.compile(
    r"(?:\.\.+|['’][sS]|[—–]"
    rf"|{_MARKS}"
    rf"|(?<=[0-9])(?:{_UNITS})"
    # A full stop after a small letter, a digit or punctuation. One capital is an initial, two are not.
    r"|(?<=[0-9a-zà-ÿ%²+\-)\]\"”'’])\."
    r"|(?<=[A-Z][A-Z])\."
    r")$"
)
_INFIX = re.compile(
    r"\.\.+|…"
    r"|(?<=[0-9])[+\-*^](?=[0-9-])"
    # A sentence without a space after the last one.
    r"|(?<=[a-zà-ÿ])\.(?=[A-Z])"
    r"|(?<=[A-Za-z]),(?=[A-Za-z])"
    r"|(?<=[A-Za-z])(?:--+|[-–—~])(?=[A-Za-z])"
    r"|(?<=[A-Za-z])[:<>=/](?=[A-Za-z])"
)
# A booking reference is a token whatever it ends in ("WAEYAQ0M." isn't 0 mega) or touches, other than
# "ref#" before it.
_REFERENCE = re.compile(r"(?<!\w#)\b[A-Z0-9]{8}\b")

_WHOLE = frozenset(
    "a.m. p.m. St. Mt. Mr. Mrs. Ms. Dr. Ltd. Co. co. e.g. i.e. o'clock ma'am 'd 're 's 'll and/or w/o"
    " :) :-) :( :D :P ;)".split()
) | {f"{letter}." for letter in "abcdefghijklmnopqrstuvwxyz"}
# Contractions, written with the apostrophe or without: words, and what may follow them.
_CONTRACTIONS = (
    ("i", "'m"),
    ("i you he she it we they", "'ll 'd"),
    ("i you we they", "'ve"),
    ("you we they", "'re"),
    ("he she it", "'s"),
    ("who what when where why how there that", "'s 'll 're 've 'd"),
    ("could might must should would", "'ve"),
    ("ca could do does did had may might must need ought sha should wo would", "n't"),
    ("ai are is was were have has dare", "n't"),
)
# Words that look like a contraction without its apostrophe, and are none.
_WORDS = frozenset("ill its hell shell shed were well whore".split())
_PAIRS = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "let's": ("let", "'s"),
}


def _exceptions() -> dict[str, tuple[str, ...]]:
    """Words whose pieces are given, in small letters or with a capital."""
    result = dict(_PAIRS)
    for words, endings in _CONTRACTIONS:
        for word in words.split():
            for ending in endings.split():
                for written in (ending, ending.replace("'", "")):
                    if word + written not in _WORDS:
                        result[word + written] = (word, written)
    result |= {
        word.capitalize(): (head.capitalize(), *tail) for word, (head, *tail) in result.items()
    }
    for hour in range(1, 13):
        for half in ("am", "pm", "a.m.", "p.m."):
            result[f"{hour}{half}"] = (str(hour), half)
    return result | {word: (word,) for word in _WHOLE}


_EXCEPTIONS = _exceptions()


def tokenise(text: str) -> list[str]:
    """The tokens of `text`. Joined without spaces they are the text without its blanks."""
    result = []
    for word in _REFERENCE.sub(r" \g<0> ", text).split():
        if _REFERENCE.fullmatch(word):
            result.append(word)
        else:
            result.extend(_pieces(word))
    return result


@lru_cache(maxsize=1 << 16)
def _pieces(word: str) -> tuple[str, ...]:
    front, back = [], []
    while word not in _EXCEPTIONS:
        prefix, suffix = _PREFIX.match(word), _SUFFIX.search(word)
        if prefix and prefix.end() < len(word):
            front.append(prefix.group())
            word = word[prefix.end() :]
        elif suffix and suffix.start() > 0:
            back.append(suffix.group())
            word = word[: suffix.start()]
        else:
            break
    return (*front, *(_EXCEPTIONS.get(word) or _inner(word)), *reversed(back))


def _inner(word: str) -> list[str]:
    """`word` cut at the punctuation inside it."""
    pieces, start = [], 0
    for found in _INFIX.finditer(word):
        pieces += [word[start : found.start()], found.group()]
        start = found.end()
    return [piece for piece in (*pieces, word[start:]) if piece]
