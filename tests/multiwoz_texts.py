"""Real exchanges of MultiWOZ and what DAMD's code made of their texts; read once a session."""

import gzip
import json
import zipfile
from functools import cache
from pathlib import Path

from todflow.corpora.multiwoz.delexicalise import ValueIndex
from todflow.corpora.multiwoz.release import Exchange, read_database, read_dialogues


def archive(mirror: Path, release: str) -> Path:
    return mirror / "multiwoz" / "official-layout" / f"MULTIWOZ{release}.zip"


@cache
def exchanges(mirror: Path, release: str) -> dict[str, list[tuple[str, int, Exchange]]]:
    """Dialogue (lower case), turn and exchange by split. Metadata is left out, to save memory."""
    result: dict[str, list[tuple[str, int, Exchange]]] = {"train": [], "valid": [], "test": []}
    for split, dialogue in read_dialogues(archive(mirror, release)):
        name = dialogue.dialogue_id.lower()
        result[split] += [
            (name, turn, exchange._replace(metadata={}))
            for turn, exchange in enumerate(dialogue.exchanges)
        ]
    return result


@cache
def damd_100(mirror: Path) -> list[tuple[Exchange, dict, dict, dict]]:
    """Of 100 dialogues of 2.0: the exchange, the same turns in tokens and with spans (user, system),
    and what MinTL's edition of DAMD's code made of them."""
    with zipfile.ZipFile(mirror / "multiwoz" / "damd_reference_100.zip") as opened:
        raw = json.loads(opened.read("woz_100.json"))
        expected = json.loads(opened.read("data_for_damd.json"))
    found = {
        (dialogue, turn): exchange
        for split in exchanges(mirror, "2.0").values()
        for dialogue, turn, exchange in split
    }
    return [
        (found[name.lower(), turn], *entry["log"][2 * turn : 2 * turn + 2], theirs)
        for name, entry in raw.items()
        for turn, theirs in enumerate(expected[name.lower()]["log"])
    ]


@cache
def values(mirror: Path) -> ValueIndex:
    return ValueIndex(read_database(archive(mirror, "2.1")))


@cache
def damd(oracles: Path, release: str) -> dict[tuple[str, int], dict]:
    """`user` and `resp` of the test split by DAMD's code, by dialogue and turn."""
    path = {
        "2.1": "preproc/damd_code_on_mwz21_test.jsonl.gz",
        "2.0": "legacy/damd20_test_turns.jsonl.gz",
    }[release]
    lines = gzip.decompress((oracles / "mwz" / path).read_bytes()).splitlines()
    turns = [json.loads(line) for line in lines]
    return {(turn["dialogue"], turn["turn"]): turn for turn in turns}


def one_space(text: str) -> str:
    """DAMD leaves two spaces where it replaced a slash or a quotation mark; we don't."""
    return " ".join(text.split())
