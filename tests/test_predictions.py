import gzip
import json

import pandas as pd
import pytest

from todflow.errors import TodflowError
from todflow.metrics.sequicity import BagTurn
from todflow.predictions import Answer, read_predictions, read_sequicity

ROW = {"dialogue_id": "a", "turn": 0, "state_span": "s", "act_span": "", "response": "r"}


def table(path, rows):
    pd.DataFrame(rows).astype({"turn": "int32"}).to_parquet(path)
    return path


def test_table(tmp_path):
    path = table(tmp_path / "p.parquet", [ROW, ROW | {"turn": 1}, ROW | {"dialogue_id": "b"}])
    answer = Answer("s", "", "r")
    assert read_predictions(path) == {"a": [answer, answer], "b": [answer]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ROW, ROW | {"turn": 2}], "dialogue a, turn 2: turn 1 is due"),
        ([ROW | {"response": None}], "dialogue a, turn 0, field response: .*not text"),
        ([{"dialogue_id": "a", "turn": 0}], "column 'state_span' is missing"),
    ],
)
def test_bad_table(tmp_path, rows, message):
    with pytest.raises(TodflowError, match=rf"p\.parquet.*{message}"):
        read_predictions(table(tmp_path / "p.parquet", rows))


def test_unreadable_files(tmp_path):
    for name in ("none.parquet", "none.json"):
        with pytest.raises(TodflowError, match="no such file"):
            read_predictions(tmp_path / name)
    for name, message in {
        "bad.parquet": "not a parquet file",
        "bad.json": "not JSON",
        "bad.json.gz": "not readable",
        "bad.txt": "not a kind of predictions",
    }.items():
        (tmp_path / name).write_text("no such thing")
        with pytest.raises(TodflowError, match=message):
            read_predictions(tmp_path / name)


TURNS = [{"state": {"time": "7pm"}, "response": "r"}, {"state_span": "s", "response": ""}]


def test_json_plain_and_gzip(tmp_path):
    text = json.dumps({"a": TURNS})
    (tmp_path / "p.json").write_text(text)
    (tmp_path / "p.json.gz").write_bytes(gzip.compress(text.encode()))
    expected = {"a": [Answer({"time": "7pm"}, "", "r"), Answer("s", "", "")]}
    assert read_predictions(tmp_path / "p.json") == expected
    assert read_predictions(tmp_path / "p.json.gz") == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "not an object"),
        ({"a": {}}, "dialogue a: not a list of turns"),
        ({"a": ["r"]}, "dialogue a, turn 0: not an object"),
        ({"a": TURNS + [{"state": {}}]}, "dialogue a, turn 2, field response: missing; give text"),
        ({"a": [{"response": "r"}]}, "turn 0, field state: give one of"),
        ({"a": [{"response": "r", "state": {}, "state_span": ""}]}, "field state: give one of"),
        ({"a": [{"response": 3, "state": {}}]}, "field response: 3, not text"),
        ({"a": [{"response": "r", "state": {"time": 7}}]}, "field state.time: 7, not text"),
        ({"a": [{"response": "r", "state": []}]}, r"field state: \[\]; give {slot: value}"),
        ({"a": [{"response": "r", "state": "7pm"}]}, "field state: '7pm'; .*or use state_span"),
        ({"a": [{"response": "r", "state_span": None}]}, "field state_span: None, not text"),
        ({"a": [{"response": "r", "state": {}, "act_span": 1}]}, "field act_span: 1, not text"),
        (
            {"a": [TURNS[0] | {"respones": "r"}]},
            "dialogue a, turn 0, field respones: unknown, the nearest known one is response;",
        ),
        ({"a": [TURNS[0] | {"x\ny": 1}]}, r"field 'x\\ny': unknown"),
        ({"a\nb": [{}]}, r"dialogue 'a\\nb', turn 0, field state"),
        ({"a\nb": 1}, r"dialogue 'a\\nb': not a list"),
        ({"a": [{"response": "r", "state": {"x\ny": 7}}]}, r"field state\.'x\\ny': 7, not text"),
    ],
)
def test_bad_json_names_dialogue_turn_and_field(tmp_path, data, message):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(data))
    with pytest.raises(TodflowError, match=rf"p\.json.*{message}") as raised:
        read_predictions(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [], "b": [], "a": []}', "dialogue a: given twice"),
        (
            '{"a": [{"state": {}, "response": "r", "response": "s"}]}',
            "dialogue a, turn 0, field response: given twice",
        ),
        (
            '{"a": [{"state": {"time": "1", "time": "2"}, "response": "r"}]}',
            "dialogue a, turn 0, field state.time: given twice",
        ),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
    ],
)
def test_json_that_only_text_can_hold(tmp_path, text, message):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(TodflowError, match=rf"p\.json.*{message}") as raised:
        read_predictions(path)
    assert "\n" not in str(raised.value)


