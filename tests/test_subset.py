"""Nested shares of a training table."""

import argparse

import pandas as pd
import pytest

from todflow.corpora.incar.prepare import DIALOGUES
from todflow.corpora.turns import COLUMNS, read_turns, write_turns
from todflow.errors import TodflowError
from todflow.subset import RELEASED, draw, main, size

SHARES = [5, 10, 20, 30, 40, 50]


def corpus(count: int, dataset: str = "selfplay") -> pd.DataFrame:
    """`count` dialogues of one to three turns."""
    texts = dict.fromkeys(COLUMNS, "") | {"dataset": dataset, "split": "train", "acts": "[]"}
    return pd.DataFrame(
        texts | {"dialogue_id": f"d{number}", "turn": turn, "state": "{}", "goal": "{}"}
        for number in range(count)
        for turn in range(1 + number % 3)
    )


def names(table: pd.DataFrame) -> list[str]:
    return table["dialogue_id"].drop_duplicates().tolist()


def test_the_papers_numbers_of_dialogues():
    assert [size(2425, share) for share in SHARES] == [121, 242, 485, 727, 970, 1212]
    # Of the release's dialogues, three of which have no turn.
    table = corpus(2422, "incar")
    assert [len(names(draw(table, "t", 1, share))) for share in SHARES] == [121, 242, 485, 727, 970, 1212]
    assert RELEASED == {"incar": DIALOGUES["train"]}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_smaller_share_is_part_of_every_larger_one(seed):
    table = corpus(200)
    drawn = [set(names(draw(table, "t", seed, share))) for share in SHARES]
    assert all(small < large for small, large in zip(drawn, drawn[1:]))


def test_dialogues_come_whole_and_in_the_order_of_the_table():
    table = corpus(60)
    share = draw(table, "t", 4, 30)
    assert len(names(share)) == 18
    pd.testing.assert_frame_equal(share, table[table["dialogue_id"].isin(names(share))])
    lengths = share.groupby("dialogue_id").size()
    assert all(lengths[name] == 1 + int(name[1:]) % 3 for name in lengths.index)


def test_the_seed_alone_decides():
    table = corpus(100)
    assert names(draw(table, "t", 1, 20)) == names(draw(table, "u", 1, 20))
    assert names(draw(table, "t", 1, 20)) != names(draw(table, "t", 2, 20))
    # Not the first ones.
    assert names(draw(table, "t", 1, 20)) != names(table)[:20]


def test_every_dialogue_is_as_likely_as_any_other():
    table = corpus(40)
    drawn = [name for seed in range(400) for name in names(draw(table, "t", seed, 25))]
    counts = pd.Series(drawn).value_counts()
    # 100 expected, a standard deviation of 8.7.
    assert len(counts) == 40 and counts.min() > 60 and counts.max() < 140


def run(tmp_path, config):
    write_turns(tmp_path / "train.parquet", corpus(15))
    main(
        argparse.Namespace(
            config=config, turns=tmp_path / "train.parquet", out=tmp_path / "share.parquet"
        )
    )


def test_the_stage_writes_the_share(tmp_path):
    run(tmp_path, {"seed": 1, "percent": 20})
    assert len(names(read_turns(tmp_path / "share.parquet"))) == 3
    before = (tmp_path / "share.parquet").read_bytes()
    run(tmp_path, {"seed": 1, "percent": 20})
    assert (tmp_path / "share.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"seed": 1, "percent": 5}, r"train\.parquet: 5 % of its 15 dialogues are none"),
        ({"seed": 1}, "'percent' is missing"),
        ({"seed": 1, "percent": 20, "share": 2}, "'share' is no setting here"),
    ],
)
def test_errors_leave_no_file(tmp_path, config, message):
    with pytest.raises(TodflowError, match=message):
        run(tmp_path, config)
    assert not (tmp_path / "share.parquet").exists()
