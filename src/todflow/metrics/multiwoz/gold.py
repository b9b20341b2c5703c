"""What MultiWOZ's evaluators compare a system's output with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from todflow.errors import TodflowError
from todflow.metrics.spans import State

_COLUMNS = ("booked", "pointer", "reference", "annotated_state")


@dataclass(frozen=True)
class GoldDialogue:
    """One dialogue of the split; the tuples have one entry a system turn.

    goal: as released. booked: domains booked so far. references: the standard evaluator's, before
    normalisation. states: belief states as DAMD has them. annotated: as the release has them.
    domains: the turn's domains. pointers: DAMD's, "0,0,0,0,0,0". responses: delexicalised in the
    DAMD manner.
    """

    goal: dict
    booked: tuple[tuple[str, ...], ...]
    references: tuple[str, ...]
    states: tuple[State, ...]
    annotated: tuple[State, ...]
    domains: tuple[tuple[str, ...], ...]
    pointers: tuple[str, ...]
    responses: tuple[str, ...]
    act_spans: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True)
class Gold:
    """A split: which corpus (multiwoz20 or multiwoz21), its dialogues by id (lower case, without
    ".json") in the order of the table, and the entities of the raw database by domain."""

    corpus: str
    dialogues: dict[str, GoldDialogue]
    database: Mapping[str, list[dict]]


def gold_of(
    table: pd.DataFrame, database: Mapping[str, list[dict]], where: str = "table of turns"
) -> Gold:
    """The gold side of a table of turns (`todflow.corpora.turns`) with MultiWOZ's columns.

    `where` names the table in messages.
    """
    for column in _COLUMNS:
        if column not in table.columns:
            raise TodflowError(f"{where}: column '{column}' is missing; prepare MultiWOZ again")
    if table.empty:
        raise TodflowError(f"{where}: no turns; prepare MultiWOZ again")
    dialogues = {
        dialogue: GoldDialogue(
            goal=json.loads(turns["goal"].iloc[0]),
            booked=tuple(tuple(json.loads(text)) for text in turns["booked"]),
            references=tuple(turns["reference"]),
            states=tuple(json.loads(text) for text in turns["state"]),
            annotated=tuple(json.loads(text) for text in turns["annotated_state"]),
            domains=tuple(tuple(text.split()) for text in turns["domain"]),
            pointers=tuple(turns["pointer"]),
            responses=tuple(turns["response_delex"]),
            act_spans=tuple(turns["act_span"]),
        )
        for dialogue, turns in table.groupby("dialogue_id", sort=False)
    }
    return Gold(table["dataset"].iloc[0], dialogues, database)