def test_json_at_every_depth_is_refused_in_one_line(tmp_path):
    """Some depths can just be read, but no longer be shown."""
    path = tmp_path / "p.json"
    for depth in range(500, 1000, 3):
        path.write_text('{"a": [{"response": "r", "state": %s1%s}]}' % ("[" * depth, "]" * depth))
        with pytest.raises(TodflowError, match="nested too deeply|field state: "):
            read_predictions(path)


def test_flipped_bytes_of_gzip(tmp_path):
    path = tmp_path / "p.json.gz"
    content = gzip.compress(json.dumps({f"d{n}": TURNS for n in range(50)}).encode(), mtime=0)
    refused = 0
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            read_predictions(path)
        except TodflowError as error:
            assert "p.json.gz: not readable as text (" in str(error) and "\n" not in str(error)
            refused += 1
    # Time and operating system of the header may hold anything.
    assert refused >= len(content) - 6


HEAD = "seed : 0\nSTART_CSV_SECTION\n"
COLUMNS = "dial_id,turn_num,user,generated_bspan,bspan,generated_response,response\n"


def test_sequicity(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(HEAD + COLUMNS + '2,0,u,a,b,"c, c",d\n1,0,u,e,f,g,h\n2,1,u,i,j,k,l\n')
    assert read_sequicity(path) == [
        (1, [BagTurn("f", "h")], [BagTurn("e", "g")]),
        (2, [BagTurn("b", "d"), BagTurn("j", "l")], [BagTurn("a", "c, c"), BagTurn("i", "k")]),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "no line START_CSV_SECTION"),
        (HEAD + "dial_id,turn_num\n1,0\n", "column 'generated_bspan' is missing"),
        (HEAD + COLUMNS + "1,0,u,a,b,c\n", "dialogue 1, turn 0, field response: missing"),
        (HEAD + COLUMNS + "x,0,u,a,b,c,d\n", "dialogue x, turn 0, field dial_id: not a number"),
        (HEAD + COLUMNS + "1,x,u,a,b,c,d\n", "dialogue 1, turn x, field turn_num: not a number"),
        (HEAD + COLUMNS + '"x\ny",0,u,a,b,c,d\n', r"dialogue 'x\\ny', turn 0, field dial_id"),
        (
            HEAD + COLUMNS + f"1,0,u,a,b,c,d\n1,1,u,{'a' * 131_073},b,c,d\n",
            r"dialogue 1, turn 0: no CSV after this \(field larger",
        ),
        (HEAD + "a" * 131_073 + COLUMNS, r"no CSV after this \(field larger"),
        (HEAD + COLUMNS + "1,1,u,a,b,c,d\n", "dialogue 1, turn 1, field turn_num: turn 0 is due"),
    ],
)
def test_bad_sequicity(tmp_path, text, message):
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(TodflowError, match=rf"r\.csv.*{message}"):
        read_sequicity(path)
