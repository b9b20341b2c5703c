"""Reading what a system has said: our own tables, JSON of other people's systems, Sequicity's
CSV."""

import csv
import difflib
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from todflow.errors import TodflowError
from todflow.metrics.sequicity import BagTurn

_COLUMNS = {"dialogue_id": str, "turn": int, "state_span": str, "act_span": str, "response": str}
_TURN_FIELDS = ("state", "state_span", "act_span", "response")
_CSV_COLUMNS = ("dial_id", "turn_num", "generated_bspan", "bspan", "generated_response", "response")
_LAYOUT = "{dialogue_id: [turn, ...]}"
_CSV_START = "START_CSV_SECTION"


@dataclass(frozen=True)
class Answer:
    """One system turn: the state as {slot: value} or as a span, the act span, the response."""

    state: dict[str, str] | str
    act_span: str
    response: str


class JsonObject(dict):
    """A JSON object that knows the first name it was given twice (None: all differ)."""

    def __init__(self, pairs: list[tuple[str, object]]):
        super().__init__(pairs)
        self.repeated = None
        if len(self) < len(pairs):
            names = [name for name, _ in pairs]
            self.repeated = next(name for name in names if names.count(name) > 1)


def shown(name: object) -> str:
    """An id or name of the input for a message: as it is, or quoted where it would break the
    line."""
    text = str(name)
    return text if text.isprintable() and text else repr(text)


def is_sequicity(path: Path) -> bool:
    """Whether the file's name says that it is one of Sequicity's."""
    return path.name.endswith((".csv", ".csv.gz"))


def read_predictions(path: Path) -> dict[str, list[Answer]]:
    """Dialogue id -> answers in turn order, from a parquet table or a JSON file (plain or gzip).

    JSON: {dialogue_id: [{"state": {slot: value}, "response": text}, ...]}, where "state_span": text
    may stand for "state", and "act_span" is optional. Raises a `TodflowError` that names file,
    dialogue, turn and field; any other field of a turn is refused, and any name given twice.
    """
    if path.name.endswith(".parquet"):
        return _read_table(path)
    if path.name.endswith((".json", ".json.gz")):
        try:
            return _read_json(path)
        except RecursionError:
            raise TodflowError(f"{path}: nested too deeply; give {_LAYOUT}") from None
    raise TodflowError(
        f"{path}: not a kind of predictions that is known; give .parquet, .json, .json.gz, or a "
        ".csv or .csv.gz of Sequicity's"
    )


def _read_table(path: Path) -> dict[str, list[Answer]]:
    try:
        table = pd.read_parquet(path)
    except FileNotFoundError:
        raise TodflowError(f"{path}: no such file; give the predictions to score") from None
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise TodflowError(f"{path}: not a parquet file ({reason}); predict again") from None
    for column in _COLUMNS:
        if column not in table.columns:
            raise TodflowError(f"{path}: column '{column}' is missing; predict again")
    result: dict[str, list[Answer]] = {}
    for row in table[list(_COLUMNS)].itertuples(index=False):
        where = f"{path}, dialogue {shown(row.dialogue_id)}, turn {shown(row.turn)}"
        for column, kind in _COLUMNS.items():
            if not isinstance(getattr(row, column), kind):
                raise TodflowError(
                    f"{where}, field {column}: {getattr(row, column)!r:.60}, not "
                    f"{'text' if kind is str else 'a whole number'}; predict again"
                )
        answers = result.setdefault(row.dialogue_id, [])
        if row.turn != len(answers):
            raise TodflowError(
                f"{where}: turn {len(answers)} is due; sort the table by dialogue and turn"
            )
        answers.append(Answer(row.state_span, row.act_span, row.response))
    return result


