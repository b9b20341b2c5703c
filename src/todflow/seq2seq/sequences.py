"""The texts that a model reads and writes (step-reward paper, section 3.1), and the way back."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

PREFIX = "translate dialogue to belief state, dialogue action, and system response:"
USER, STATE, ACT, RESPONSE = (
    (f"<sos_{letter}>", f"<eos_{letter}>") for letter in ("u", "b", "a", "r")
)
MARKERS = tuple(marker for pair in (USER, STATE, ACT, RESPONSE) for marker in pair)
LABEL = re.compile(r"\[[a-z0-9_]+\]")
_STARTS = re.compile("|".join(re.escape(pair[0]) for pair in (USER, STATE, ACT, RESPONSE)))


class Segments(NamedTuple):
    """What the system says of a turn: belief state, act and delexicalised response, no markers."""

    state: str = ""
    act: str = ""
    response: str = ""


class Turn(NamedTuple):
    """One row of a corpus table, as far as a sequence model needs it."""

    dialogue_id: str
    turn: int
    user: str
    gold: Segments


def turns(table: pd.DataFrame) -> list[Turn]:
    """The rows of a corpus table, in order."""
    columns = ("dialogue_id", "turn", "user", "state_span", "act_span", "response_delex")
    return [
        Turn(dialogue, int(turn), user, Segments(state, act, response))
        for dialogue, turn, user, state, act, response in zip(*(table[c] for c in columns))
    ]


def previous(rows: list[Turn]) -> Iterator[tuple[Turn | None, Turn]]:
    """Every turn with the one before it in its dialogue (None for a dialogue's first)."""
    before = None
    for row in rows:
        if before is not None and before.dialogue_id != row.dialogue_id:
            before = None
        yield before, row
        before = row


def _wrap(pair: tuple[str, str], text: str) -> str:
    return f"{pair[0]} {text} {pair[1]}" if text else f"{pair[0]} {pair[1]}"


def target_text(segments: Segments, acts: bool) -> str:
    """The text that a model writes: state, act (only if the corpus has `acts`), response."""
    parts = [_wrap(STATE, segments.state)]
    if acts:
        parts.append(_wrap(ACT, segments.act))
    parts.append(_wrap(RESPONSE, segments.response))
    return " ".join(parts)


def context_text(user: str, before: tuple[str, Segments] | None, acts: bool) -> str:
    """The text that a model reads, without PREFIX.

    `before` is the previous user utterance and what the system made of it, None in a first turn.
    """
    now = _wrap(USER, user)
    if before is None:
        return now
    return f"{_wrap(USER, before[0])} {target_text(before[1], acts)} {now}"


def parse_target(text: str) -> Segments:
    """The segments of a decoded text, however broken (metrics-and-preprocessing, section 4.7).

    A segment ends at its end marker, else at the next start marker, else at the end of the text.
    Only its first occurrence counts; a missing one is empty. Stray end markers, padding and text
    outside segments are dropped.
    """
    found: dict[str, str] = {}
    starts = list(_STARTS.finditer(text))
    for start, following in zip(starts, [*starts[1:], None]):
        body = text[start.end() : following.start() if following else len(text)]
        end = body.find(start.group().replace("<sos", "<eos"))
        body = body if end < 0 else body[:end]
        for marker in (*MARKERS, "<pad>", "</s>", "<unk>"):
            body = body.replace(marker, " ")
        found.setdefault(start.group(), " ".join(body.split()))
    return Segments(*(found.get(pair[0], "") for pair in (STATE, ACT, RESPONSE)))


def labels(rows: Iterable[Turn]) -> list[str]:
    """Every bracketed label (domain, act, placeholder) of the rows' targets, sorted."""
    return sorted({label for row in rows for text in row.gold for label in LABEL.findall(text)})


def has_acts(rows: Iterable[Turn]) -> bool:
    """Whether the corpus annotates system acts at all (In-Car doesn't)."""
    return any(row.gold.act for row in rows)
