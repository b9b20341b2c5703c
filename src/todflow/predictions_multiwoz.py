"""Reading what a system has said on MultiWOZ: JSON in the standard evaluator's layout, or our
tables."""

import difflib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from todflow.corpora.multiwoz.state import parse
from todflow.errors import TodflowError
from todflow.metrics.spans import State
from todflow.predictions import JsonObject, read_dialogues, read_predictions, shown

_FIELDS = ("response", "state", "state_span", "active_domains", "act_span")
# Fields of which a turn has one.
_SAME = dict.fromkeys(("state", "state_span"), {"state", "state_span"})
_LAYOUT = '{dialogue_id: [{"response": ..., "state": ...}, ...]}'


@dataclass(frozen=True)
class SystemTurn:
    """One system turn; None where the file does not give a part.

    state: {domain: {slot: value}} as given. active_domains: of this turn. act_span: as in our
    tables.
    """

    response: str
    state: State | None = None
    active_domains: tuple[str, ...] | None = None
    act_span: str | None = None


@dataclass(frozen=True)
class Answers:
    """dialogues: id (lower case, without ".json") -> system turns. ignored: names of fields that no
    evaluator uses, as `shown` has them -> how many turns have them."""

    dialogues: dict[str, list[SystemTurn]]
    ignored: dict[str, int]


def read_answers(path: Path) -> Answers:
    """What a file of predictions says: .json or .json.gz in mwzeval's layout, or a .parquet of
    ours.

    JSON: {dialogue_id: [{"response": text, "state": {domain: {slot: value}}, "active_domains":
    [domain, ...]}, ...]}, where all but the response is optional; "state_span" may stand for
    "state", and "act_span" is read, both as in our tables. Ids may be in upper case and end in
    ".json". Raises a `TodflowError` that names file, dialogue, turn and field; other fields are
    ignored, unless their names are nearly those of fields that the turn lacks.
    """
    if path.name.endswith(".parquet"):
        answers = read_predictions(path)
        if "response_delex" in pq.read_schema(path).names:
            raise TodflowError(
                f"{path}: the corpus itself, as its column 'response_delex' says; give a system's "
                "predictions"
            )
        dialogues = {
            name: [
                SystemTurn(each.response, parse(each.state), None, each.act_span)
                for each in turns
            ]
            for name, turns in answers.items()
        }
        return Answers(_with_ids(dialogues, path), {})
    if not path.name.endswith((".json", ".json.gz")):
        raise TodflowError(
            f"{path}: not a kind of predictions that is known; give .json, .json.gz or .parquet"
        )
    ignored: Counter[str] = Counter()
    dialogues = {}
    for name, turns in read_dialogues(path, _LAYOUT):
        dialogues[name] = [_turn(turn, where, ignored) for where, turn in turns]
    if not any(dialogues.values()):
        raise TodflowError(f"{path}: no turns; give {_LAYOUT}")
    return Answers(_with_ids(dialogues, path), dict(sorted(ignored.items())))