def read_text(path: Path) -> str:
    """The text of a file, plain or gzip by its name, without the mark that some editors begin with."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.name.endswith(".gz") else content
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise TodflowError(f"{path}: no such file; give the predictions to score") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise TodflowError(f"{path}: not readable as text ({error}); write it again") from None


def read_dialogues(path: Path, layout: str) -> Iterator[tuple[str, list[tuple[str, object]]]]:
    """Every dialogue of a JSON file {dialogue_id: [turn, ...]}: its id, and for each turn where it
    stands, for messages, and what is there. `layout` is what messages ask for."""
    try:
        data = json.loads(read_text(path), object_pairs_hook=JsonObject)
    except ValueError as error:
        raise TodflowError(f"{path}: not JSON ({error}); write it again") from None
    except RecursionError:
        raise TodflowError(f"{path}: nested too deeply; give {layout}") from None
    if not isinstance(data, JsonObject):
        raise TodflowError(f"{path}: not an object; give {layout}")
    if data.repeated is not None:
        raise TodflowError(
            f"{path}, dialogue {shown(data.repeated)}: given twice; give every dialogue once"
        )
    for dialogue, turns in data.items():
        where = f"{path}, dialogue {shown(dialogue)}"
        if not isinstance(turns, list):
            raise TodflowError(f"{where}: not a list of turns; give [turn, ...]")
        yield dialogue, [(f"{where}, turn {number}", turn) for number, turn in enumerate(turns)]


def _read_json(path: Path) -> dict[str, list[Answer]]:
    return {
        dialogue: [_json_answer(turn, where) for where, turn in turns]
        for dialogue, turns in read_dialogues(path, _LAYOUT)
    }


def _json_answer(turn: object, where: str) -> Answer:
    if not isinstance(turn, JsonObject):
        raise TodflowError(f'{where}: not an object; give {{"state": ..., "response": ...}}')
    for name in turn:
        if name not in _TURN_FIELDS:
            nearest = difflib.get_close_matches(name[:60], _TURN_FIELDS, 1, cutoff=0)[0]
            raise TodflowError(
                f"{where}, field {shown(name[:60])}: unknown, the nearest known one is {nearest}; "
                f"give only {', '.join(_TURN_FIELDS)}"
            )
    if turn.repeated is not None:
        raise TodflowError(f"{where}, field {turn.repeated}: given twice; give it once")
    if ("state" in turn) == ("state_span" in turn):
        raise TodflowError(f"{where}, field state: give one of state and state_span")
    for name in ("response", "state_span", "act_span"):
        value = turn.get(name, None if name == "response" else "")
        if not isinstance(value, str):
            found = "missing" if name not in turn else f"{value!r:.60}, not text"
            raise TodflowError(f"{where}, field {name}: {found}; give text")
    state = turn.get("state", turn.get("state_span"))
    if not isinstance(state, str):
        if not isinstance(state, JsonObject):
            raise TodflowError(f"{where}, field state: {state!r:.60}; give {{slot: value}}")
        if state.repeated is not None:
            raise TodflowError(
                f"{where}, field state.{shown(state.repeated)}: given twice; give every slot once"
            )
        for slot, value in state.items():
            if not isinstance(value, str):
                raise TodflowError(
                    f"{where}, field state.{shown(slot)}: {value!r:.60}, not text; give text"
                )
    elif "state" in turn:
        raise TodflowError(
            f"{where}, field state: {state!r:.60}; give {{slot: value}}, or use state_span"
        )
    return Answer(state, turn.get("act_span", ""), turn["response"])


def read_sequicity(path: Path) -> list[tuple[int, list[BagTurn], list[BagTurn]]]:
    """Per dialogue: its index in the test file, the reference turns and the generated turns.

    Sequicity's stored results are lines of settings, the line START_CSV_SECTION, and a CSV that
    brings its own references. Raises a `TodflowError` that names file, dialogue, turn and field.
    """
    _, marker, body = read_text(path).partition(_CSV_START)
    if not marker:
        raise TodflowError(
            f"{path}: no line {_CSV_START}; give a result file of Sequicity's as it is"
        )
    reader = csv.DictReader(io.StringIO(body.lstrip("\r\n"), newline=""))
    where = str(path)
    dialogues: dict[int, tuple[list[BagTurn], list[BagTurn]]] = {}
    try:
        for column in _CSV_COLUMNS:
            if column not in (reader.fieldnames or ()):
                raise TodflowError(
                    f"{path}: column '{column}' is missing; give Sequicity's file as it is"
                )
        for row in reader:
            where = f"{path}, dialogue {shown(row['dial_id'])}, turn {shown(row['turn_num'])}"
            _add_sequicity_turn(dialogues, row, where)
    except csv.Error as error:
        # The reader gives no part of a row that it can't read: the row before says where.
        raise TodflowError(f"{where}: no CSV after this ({error}); get the file again") from None
    return [(index, *dialogues[index]) for index in sorted(dialogues)]


def _add_sequicity_turn(
    dialogues: dict[int, tuple[list[BagTurn], list[BagTurn]]], row: dict[str, str], where: str
) -> None:
    for column in _CSV_COLUMNS:
        if row[column] is None:
            raise TodflowError(
                f"{where}, field {column}: missing; the file is cut short, get it again"
            )
    numbers = []
    for column in ("dial_id", "turn_num"):
        try:
            numbers.append(int(row[column]))
        except ValueError:
            raise TodflowError(
                f"{where}, field {column}: not a number; get the file again"
            ) from None
    index, turn = numbers
    gold, predicted = dialogues.setdefault(index, ([], []))
    if turn != len(gold):
        raise TodflowError(f"{where}, field turn_num: turn {len(gold)} is due; get the file again")
    gold.append(BagTurn(row["bspan"], row["response"]))
    predicted.append(BagTurn(row["generated_bspan"], row["generated_response"]))
