"""Replacing a response's values by placeholders."""

import re

from todflow.corpora.incar import REQUESTABLE
from todflow.corpora.incar.text import join_clock, lemmatise, tokenise

# Values that no entity list holds. In this order: a temperature would else look like an address.
_PATTERNS = (
    (re.compile(r"\d+-?\d*fs?"), "[value_temperature]"),
    (re.compile(r"\d+\s?miles?"), "[value_distance]"),
    (
        re.compile(r"\d+\s\w+\s(dr)?(ct)?(rd)?(road)?(st)?(ave)?(way)?(pl)?\w*[.]?"),
        "[value_address]",
    ),
)


def placeholder(slot: str) -> str:
    """The token that stands for a value of `slot`."""
    return f"[value_{slot}]"


def delexicalise(response: str, entities: dict[str, str], said: str, intent: str) -> str:
    """The cleaned response with placeholders.

    `said` is all that the user has said in the dialogue so far (cleaned): what the user named
    himself stays in words. Only slots that can be requested under `intent` are replaced.
    """
    text = join_clock(response.lower())
    for pattern, token in _PATTERNS:
        text = pattern.sub(token, text)
    # The tokenizer has taken the placeholders apart.
    text = lemmatise(tokenise(text)).replace("[ ", "[").replace(" ]", "]")
    for value in sorted(entities, key=len, reverse=True):
        slot = entities[value]
        start = text.find(value)
        if start < 0 or slot not in REQUESTABLE[intent]:
            continue
        end = start + len(value)
        while end < len(text) and text[end] != " ":
            end += 1
        plain = _plain(value)
        if _plain(text[start:end]) == plain and plain not in said and value not in said:
            text = replace_words(text, text[start:end], placeholder(slot))
    return text


def _plain(text: str) -> str:
    return re.sub(r"[.' ]", "", text)


def replace_words(text: str, value: str, token: str, restart: bool = True) -> str:
    """`text` with every stretch that starts a word with `value` replaced by `token`.

    The stretch extends over the letters and digits that follow. The first occurrence of `value`
    inside a word ends the search, as in the evaluators this is for. After a replacement LABES and
    GALAXY search from the beginning (`restart`); Sequicity goes on from where the stretch ended in
    the text before.
    """
    start = text.find(value)
    while start == 0 or (start > 0 and text[start - 1] == " "):
        end = start + len(value)
        while end < len(text) and (text[end].isalpha() or text[end].isdigit()):
            end += 1
        text = text[:start] + token + text[end:]
        start = text.find(value, 0 if restart else end)
    return text
