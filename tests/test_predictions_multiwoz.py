"""Reading predictions in the standard evaluator's layout."""

import gzip
import json

import pandas as pd
import pytest
from multiwoz_scoring import write_corpus

from todflow.errors import TodflowError
from todflow.predictions_multiwoz import SystemTurn, read_answers, select


def write(path, data):
    text = data if isinstance(data, str) else json.dumps(data)
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


TURN = {"response": "hi", "state": {"hotel": {"area": "north"}}}


@pytest.mark.parametrize("name", ["p.json", "p.json.gz"])
def test_reads_plain_and_gzip(tmp_path, name):
    turn = {**TURN, "active_domains": ["hotel"], "act_span": "[hotel] [inform] area", "id": 3}
    answers = read_answers(write(tmp_path / name, {"PMUL1234.json": [turn, {"response": "bye"}]}))
    assert answers.dialogues == {
        "pmul1234": [
            SystemTurn("hi", TURN["state"], ("hotel",), "[hotel] [inform] area"),
            SystemTurn("bye"),
        ]
    }
    assert answers.ignored == {"id": 1}


def test_state_spans_stand_for_states(tmp_path):
    data = {"SNG01": [{"response": "", "state_span": "[hotel] area north"}]}
    answers = read_answers(write(tmp_path / "p.json", data))
    assert answers.dialogues == {"sng01": [SystemTurn("", {"hotel": {"area": "north"}})]}


def test_reads_our_tables(tmp_path):
    table = {
        "dialogue_id": ["sng01"],
        "turn": [0],
        "state_span": ["[train] leave 09:00 people 3"],
        "act_span": ["[train] [inform] id"],
        "response": ["[value_id]"],
    }
    pd.DataFrame(table).to_parquet(tmp_path / "p.parquet")
    state = {"train": {"leave": "09:00", "people": "3"}}
    assert read_answers(tmp_path / "p.parquet").dialogues == {
        "sng01": [SystemTurn("[value_id]", state, None, "[train] [inform] id")]
    }


def test_our_corpus_is_no_prediction(tmp_path):
    folder = write_corpus(tmp_path)
    with pytest.raises(TodflowError, match="test.parquet: the corpus itself, as its column 'respo"):
        read_answers(folder / "test.parquet")


def test_fields_that_are_nearly_known_ones_are_told_beside_those(tmp_path):
    turn = {**TURN, "response_gt": "x", "states": {}, "state_spans": "", "active_domains": []}
    ignored = {"response_gt": 1, "state_spans": 1, "states": 1}
    assert read_answers(write(tmp_path / "p.json", {"a": [turn]})).ignored == ignored
    with pytest.raises(TodflowError, match="turn 1, field response_gt: unknown, but like response"):
        read_answers(write(tmp_path / "p.json", {"a": [turn, {"response_gt": "x"}]}))


def test_ignored_fields_have_printable_names(tmp_path):
    turn = {"response": "", "\ud800zz": 1, "a\nb": 1, "z" * 5000: 1}
    assert read_answers(write(tmp_path / "p.json", {"a": [turn]})).ignored == {
        "'\\ud800zz'": 1, "'a\\nb'": 1, "z" * 60: 1,
    }  # fmt: skip


