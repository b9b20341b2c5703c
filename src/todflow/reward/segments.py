"""The segments of an output, word by word; a word that comes in pieces is read again, longer."""

import re
from abc import ABC, abstractmethod
from typing import NamedTuple

from todflow.metrics.selfplay import ACT_DOMAINS
from todflow.reward.sets import PLACEHOLDER, Pair, Request, Schema, Wanted, request

_BRACKET = re.compile(r"\[([^\]\s]+)\]$")


class Step(NamedTuple):
    """What a token does.

    It ends the output (`over`), starts a segment, or stops one (both named by the start marker),
    or it is `words`: of these the first continues the word before if `glued`, and the last can't
    be continued if `breaks`.
    """

    over: bool = False
    starts: str = ""
    stops: str = ""
    words: tuple[str, ...] = ()
    glued: bool = False
    breaks: bool = False


class _Words(ABC):
    """A segment read word by word, where the last word may still grow."""

    def __init__(self) -> None:
        self._word = ""  # the last one, if it may still grow

    def read(self, step: Step) -> None:
        glued = step.glued
        for word in step.words:
            if glued and self._word:
                self.undo()
                word = self._word + word
            self.push(word)
            self._word, glued = word, False
        if step.breaks:
            self._word = ""

    def part(self) -> None:
        """The last word is complete."""
        self._word = ""

    @abstractmethod
    def push(self, word: str) -> None:
        """Read a word."""

    @abstractmethod
    def undo(self) -> None:
        """Take back the last `push`."""


class State(_Words):
    """The pairs of a state span, as `metrics.spans.parse_state` reads it."""

    def __init__(self, schema: Schema, wanted: frozenset[Pair]):
        super().__init__()
        self.found = 0
        self.filled: dict[tuple[str, str], bool] = {}  # whether each pair is right
        self._schema = schema
        self._wanted = {(domain, slot): value for domain, slot, value in wanted}
        self._domain, self._slot, self._value = "", "", []
        self._pushed: list[tuple] = []  # each word, and what it has changed besides the open value

    def push(self, word: str) -> None:
        if self._schema.peoples and word.startswith("'s") and self._last() == "people":
            self.undo()
            self._add(f"people {word}")
        elif bracket := word[0] == "[" and _BRACKET.match(word):
            self._turn(word, bracket[1], "")
        elif word in self._schema.slots.get(self._domain, ()):
            self._turn(word, self._domain, word)
        else:
            self._add(word)

    def undo(self) -> None:
        word, before, closed, emptied = self._pushed.pop()
        if before is None:
            if self._slot:
                self._value.pop()
            if self._schema.peoples and word.startswith("people 's"):
                self.push("people")
            return
        self._domain, self._slot, self._value = before
        if emptied is not None:
            self._set(*emptied)
        if closed is not None:
            self._unset(closed)

    def close(self) -> None:
        """The segment's end marker has come."""
        self._finish()

    def _last(self) -> str:
        return self._pushed[-1][0] if self._pushed else ""

    def _add(self, word: str) -> None:
        if self._slot:
            self._value.append(word)
        self._pushed.append((word, None, None, None))

    def _turn(self, word: str, domain: str, slot: str) -> None:
        """A word that ends the value before it and opens `slot` of `domain`, empty."""
        before = self._domain, self._slot, self._value
        closed = self._finish()
        key, emptied = (domain, slot), None
        if key in self.filled:
            emptied = key, self._unset(key)
        self._domain, self._slot, self._value = domain, slot, []
        self._pushed.append((word, before, closed, emptied))

    def _finish(self) -> tuple[str, str] | None:
        """Let the open value count; its domain and slot, None without a value."""
        if not self._value:
            return None
        key = self._domain, self._slot
        value = self._wanted.get(key)
        self._set(
            key, value is not None and self._schema.canonical(*key, " ".join(self._value)) == value
        )
        return key

    def _set(self, key: tuple[str, str], right: bool) -> None:
        self.filled[key] = right
        self.found += right

    def _unset(self, key: tuple[str, str]) -> bool:
        right = self.filled.pop(key)
        self.found -= right
        return right


class Requests:
    """The requestable slots that act and response have named."""

    def __init__(self, wanted: Wanted):
        self.found = 0
        self.named: set[Request] = set()
        self._wanted, self._requestable = wanted.requests, wanted.requestable

    def add(self, part: str, slot: str) -> Request | None:
        """The element, if it is a new one."""
        element = part, request(slot)
        if self._requestable is not None and element[1] not in self._requestable:
            return None
        if element in self.named:
            return None
        self.named.add(element)
        self.found += element in self._wanted
        return element

    def remove(self, element: Request) -> None:
        self.named.remove(element)
        self.found -= element in self._wanted


class Act(_Words):
    """The slots of an act span, as `metrics.spans.parse_acts` reads it."""

    def __init__(self, requests: Requests):
        super().__init__()
        self._requests = requests
        self._act = False  # within an act
        self._pushed: tuple[bool, Request | None] = False, None

    def push(self, word: str) -> None:
        before, element = self._act, None
        if bracket := word[0] == "[" and _BRACKET.match(word):
            self._act = bracket[1] not in ACT_DOMAINS
        elif self._act:
            element = self._requests.add("a", word)
        self._pushed = before, element

    def undo(self) -> None:
        self._act, element = self._pushed
        if element is not None:
            self._requests.remove(element)


class Response:
    """The placeholders of a response, wherever they stand in a word."""

    def __init__(self, requests: Requests):
        self._requests = requests
        self._open = ""  # what a bracket has opened and nothing has closed yet

    def read(self, step: Step) -> None:
        glued = step.glued
        for word in step.words:
            text = self._open + word if glued else word
            glued, self._open = False, ""
            if "[" in text:
                for slot in PLACEHOLDER.findall(text):
                    self._requests.add("r", slot)
                last = text[text.rindex("[") :]
                self._open = "" if "]" in last else last
        if step.breaks:
            self._open = ""

    def part(self) -> None:
        """The last word is complete."""
        self._open = ""
