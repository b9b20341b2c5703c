"""A tiny MultiWOZ split with a database, for tests of the evaluators: two dialogues of two
turns; and the command that scores."""

import json
from pathlib import Path

import pytest

from todflow.cli import main as command
from todflow.corpora.turns import write_turns
from todflow.files import write_json

DATABASE = {
    "attraction": [
        {"id": "1", "name": "broughton house gallery", "area": "centre", "type": "museum"},
        {"id": "2", "name": "adc theatre", "area": "centre", "type": "theatre"},
    ],
    "hotel": [
        {"id": "0", "name": "acorn guest house", "area": "north", "stars": "4", "phone": "01223"},
        {"id": "1", "name": "gonville hotel", "area": "centre", "stars": "3", "phone": "?"},
        {"id": "2", "name": "ashley hotel", "area": "north", "stars": "2", "phone": "01224"},
    ],
    "restaurant": [
        {"id": "7", "name": "nandos", "area": "south", "food": "portuguese"},
        {"id": "8", "name": "taj tandoori", "area": "south", "food": "indian"},
    ],
    "train": [
        {"trainID": "TR1", "departure": "cambridge", "arriveBy": "10:07", "leaveAt": "09:00"},
        {"trainID": "TR1", "departure": "cambridge", "arriveBy": "12:07", "leaveAt": "11:00"},
        {"trainID": "TR2", "departure": "ely", "arriveBy": "10:30", "leaveAt": "10:00"},
    ],
    "hospital": [{"id": 1, "department": "neurology", "phone": "01223"}],
    "police": [{"id": 1, "name": "Parkside", "phone": "01223"}],
    "taxi": [{"taxi_colors": ["red"]}],
}

HOTEL = {"hotel": {"info": {"area": "north"}, "reqt": ["phone"], "book": {"day": "monday"}}}
TRAIN = {"train": {"info": {"departure": "cambridge", "arriveBy": "11:00"}, "reqt": ["trainID"]}}


def _turn(dialogue: str, turn: int, goal: dict, response: str, reference: str, **cells) -> dict:
    state = cells.get("state", {})
    return {
        "dataset": cells.get("dataset", "multiwoz21"),
        "split": "test",
        "dialogue_id": dialogue,
        "turn": turn,
        "user": "hi",
        "response": response,
        "response_delex": response,
        "state_span": "",
        "act_span": cells.get("acts", ""),
        "state": json.dumps(state),
        "acts": "[]",
        "domain": " ".join(goal),
        "goal": json.dumps(goal),
        "act_source": "gold",
        "booked": json.dumps(cells.get("booked", [])),
        "pointer": "0,0,0,0,0,0",
        "reference": reference,
        "annotated_state": json.dumps(state),
    }


def rows(dataset: str = "multiwoz21") -> list[dict]:
    north = {"hotel": {"area": "north"}}
    train = {"train": {"departure": "cambridge", "arrive": "11:00"}}
    return [
        _turn(
            "sng0001", 0, HOTEL, "the [value_name] ?", "the [name] , right ?", dataset=dataset,
            state=north, acts="[hotel] [recommend] name",
        ),
        _turn(
            "sng0001", 1, HOTEL, "[value_phone] , [value_reference]", "[phone] [reference]",
            dataset=dataset, state=north, acts="[hotel] [inform] phone", booked=["hotel"],
        ),
        _turn(
            "mul0002", 0, TRAIN, "[value_id] it is", "[trainid] it is", dataset=dataset,
            state=train, acts="[train] [inform] id",
        ),
        _turn("mul0002", 1, TRAIN, "bye", "goodbye", dataset=dataset, state=train),
    ]  # fmt: skip


def right_answers() -> dict[str, list[dict]]:
    """What a system would say that does everything right, in mwzeval's layout."""
    return {
        "sng0001": [
            {"response": "the [value_name] ?", "state": {"hotel": {"area": "north"}}},
            {
                "response": "[value_phone] , [value_reference]",
                "state": {"hotel": {"area": "north"}},
            },
        ],
        "mul0002": [
            {
                "response": "[value_id] it is",
                "state": {"train": {"departure": "cambridge", "arriveBy": "11:00"}},
            },
            {
                "response": "bye",
                "state": {"train": {"departure": "cambridge", "arriveBy": "11:00"}},
            },
        ],
    }


def write_corpus(folder: Path, dataset: str = "multiwoz21") -> Path:
    """The split as the workflow prepares one: test.parquet and database.json in a folder."""
    write_turns(folder / "test.parquet", rows(dataset))
    write_json(folder / "database.json", DATABASE)
    return folder


@pytest.fixture
def corpus(tmp_path):
    return write_corpus(tmp_path / "corpus")


@pytest.fixture
def run(tmp_path, corpus, capsys):
    """Run the command on answers, or on a file of them: (what is printed, the written figures)."""

    def call(answers, *options, samples=20):
        path = answers
        if isinstance(answers, dict):
            path = tmp_path / "p.json"
            path.write_text(json.dumps(answers))
        out = tmp_path / "out.json"
        data = () if "--data" in options else ("--data", str(corpus))
        command(
            ["score", "multiwoz", "--predictions", str(path), *data, *options]
            + ["--samples", str(samples), "--out", str(out)]
        )
        return capsys.readouterr().out, json.loads(out.read_text())

    return call


@pytest.fixture
def refuse(run, capsys):
    def call(answers, *options, **settings):
        with pytest.raises(SystemExit) as ended:
            run(answers, *options, **settings)
        assert ended.value.code == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    return call
