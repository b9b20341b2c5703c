"""The table of turns: the one form in which every corpus is handed on.

A corpus is one parquet file per split. A row is a turn: a user utterance and the system's answer to
it. Rows stand in dialogue order, then turn order; all columns are text except `turn`. Every table has
COLUMNS; some of OPTIONAL may follow.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from todflow.errors import TodflowError
from todflow.files import write_table

COLUMNS = {
    "dataset": "incar, selfplay, multiwoz20 or multiwoz21",
    "split": "train, valid or test",
    "dialogue_id": "unique within the split",
    "turn": "0-based, consecutive within a dialogue (int32)",
    "user": "cleaned user utterance, with its values",
    "response": "cleaned system response, with its values",
    "response_delex": "system response with placeholders such as [value_name]",
    "state_span": "cumulative belief state: [hotel] area north [train] day monday",
    "act_span": "system act: [hotel] [inform] choice area",
    "state": "belief state as JSON: {domain: {slot: value}}, in the order of the span",
    "acts": "system acts as JSON: [[intent, domain, slot, value], ...]",
    "domain": "domain(s) of the turn, separated by a space",
    "goal": "the user's goal as JSON, {} where the corpus has none",
}
# What only MultiWOZ's tables have besides, after the others.
OPTIONAL = {
    "act_source": "who annotated the system acts: gold or none of an official release; else gold-2.0, "
    "gold-2.1, damd-slots, silver or none (docs/multiwoz.md)",
    "booked": "domains that are booked after this turn, as JSON: [domain, ...]",
    "pointer": "DAMD's database and booking bits: 0,0,0,1,0,0",
    "reference": "system utterance with its values replaced, for the standard evaluator; not normalised",
    "annotated_state": "belief state of the release, neither cleaned nor carried on, as JSON",
}
_JSON = {"state": dict, "acts": list, "goal": dict, "booked": list, "annotated_state": dict}


def read_turns(path: str | Path) -> pd.DataFrame:
    """The table of turns in a parquet file, checked as by `check_turns`."""
    try:
        table = pd.read_parquet(path)
    except FileNotFoundError:
        raise TodflowError(f"{path}: no such file; prepare the corpus first") from None
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise TodflowError(
            f"{path}: not a parquet file ({reason}); prepare the corpus again"
        ) from None
    return check_turns(table, path)


def write_turns(path: str | Path, rows: pd.DataFrame | Iterable[Mapping]) -> None:
    """Write rows (dictionaries with the keys of the columns, or a table) as parquet, after a check."""
    if not isinstance(rows, pd.DataFrame):
        rows = list(rows)
        given = [name for name in OPTIONAL if rows and name in rows[0]]
        rows = pd.DataFrame(rows, columns=[*COLUMNS, *given])
    table = check_turns(rows, path)
    write_table(path, table.astype({"turn": "int32"}).reset_index(drop=True))


def check_turns(table: pd.DataFrame, path: str | Path = "table of turns") -> pd.DataFrame:
    """The table with exactly the contract's columns, in order: COLUMNS and what it has of OPTIONAL.

    Raises a `TodflowError` that names the file, the column and the row when a column is missing, a
    value has the wrong type, JSON does not parse, or the turns of a dialogue are not 0, 1, 2, ...
    in one block.
    """
    for column in COLUMNS:
        if column not in table.columns:
            raise TodflowError(f"{path}: column '{column}' is missing; prepare the corpus again")
    columns = [*COLUMNS, *(name for name in OPTIONAL if name in table.columns)]
    table = table[columns]
    for column in columns:
        kind = int if column == "turn" else str
        for row, value in enumerate(table[column].tolist()):
            if not isinstance(value, kind):
                raise TodflowError(
                    f"{path}: column '{column}', row {row}: {value!r} is not {_NAMES[kind]}; "
                    "prepare the corpus again"
                )
    _check_order(table, path)
    for column, kind in _JSON.items():
        if column not in columns:
            continue
        # Few distinct values in long columns: goals and states repeat from turn to turn.
        for row, text in table[column].drop_duplicates().items():
            try:
                good = isinstance(json.loads(text), kind)
            except ValueError:
                good = False
            if not good:
                raise TodflowError(
                    f"{path}: column '{column}', row {row}: {text[:60]!r} is not JSON of "
                    f"{_NAMES[kind]}; prepare the corpus again"
                )
    return table


_NAMES = {int: "a whole number", str: "text", dict: "an object", list: "a list"}


def _check_order(table: pd.DataFrame, path: str | Path) -> None:
    seen, current, expected = set(), None, 0
    for row, (dialogue, turn) in enumerate(zip(table["dialogue_id"], table["turn"], strict=True)):
        if dialogue != current:
            if dialogue in seen:
                raise TodflowError(
                    f"{path}: row {row}: dialogue '{dialogue}' comes in two pieces; "
                    "prepare the corpus again"
                )
            seen.add(dialogue)
            current, expected = dialogue, 0
        if turn != expected:
            raise TodflowError(
                f"{path}: row {row}: dialogue '{dialogue}' has turn {turn} where {expected} is due"
                "; prepare the corpus again"
            )
        expected += 1
