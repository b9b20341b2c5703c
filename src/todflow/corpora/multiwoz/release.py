"""Reading the release archives of MultiWOZ 2.0 and 2.1, with a check of every field that is used.

Members are found by their base name, whatever folder they lie in: the zips that go by the name of a
release differ there, and some hold a __MACOSX folder besides. The file of system acts and the lists of
the validation and test dialogues have one of two names each; user acts and spans, where a release has
them, are in data.json.
"""

import contextlib
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from todflow.errors import TodflowError

REMEDY = "take the unmodified release (stage todflow.corpora.fetch)"
SPLITS = ("train", "valid", "test")
DATABASES = ("attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train")
_DATA = "data.json"
_ACTS = ("dialogue_acts.json", "system_acts.json")
_LISTS = {
    "valid": ("valListFile.json", "valListFile.txt"),
    "test": ("testListFile.json", "testListFile.txt"),
}
_NO_ACT = "No Annotation"
_BLANK = re.compile(r"[ \t\r\n]*")
# The taxi_db.json of some zips is a list with keys, which is no JSON.
_TAXI_KEY = re.compile(r'"?(taxi_\w+)"?\s*:\s*')


class Exchange(NamedTuple):
    """A user utterance and the system's answer, as released.

    `metadata` is the belief state of the system turn. `acts` are the system's: act name ("Hotel-Inform")
    -> [[slot, value], ...], {} where the release has none. Spans are [act, slot, value, first, last]
    with token positions; None where the release has no span annotation for the utterance.
    """

    user: str
    response: str
    metadata: dict
    acts: dict[str, list[list[str]]]
    user_spans: list[list] | None
    response_spans: list[list] | None


class Dialogue(NamedTuple):
    """One dialogue: its id without ".json" ("PMUL1234"), the user's goal, and the exchanges."""

    dialogue_id: str
    goal: dict
    exchanges: list[Exchange]


def release_of(archive: str | Path) -> str:
    """Which release an archive holds: multiwoz21 by system_acts.json or a folder with 2.1 in its name,
    else multiwoz20."""
    with _open(archive) as opened:
        members = _members(opened)
        acts = PurePosixPath(_member(archive, members, *_ACTS)).name
        folder = PurePosixPath(_member(archive, members, _DATA)).parent
    corrected = acts == "system_acts.json" or "2.1" in str(folder)
    return "multiwoz21" if corrected else "multiwoz20"


def read_split(archive: str | Path, split: str) -> list[Dialogue]:
    """The dialogues of one split (train, valid or test), in the order of data.json.

    Raises a `TodflowError` that names archive, member, dialogue, turn and field.
    """
    if split not in SPLITS:
        raise TodflowError(f"split {split!r}: none of {', '.join(SPLITS)}; correct it")
    return [dialogue for part, dialogue in read_dialogues(archive) if part == split]


def read_dialogues(archive: str | Path) -> Iterator[tuple[str, Dialogue]]:
    """(split, dialogue) for every dialogue, in the order of data.json.

    data.json is 100 to 300 MB: only its text and one dialogue at a time are held in memory.
    """
    with _open(archive) as opened:
        members = _members(opened)
        list_members = {split: _member(archive, members, *names) for split, names in _LISTS.items()}
        lists = {split: _read_list(archive, opened, name) for split, name in list_members.items()}
        acts_member = _member(archive, members, *_ACTS)
        acts = _parse(archive, acts_member, _text(archive, opened, acts_member))
        data_member = _member(archive, members, _DATA)
        text = _text(archive, opened, data_member)
    where = f"{archive}, {data_member}"
    splits = {name: split for split, names in lists.items() for name in names}
    if len(splits) < sum(map(len, lists.values())):
        twice = sorted(lists["valid"] & lists["test"])[0]
        raise TodflowError(f"{archive}: {twice} is in both list files; {REMEDY}")
    if not isinstance(acts, dict):
        raise TodflowError(f"{archive}, {acts_member}: not an object of dialogues; {REMEDY}")
    seen = set()
    for name, entry in _entries(where, text):
        if name in seen:
            raise TodflowError(f"{where}, dialogue {name}: comes twice; {REMEDY}")
        seen.add(name)
        dialogue_id = name.removesuffix(".json")
        dialogue = _dialogue(
            f"{where}, dialogue {name}",
            dialogue_id,
            entry,
            _Acts(
                f"{archive}, {acts_member}, dialogue {dialogue_id}",
                acts.get(dialogue_id, acts.get(name, {})),
            ),
        )
        yield splits.get(name, "train"), dialogue
    for split, names in lists.items():
        unknown = sorted(names - seen)
        if unknown:
            raise TodflowError(
                f"{archive}, {list_members[split]}: {unknown[0]} is not in {_DATA}; {REMEDY}"
            )


