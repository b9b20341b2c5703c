"""Miniature MultiWOZ archives in the layouts of the releases."""

import gzip
import json
import zipfile
from pathlib import Path

DOMAINS = ("taxi", "police", "restaurant", "bus", "hospital", "hotel", "attraction", "train")
SEMI = {
    "restaurant": ("food", "pricerange", "name", "area"),
    "hotel": ("name", "area", "parking", "pricerange", "stars", "internet", "type"),
    "attraction": ("type", "name", "area"),
    "train": ("leaveAt", "destination", "day", "arriveBy", "departure"),
    "taxi": ("leaveAt", "destination", "departure", "arriveBy"),
}
BOOK = {"restaurant": ("time", "day", "people"), "hotel": ("stay", "day", "people")}

DATABASE = {
    "attraction": [{"name": "all saints church", "area": "centre", "type": "architecture"}],
    "hospital": [{"department": "neurology", "phone": "01223"}],
    "hotel": [
        {"name": "gonville hotel", "area": "centre", "stars": "3", "type": "hotel"},
        {"name": "acorn guest house", "area": "north", "stars": "4", "type": "guesthouse"},
    ],
    "police": [{"name": "Parkside Police Station", "phone": "01223358966"}],
    "restaurant": [{"name": "nandos", "area": "south", "food": "portuguese"}],
    "train": [
        {"trainID": "TR0001", "departure": "cambridge", "arriveBy": "10:07", "price": "9 pounds"}
    ],
}
TAXI = {"taxi_colors": ["red"], "taxi_types": ["skoda"], "taxi_phone": ["^[0-9]{10}$"]}


def metadata(booked: str = "", **filled: dict[str, str]) -> dict:
    """A belief state as released; `filled`: domain -> slot -> value."""
    return {
        domain: {
            "book": {"booked": [{"reference": "AB12"}] if domain == booked else []}
            | {slot: filled.get(domain, {}).get(slot, "") for slot in BOOK.get(domain, ())},
            "semi": {slot: filled.get(domain, {}).get(slot, "") for slot in SEMI.get(domain, ())},
        }
        for domain in DOMAINS
    }


def goal(**domains: dict) -> dict:
    return {domain: domains.get(domain, {}) for domain in DOMAINS if domain != "bus"} | {
        "message": ["You want things."]
    }


def log(*exchanges: tuple[str, str, dict]) -> list[dict]:
    """Turns of (user, system, metadata), ..."""
    return [
        turn
        for user, system, state in exchanges
        for turn in ({"text": user, "metadata": {}}, {"text": system, "metadata": state})
    ]


def content() -> dict[str, object]:
    """What the members of a release of four dialogues hold, by base name, in the layout of 2.0."""
    hotel = {"hotel": {"area": "north", "type": "guesthouse"}}
    data = {
        "SNG0001.json": {
            "goal": goal(
                hotel={"info": {"area": "north"}, "reqt": ["phone"], "book": {"day": "monday"}}
            ),
            "log": log(
                ("A guesthouse in the north.", "The Acorn Guest House?", metadata(**hotel)),
                ("Book it.", "Done: AB12.", metadata("hotel", **hotel)),
            ),
        },
        "PMUL0002.json": {
            "goal": goal(restaurant={"info": {"area": "south"}}),
            "log": log(("Nandos?", "It's in the south.", metadata(restaurant={"name": "nandos"}))),
        },
        "MUL0003.json": {
            "goal": goal(train={"info": {"departure": "cambridge"}}),
            "log": log(
                ("Hi", "TR0001 leaves from Cambridge.", metadata(train={"departure": "cambridge"}))
            ),
        },
        "MUL0004.json": {
            "goal": goal(attraction={"info": {"area": "centre"}}),
            "log": log(("Hi", "Hello!", metadata(attraction={"area": "centre"}))),
        },
    }
    acts = {
        "SNG0001": {
            "1": {"Hotel-Recommend": [["Name", "Acorn Guest House"]]},
            "2": {"Booking-Book": [["Ref", "AB12"]]},
        },
        "PMUL0002": {"1": {"Restaurant-Inform": [["Area", "south"]]}},
        "MUL0003": {"1": {"Train-Inform": [["Id", "TR0001"], ["Depart", "Cambridge"]]}},
        "MUL0004": {"1": "No Annotation"},
    }
    return {
        "data.json": data,
        "dialogue_acts.json": acts,
        "valListFile.json": "PMUL0002.json\n",
        "testListFile.json": "MUL0004.json\nMUL0003.json\n",
        "ontology.json": {},
        "taxi_db.json": [TAXI],
    } | {f"{domain}_db.json": entities for domain, entities in DATABASE.items()}


def content21() -> dict[str, object]:
    """The same in the layout of 2.1: other names of members, acts and spans in data.json."""
    members = content()
    for old, new in (
        ("dialogue_acts.json", "system_acts.json"),
        ("valListFile.json", "valListFile.txt"),
        ("testListFile.json", "testListFile.txt"),
    ):
        members[new] = members.pop(old)
    for name, dialogue in members["data.json"].items():
        acts = members["system_acts.json"][name.removesuffix(".json")]
        for index, turn in enumerate(dialogue["log"]):
            said = acts[str(index // 2 + 1)] if index % 2 else {"Hotel-Inform": [["Area", "north"]]}
            turn["dialog_act"] = said if isinstance(said, dict) else {}
    turns = members["data.json"]["MUL0003.json"]["log"]
    turns[0]["span_info"] = []
    turns[1]["span_info"] = [
        ["Train-Inform", "Id", "TR0001", 0, 0],
        ["Train-Inform", "Depart", "Cambridge", 3, 3],
    ]
    return members


def write_archive(path: Path, members: dict[str, object], folder: str = "MULTIWOZ2 2/") -> Path:
    """A zip with the members in `folder`; text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if folder:
            archive.writestr(folder, "")
        for name, member in members.items():
            text = member if isinstance(member, str) else json.dumps(member, indent=2)
            archive.writestr(folder + name, text)
        archive.writestr(f"__MACOSX/{folder}._data.json", "rubbish")
        archive.writestr(f"__MACOSX/{folder}data.json", "rubbish")
    return path


def write_sources(path: Path, turns: dict[str, list[tuple[str, str]]]) -> Path:
    """A table of who annotated the acts: dialogue id -> (source in 2.0, source in 2.1) of its turns."""
    lines = ["dialogue\tturn\tsource_2.0\tsource_2.1\tmethod"]
    for name, pairs in turns.items():
        lines += [f"{name}.json\t{turn}\t{old}\t{new}\tx" for turn, (old, new) in enumerate(pairs, 1)]
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return path