def test_the_mark_of_utf8_is_no_text(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"a": [TURN]}), encoding="utf-8-sig")
    assert read_answers(tmp_path / "p.json").dialogues == {"a": [SystemTurn("hi", TURN["state"])]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("[1", "p.json: not JSON (Expecting ',' delimiter: line 1 column 3 (char 2)); write"),
        ([TURN], "p.json: not an object; give {dialogue_id:"),
        ({}, "p.json: no turns; give"),
        ({"a": []}, "p.json: no turns; give"),
        ("[" * 100_000, "p.json: nested too deeply; give"),
        ({"a": {"0": TURN}}, "dialogue a: not a list of turns; give"),
        ({"a": [TURN], "A.json": [TURN]}, "dialogue A.json: the same as a; give"),
        ({"A.JSON": [TURN], "a": [TURN]}, "dialogue a: the same as A.JSON; give"),
        ('{"a": [], "a": []}', "dialogue a: given twice; give"),
        ({"a": [TURN, "hi"]}, "dialogue a, turn 1: not an object; give"),
        ({"a": [{"state": {}}]}, "dialogue a, turn 0, field response: missing; give text"),
        ({"a": [{"response": None}]}, "turn 0, field response: None, not text; give text"),
        ({"a": [{**TURN, "act_span": []}]}, "turn 0, field act_span: [], not text; give text"),
        ({"a": [{**TURN, "state": None}]}, "field state: null; leave it out, or give {domain:"),
        ({"a": [{**TURN, "state": {"hotel": "x"}}]}, "field state.hotel: 'x'; give {slot: value}"),
        (
            {"a": [{**TURN, "state": {"hotel": {"stars": 4}}}]},
            "dialogue a, turn 0, field state.hotel.stars: 4, not text; give text",
        ),
        (
            '{"a": [{"response": "", "state": {"hotel": {"x": "1", "x": "2"}}}]}',
            "turn 0, field state.hotel.x: given twice; give it once",
        ),
        ('{"a": [{"response": "", "response": ""}]}', "field response: given twice; give it once"),
        ({"a": [{**TURN, "state_span": ""}]}, "field state: give one of state and state_span"),
        ({"a": [{"response": "", "states": {}}]}, "field states: unknown, but like state; correct"),
        (
            {"a": [{"response": "", "active_domain": []}]},
            "field active_domain: unknown, but like active_domains; correct it",
        ),
        ({"a": [{**TURN, "active_domains": "hotel"}]}, "active_domains: 'hotel'; give a list"),
        ({"a": [{**TURN, "active_domains": [None]}]}, "field active_domains: [None]; give a list"),
        ({"a\nb": ["hi"]}, "dialogue 'a\\nb', turn 0: not an object; give"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(tmp_path, data, message):
    path = write(tmp_path / "p.json", data)
    with pytest.raises(TodflowError) as refused:
        read_answers(path)
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(TodflowError, match="p.json: no such file"):
        read_answers(tmp_path / "p.json")
    with pytest.raises(TodflowError, match="p.csv: not a kind of predictions"):
        read_answers(tmp_path / "p.csv")
    (tmp_path / "p.json.gz").write_bytes(b"no gzip")
    with pytest.raises(TodflowError, match="p.json.gz: not readable as text"):
        read_answers(tmp_path / "p.json.gz")


def test_selecting_dialogues(tmp_path):
    turn = SystemTurn("hi")
    answers = {"b": [turn], "a": [turn, turn]}
    expected = {"a": 2, "b": 1, "c": 4}
    chosen, uneven = select(answers, expected, tmp_path)
    assert list(chosen.items()) == [("a", [turn, turn]), ("b", [turn])]
    assert uneven == {}


def test_uneven_dialogues_are_scored_only_when_that_is_wanted(tmp_path):
    turn = SystemTurn("hi")
    answers = {"a": [turn], "b": [turn, SystemTurn("more")]}
    expected = {"b": 1, "a": 2}
    with pytest.raises(TodflowError) as refused:
        select(answers, expected, tmp_path)
    assert "dialogue b: 2 turns where the split has 1 (and 1 more dialogues); give" in str(
        refused.value
    )
    assert "--allow-partial" in str(refused.value)
    assert select(answers, expected, tmp_path, partial=True) == (
        {"b": [turn], "a": [turn]},
        {"b": (2, 1), "a": (1, 2)},
    )


def test_unknown_dialogues_are_refused_even_then(tmp_path):
    with pytest.raises(TodflowError, match="dialogues not of this split: w, x, y and 1 more; give"):
        select({name: [] for name in "zyxwa"}, {"a": 0}, tmp_path, partial=True)
    with pytest.raises(TodflowError, match="no dialogues"):
        select({}, {"a": 1}, tmp_path)