def select(
    answers: Mapping[str, list[SystemTurn]],
    expected: Mapping[str, int],
    path: Path,
    partial: bool = False,
) -> tuple[dict[str, list[SystemTurn]], dict[str, tuple[int, int]]]:
    """The turns to score, in the order of `expected` (dialogue id -> turns in the split), and the
    dialogues of another length: id -> (turns given, turns expected).

    Refuses dialogues that the split does not have, and those of another length unless `partial`;
    then the turns given are taken for the first ones of the dialogue, and what is beyond its end is
    left out. Dialogues that are missing are no error: whoever scores says how many there were.
    """
    unknown = sorted(set(answers) - set(expected))
    if unknown:
        names = ", ".join(shown(name) for name in unknown[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise TodflowError(
            f"{path}: dialogues not of this split: {names}{more}; give dialogues of MultiWOZ's "
            "test split"
        )
    if not answers:
        raise TodflowError(f"{path}: no dialogues; give {_LAYOUT}")
    uneven = {
        name: (len(answers[name]), turns)
        for name, turns in expected.items()
        if name in answers and len(answers[name]) != turns
    }
    if uneven and not partial:
        name, (given, turns) = next(iter(uneven.items()))
        more = f" (and {len(uneven) - 1} more dialogues)" if len(uneven) > 1 else ""
        raise TodflowError(
            f"{path}, dialogue {shown(name)}: {given} turns where the split has {turns}{more}; "
            "give one answer a turn, or --allow-partial to score the first ones"
        )
    chosen = {name: answers[name][:turns] for name, turns in expected.items() if name in answers}
    return chosen, uneven


def _with_ids(dialogues: Mapping[str, list[SystemTurn]], path: Path) -> dict[str, list[SystemTurn]]:
    """The dialogues by their ids as the evaluators have them."""
    names: dict[str, str] = {}
    for name in dialogues:
        dialogue = name.lower().removesuffix(".json")
        if dialogue in names:
            raise TodflowError(
                f"{path}, dialogue {shown(name)}: the same as {shown(names[dialogue])}; give every "
                "dialogue once"
            )
        names[dialogue] = name
    return {dialogue: dialogues[name] for dialogue, name in names.items()}


def _turn(turn: object, where: str, ignored: Counter[str]) -> SystemTurn:
    if not isinstance(turn, JsonObject):
        raise TodflowError(f'{where}: not an object; give {{"response": ..., "state": ...}}')
    if turn.repeated is not None:
        raise TodflowError(f"{where}, field {shown(turn.repeated)}: given twice; give it once")
    for name in turn:
        if name not in _FIELDS:
            # A misspelt optional field would change what is scored, and in silence. Beside the
            # field itself it is something else, such as response_gt.
            near = difflib.get_close_matches(name[:60].lower(), _FIELDS, 1, cutoff=0.8)
            if near and not turn.keys() & _SAME.get(near[0], {near[0]}):
                raise TodflowError(
                    f"{where}, field {shown(name[:60])}: unknown, but like {near[0]}; correct it"
                )
            ignored[shown(name[:60])] += 1
    for name in ("response", "state_span", "act_span"):
        if not isinstance(turn.get(name, None if name == "response" else ""), str):
            found = f"{turn[name]!r:.60}, not text" if name in turn else "missing"
            raise TodflowError(f"{where}, field {name}: {found}; give text")
    if "state" in turn and "state_span" in turn:
        raise TodflowError(f"{where}, field state: give one of state and state_span")
    state = parse(turn["state_span"]) if "state_span" in turn else None
    return SystemTurn(
        turn["response"],
        _state(turn["state"], where) if "state" in turn else state,
        _domains(turn["active_domains"], where) if "active_domains" in turn else None,
        turn.get("act_span"),
    )


def _state(state: object, where: str) -> State:
    where = f"{where}, field state"
    if state is None:
        raise TodflowError(f"{where}: null; leave it out, or give {{domain: {{slot: value}}}}")
    _check_object(state, where, "{domain: {slot: value}}")
    for domain, slots in state.items():
        place = f"{where}.{shown(domain)}"
        _check_object(slots, place, "{slot: value}")
        for slot, value in slots.items():
            if not isinstance(value, str):
                raise TodflowError(f"{place}.{shown(slot)}: {value!r:.60}, not text; give text")
    return state


def _check_object(value: object, where: str, layout: str) -> None:
    if not isinstance(value, JsonObject):
        raise TodflowError(f"{where}: {value!r:.60}; give {layout}")
    if value.repeated is not None:
        raise TodflowError(f"{where}.{shown(value.repeated)}: given twice; give it once")


def _domains(domains: object, where: str) -> tuple[str, ...]:
    if not isinstance(domains, list) or not all(isinstance(name, str) for name in domains):
        raise TodflowError(
            f"{where}, field active_domains: {domains!r:.60}; give a list of domains"
        )
    return tuple(domains)
