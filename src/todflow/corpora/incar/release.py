"""Reading the public release, kvret_dataset_public.zip, with a check of every field that is
used."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from todflow.corpora.incar import INFORMABLE
from todflow.errors import TodflowError

MEMBERS = {
    "train": "kvret_train_public.json",
    "valid": "kvret_dev_public.json",
    "test": "kvret_test_public.json",
}
ENTITIES = "kvret_entities.json"
REMEDY = "take the unmodified release (stage todflow.corpora.fetch)"


@dataclass(frozen=True)
class Utterance:
    """One utterance; `slots` is the assistant's annotation ({} for the driver)."""

    driver: bool
    text: str
    slots: dict[str, str]


@dataclass(frozen=True)
class Dialogue:
    """One dialogue: the release's uuid, its intent (a key of INFORMABLE) and its utterances."""

    id: str
    intent: str
    utterances: list[Utterance]


def read_member(archive: str | Path, member: str) -> object:
    """The parsed JSON of one member of the archive."""
    try:
        with zipfile.ZipFile(archive) as opened:
            return json.loads(opened.read(member))
    except FileNotFoundError:
        raise TodflowError(f"{archive}: no such file; {REMEDY}") from None
    except KeyError:
        raise TodflowError(f"{archive}: no member {member}; {REMEDY}") from None
    except (zipfile.BadZipFile, OSError) as error:
        raise TodflowError(
            f"{archive}, {member}: not a whole zip file ({error}); {REMEDY}"
        ) from None
    except ValueError as error:
        raise TodflowError(f"{archive}, {member}: not JSON ({error}); {REMEDY}") from None


def read_entities(archive: str | Path) -> dict:
    """The parsed kvret_entities.json, checked: slot -> list of text, numbers, or objects of
    text."""
    entities = read_member(archive, ENTITIES)
    where = f"{archive}, {ENTITIES}"
    if not isinstance(entities, dict):
        raise TodflowError(f"{where}: not an object of slots; {REMEDY}")
    for slot, values in entities.items():
        if not isinstance(values, list):
            raise TodflowError(f"{where}, field {slot}: not a list; {REMEDY}")
        for index, value in enumerate(values):
            parts = value.values() if isinstance(value, dict) else [value]
            if not all(isinstance(part, (str, int)) and str(part).strip() for part in parts):
                raise TodflowError(f"{where}, field {slot}, value {index}: {value!r}; {REMEDY}")
    return entities


def read_dialogues(archive: str | Path, member: str) -> list[Dialogue]:
    """The dialogues of one member, in file order.

    Raises a `TodflowError` that names archive, member, dialogue index and field.
    """
    data = read_member(archive, member)
    if not isinstance(data, list):
        raise TodflowError(f"{archive}, {member}: not a list of dialogues; {REMEDY}")
    dialogues = [
        _dialogue(_Fields(entry, f"{archive}, {member}, dialogue {index}"))
        for index, entry in enumerate(data)
    ]
    seen = set()
    for index, dialogue in enumerate(dialogues):
        if dialogue.id in seen:
            raise TodflowError(
                f"{archive}, {member}, dialogue {index}, field scenario.uuid: {dialogue.id!r} is "
                f"used before; {REMEDY}"
            )
        seen.add(dialogue.id)
    return dialogues


class _Fields:
    """A JSON object with typed access to its fields, whose errors say where."""

    def __init__(self, entry: object, where: str):
        self.entry, self.where = entry, where

    def get(self, path: str, kind: type):
        value = self.entry
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, kind):
            found = "missing" if value is None else f"{value!r:.60}"
            raise TodflowError(f"{self.where}, field {path}: {found}, not {_KINDS[kind]}; {REMEDY}")
        return value


_KINDS = {str: "text", list: "a list", dict: "an object"}


def _dialogue(fields: _Fields) -> Dialogue:
    intent = fields.get("scenario.task.intent", str)
    if intent not in INFORMABLE:
        raise TodflowError(
            f"{fields.where}, field scenario.task.intent: {intent!r} is none of "
            f"{', '.join(INFORMABLE)}; {REMEDY}"
        )
    utterances = [
        _utterance(_Fields(entry, f"{fields.where}, utterance {index}"))
        for index, entry in enumerate(fields.get("dialogue", list))
    ]
    return Dialogue(fields.get("scenario.uuid", str), intent, utterances)


def _utterance(fields: _Fields) -> Utterance:
    speaker = fields.get("turn", str)
    if speaker not in ("driver", "assistant"):
        raise TodflowError(
            f"{fields.where}, field turn: {speaker!r} is neither driver nor assistant; {REMEDY}"
        )
    slots = fields.get("data.slots", dict) if speaker == "assistant" else {}
    for slot, value in slots.items():
        if not isinstance(value, str):
            raise TodflowError(
                f"{fields.where}, field data.slots.{slot}: {value!r:.60}, not text; {REMEDY}"
            )
    return Utterance(speaker == "driver", fields.get("data.utterance", str), slots)