def read_database(archive: str | Path) -> dict[str, list[dict]]:
    """Domain -> list of entities, from the seven `*_db.json`, as released.

    Taxi has no entities: its list holds one object of lists (taxi_colors, taxi_types, taxi_phone).
    """
    result = {}
    with _open(archive) as opened:
        members = _members(opened)
        for domain in DATABASES:
            member = _member(archive, members, f"{domain}_db.json")
            text = _text(archive, opened, member)
            entities = (_taxi if domain == "taxi" else _parse)(archive, member, text)
            if (
                not isinstance(entities, list)
                or not entities
                or not all(isinstance(entity, dict) and entity for entity in entities)
            ):
                raise TodflowError(f"{archive}, {member}: not a list of entities; {REMEDY}")
            result[domain] = entities
    return result


def _taxi(archive: str | Path, member: str, text: str) -> list[dict]:
    decode = json.JSONDecoder().raw_decode
    try:
        return [{key[1]: decode(text, key.end())[0] for key in _TAXI_KEY.finditer(text)}]
    except (ValueError, RecursionError) as error:
        raise TodflowError(f"{archive}, {member}: not JSON ({error}); {REMEDY}") from None


@contextlib.contextmanager
def _open(archive: str | Path) -> Iterator[zipfile.ZipFile]:
    try:
        opened = zipfile.ZipFile(archive)
    except FileNotFoundError:
        raise TodflowError(f"{archive}: no such file; {REMEDY}") from None
    except (zipfile.BadZipFile, OSError) as error:
        raise TodflowError(f"{archive}: not a whole zip file ({error}); {REMEDY}") from None
    with opened:
        yield opened


def _members(opened: zipfile.ZipFile) -> dict[str, list[str]]:
    """Base name -> full names."""
    result: dict[str, list[str]] = {}
    for name in opened.namelist():
        path = PurePosixPath(name)
        if not name.endswith("/") and "__MACOSX" not in path.parts:
            result.setdefault(path.name, []).append(name)
    return result


def _member(archive: str | Path, members: dict[str, list[str]], *names: str) -> str:
    """The full name of the one member that has one of the base names."""
    found = [full for name in names for full in members.get(name, [])]
    if len(found) != 1:
        what = f"{' and '.join(found[:2])} are both there" if found else f"no {' or '.join(names)}"
        raise TodflowError(f"{archive}: {what}; {REMEDY}")
    return found[0]


def _text(archive: str | Path, opened: zipfile.ZipFile, member: str) -> str:
    try:
        return opened.read(member).decode("utf-8-sig")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise TodflowError(
            f"{archive}, {member}: not a whole zip file ({error}); {REMEDY}"
        ) from None
    except UnicodeDecodeError as error:
        raise TodflowError(f"{archive}, {member}: not UTF-8 ({error}); {REMEDY}") from None


