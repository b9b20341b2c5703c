"""Scores while training are those of the evaluators."""

import json

import pandas as pd
import pytest

from todflow.errors import TodflowError
from todflow.seq2seq import train_multiwoz, validate

DATABASE = {
    "attraction": [],
    "hospital": [],
    "hotel": [{"name": "acorn guest house", "area": "north", "phone": "01"}],
    "police": [],
    "restaurant": [],
    "taxi": [{}],
    "train": [],
}


def _turn(turn: int, response: str, state: str) -> dict:
    return {
        "dataset": "multiwoz20",
        "dialogue_id": "sng1",
        "turn": turn,
        "response_delex": response,
        "state_span": state,
        "act_span": "",
        "state": json.dumps({"hotel": {"area": "north"}}),
        "domain": "hotel",
        "goal": json.dumps({"hotel": {"info": {"area": "north"}, "reqt": ["phone"]}}),
        "booked": "[]",
        "annotated_state": "{}",
        "pointer": "0,0,0,0,0,0",
        "reference": "",
    }


@pytest.fixture
def table():
    north = "[hotel] area north"
    return pd.DataFrame(
        [_turn(0, "how about [value_name] ?", north), _turn(1, "its number is [value_phone] .", north)]
    )


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "database.json"
    path.write_text(json.dumps(DATABASE))
    return path


def test_multiwoz(table, database):
    score = train_multiwoz.scorer("legacy-pred", table, database)
    said = table.rename(columns={"response_delex": "response"})
    found = score(said)
    assert {name: round(value, 2) for name, value in found.items()} == {
        "inform": 100.0, "success": 100.0, "bleu": 100.0, "combined": 200.0,
    }  # fmt: skip
    elsewhere = score(said.assign(state_span="[hotel] area south"))
    assert (elsewhere["inform"], elsewhere["success"]) == (0.0, 0.0)
    mute = score(said.assign(response=["how about [value_name] ?", "no"]))
    assert (mute["inform"], mute["success"]) == (100.0, 0.0)
    assert mute["combined"] == pytest.approx(50 + mute["bleu"])


def test_refusals(table, database):
    with pytest.raises(TodflowError, match="'evaluator': 'standard-v1' is none of legacy-pred, "):
        train_multiwoz.scorer("standard-v1", table, database)
    with pytest.raises(TodflowError, match="--entities: incar-galaxy needs the entity map"):
        validate.scorer("incar-galaxy", table, None)
    with pytest.raises(TodflowError, match="'evaluator': 'legacy-pred' is none of incar-galaxy"):
        validate.scorer("legacy-pred", table, None)
