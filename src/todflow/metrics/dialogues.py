"""The form in which evaluators take dialogues."""

from dataclasses import dataclass, field

from todflow.metrics.spans import State


@dataclass(frozen=True)
class Turn:
    """One system turn: belief state {domain: {slot: value}}, delexicalised response, act
    triples."""

    state: State
    response: str
    acts: frozenset[tuple[str, str, str]] = field(default=frozenset())


Dialogue = list[Turn]