def _parse(archive: str | Path, member: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TodflowError(f"{archive}, {member}: not JSON ({error}); {REMEDY}") from None


def _read_list(archive: str | Path, opened: zipfile.ZipFile, member: str) -> set[str]:
    """The dialogue names (with .json) of a list file, one a line."""
    names = _text(archive, opened, member).split()
    if not names or len(set(names)) != len(names):
        wrong = "a name comes twice" if names else "empty"
        raise TodflowError(f"{archive}, {member}: {wrong}; {REMEDY}")
    return set(names)


def _entries(where: str, text: str) -> Iterator[tuple[str, object]]:
    """(name, value) of a JSON object's entries, parsed one by one."""
    decode = json.JSONDecoder().raw_decode

    def skip(position: int, mark: str) -> int:
        position = _BLANK.match(text, position).end()
        if not text.startswith(mark, position):
            raise ValueError(f"'{mark}' is due at character {position}")
        return _BLANK.match(text, position + 1).end()

    try:
        position = skip(0, "{")
        while True:
            name, position = decode(text, position)
            if not isinstance(name, str):
                raise ValueError(f"a name is due before character {position}")
            value, position = decode(text, skip(position, ":"))
            yield name, value
            position = _BLANK.match(text, position).end()
            if text.startswith("}", position):
                return
            position = skip(position, ",")
    except (ValueError, RecursionError) as error:
        raise TodflowError(f"{where}: not JSON ({error}); {REMEDY}") from None


def _kind(where: str, value: object, kind: type):
    """`value` if it has the kind, else an error that names the place."""
    if not isinstance(value, kind):
        found = "missing" if value is None else f"{value!r:.60}"
        raise TodflowError(f"{where}: {found}, not {_KINDS[kind]}; {REMEDY}")
    return value


_KINDS = {str: "text", list: "a list", dict: "an object"}


class _Acts:
    """The system acts of one dialogue; turns that the file lacks have none."""

    def __init__(self, where: str, turns: object):
        self.where, self.turns = where, _kind(where, turns, dict)

    def get(self, turn: int) -> dict[str, list[list[str]]]:
        """The acts of a system turn, counted from 1."""
        acts = self.turns.get(str(turn), _NO_ACT)
        if acts == _NO_ACT:
            return {}
        where = f"{self.where}, turn {turn}"
        for act, pairs in _kind(where, acts, dict).items():
            if "-" not in act:
                raise TodflowError(f"{where}: act {act!r} is not Domain-Act; {REMEDY}")
            for pair in _kind(f"{where}, field {act}", pairs, list):
                if not (
                    isinstance(pair, list)
                    and len(pair) == 2
                    and all(isinstance(part, str) for part in pair)
                ):
                    raise TodflowError(
                        f"{where}, field {act}: {pair!r:.60} is not [slot, value]; {REMEDY}"
                    )
        return acts


def _dialogue(where: str, dialogue_id: str, entry: object, acts: _Acts) -> Dialogue:
    entry = _kind(where, entry, dict)
    log = _kind(f"{where}, field log", entry.get("log"), list)
    if not log or len(log) % 2:
        raise TodflowError(
            f"{where}, field log: {len(log)} turns, where user and system take turns; {REMEDY}"
        )
    goal = _kind(f"{where}, field goal", entry.get("goal"), dict)
    for domain in DATABASES:
        _kind(f"{where}, field goal.{domain}", goal.get(domain, {}), dict)
    exchanges = []
    for index in range(0, len(log), 2):
        user, user_spans, said = _turn(f"{where}, turn {index}", log[index])
        response, response_spans, metadata = _turn(f"{where}, turn {index + 1}", log[index + 1])
        if said:
            raise TodflowError(
                f"{where}, turn {index}, field metadata: not empty in a user turn; {REMEDY}"
            )
        _check_state(f"{where}, turn {index + 1}, field metadata", metadata)
        exchanges.append(
            Exchange(user, response, metadata, acts.get(index // 2 + 1), user_spans, response_spans)
        )
    return Dialogue(dialogue_id, goal, exchanges)


def _turn(where: str, turn: object) -> tuple[str, list[list] | None, dict]:
    """Text, spans and metadata of one turn of the log."""
    turn = _kind(where, turn, dict)
    spans = turn.get("span_info")
    if spans is not None:
        for span in _kind(f"{where}, field span_info", spans, list):
            if not (
                isinstance(span, list)
                and len(span) == 5
                and all(isinstance(part, str) for part in span[:3])
                and all(isinstance(part, int) for part in span[3:])
            ):
                raise TodflowError(
                    f"{where}, field span_info: {span!r:.60} is not [act, slot, value, first, last]"
                    f"; {REMEDY}"
                )
    return (
        _kind(f"{where}, field text", turn.get("text"), str),
        spans,
        _kind(f"{where}, field metadata", turn.get("metadata"), dict),
    )


def _check_state(where: str, metadata: dict) -> None:
    if not metadata:
        raise TodflowError(f"{where}: empty in a system turn; {REMEDY}")
    for domain in dict.fromkeys((*DATABASES, *metadata)):
        parts = _kind(f"{where}.{domain}", metadata.get(domain), dict)
        for part in ("semi", "book"):
            slots = _kind(f"{where}.{domain}.{part}", parts.get(part), dict)
            for slot, value in slots.items():
                kind = list if slot == "booked" else str
                if not isinstance(value, kind):
                    _kind(f"{where}.{domain}.{part}.{slot}", value, kind)
        if "booked" not in parts["book"]:
            raise TodflowError(f"{where}.{domain}.book.booked: missing, not a list; {REMEDY}")
