import pandas as pd
import pytest

from todflow.corpora.turns import COLUMNS, check_turns, read_turns, write_turns
from todflow.errors import TodflowError


def row(dialogue: str, turn: int, **changed) -> dict:
    texts = dict.fromkeys(COLUMNS, "") | {"dataset": "incar", "split": "test", "acts": "[]"}
    return texts | {"dialogue_id": dialogue, "turn": turn, "state": "{}", "goal": "{}"} | changed


ROWS = [row("a", 0, user="hi"), row("a", 1, state='{"navigate": {"poi_type": "gas"}}'), row("b", 0)]


def test_round_trip_and_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_turns(tmp_path / f"{name}.parquet", ROWS)
    table = read_turns(tmp_path / "one.parquet")
    assert list(table.columns) == list(COLUMNS)
    assert table["turn"].dtype == "int32"
    assert table.to_dict("records") == ROWS
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_missing_column_is_named(tmp_path):
    pd.DataFrame(ROWS).drop(columns="goal").to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TodflowError, match=r"t\.parquet: column 'goal' is missing"):
        read_turns(tmp_path / "t.parquet")


def test_unreadable_files(tmp_path):
    with pytest.raises(TodflowError, match="no such file"):
        read_turns(tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_text("no parquet")
    with pytest.raises(TodflowError, match="not a parquet file"):
        read_turns(tmp_path / "bad.parquet")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("a", 1)], "dialogue 'a' has turn 1 where 0 is due"),
        ([row("a", 0), row("a", 2)], "has turn 2 where 1 is due"),
        ([row("a", 0), row("b", 0), row("a", 1)], "row 2: dialogue 'a' comes in two pieces"),
        ([row("a", 0, state="[]")], "column 'state', row 0: '\\[\\]' is not JSON of an object"),
        ([row("a", 0, acts="[")], "column 'acts', row 0"),
        ([row("a", 0, user=None)], "column 'user', row 0: .* is not text"),
    ],
)
def test_bad_rows_are_named(rows, message):
    with pytest.raises(TodflowError, match=message):
        check_turns(pd.DataFrame(rows))


def test_nothing_is_written_when_rows_are_bad(tmp_path):
    with pytest.raises(TodflowError):
        write_turns(tmp_path / "t.parquet", [row("a", 3)])
    assert list(tmp_path.iterdir()) == []


def test_optional_columns_are_kept_and_checked(tmp_path):
    rows = [line | {"booked": "[]", "act_source": "silver"} for line in ROWS]
    write_turns(tmp_path / "t.parquet", rows)
    table = read_turns(tmp_path / "t.parquet")
    assert list(table.columns) == [*COLUMNS, "act_source", "booked"]
    assert table.to_dict("records") == rows
    with pytest.raises(TodflowError, match="column 'booked', row 1: '{}' is not JSON of a list"):
        check_turns(pd.DataFrame([rows[0], rows[1] | {"booked": "{}"}]))
