"""The standard evaluator's verdicts, rule by rule."""

import pandas as pd
import pytest
from multiwoz_scoring import DATABASE, HOTEL, TRAIN, _turn, rows

from todflow.errors import TodflowError
from todflow.metrics.multiwoz import tracking
from todflow.metrics.multiwoz.gold import gold_of
from todflow.metrics.multiwoz.standard import Standard
from todflow.predictions_multiwoz import SystemTurn

NORTH = {"hotel": {"area": "north"}}
CENTRE = {"hotel": {"area": "centre"}}
HERE = ("hotel",)


def judge(turns, goal=HOTEL, booked=None):
    """(inform, success) of one dialogue of (response, state, active domains)."""
    table = [
        _turn("d", number, goal, "", "", booked=(booked or [[]] * len(turns))[number])
        for number in range(len(turns))
    ]
    gold = gold_of(pd.DataFrame(table), DATABASE)
    answers = {"d": [SystemTurn(*turn) for turn in turns]}
    outcome = Standard(gold, "v1").outcomes(answers, "predicted")["d"]
    return outcome.inform, outcome.success


ALL = ("[phone] and [reference]", NORTH, HERE)


@pytest.mark.parametrize(
    ("turns", "inform", "success"),
    [
        ([("the [value_name]", NORTH, HERE), ALL], True, True),
        # Nothing was offered, or not in an active domain, or of a domain without a state.
        ([("hello", NORTH, HERE), ALL], False, False),
        ([("the [value_name]", NORTH, ("taxi",)), ALL], False, False),
        ([("the [value_name]", {}, HERE), ALL], False, False),
        # The offer must lie within the goal: a wider one does not.
        ([("the [value_name]", {"hotel": {}}, HERE), ALL], False, False),
        ([("the [value_name]", {"hotel": {"area": "north", "stars": "4"}}, HERE), ALL], True, True),
        # A later offer that lacks something of the old one replaces it, even by nothing; a wider
        # one does not.
        ([("the [name]", CENTRE, HERE), ("the [name]", NORTH, HERE), ALL], True, True),
        ([("the [name]", NORTH, HERE), ("the [name]", {"hotel": {}}, HERE), ALL], True, True),
        (
            [("the [name]", NORTH, HERE), ("the [name]", {"hotel": {"area": "x"}}, HERE), ALL],
            False,
            False,
        ),
        # Success needs everything requested, in an active domain.
        ([("the [value_name]", NORTH, HERE), ("[phone]", NORTH, HERE)], True, False),
        ([("the [value_name] [reference]", NORTH, HERE), ("[phone]", NORTH, ())], True, False),
    ],
)
def test_hotels(turns, inform, success):
    assert judge(turns, booked=[["hotel"]] * len(turns)) == (inform, success)


def test_a_reference_counts_only_where_something_is_booked():
    turns = [("the [name], [reference]", NORTH, HERE), ("[phone]", NORTH, HERE)]
    assert judge(turns, booked=[["hotel"], []]) == (True, True)
    assert judge(turns, booked=[["train"], ["hotel"]]) == (True, False)


def test_goals_that_need_no_offer():
    named = {"hotel": {"info": {"name": "acorn guest house"}}}
    assert judge([("hi", {}, ())], goal=named) == (True, True)
    assert judge([("hi", {}, ())], goal={"taxi": {"info": {"leaveAt": "5"}}}) == (True, True)
    # A train may be left out if nobody asks for its id; a wrong one may not be offered.
    train = {"train": {"info": {"departure": "cambridge"}}}
    ely = {"train": {"departure": "ely"}}
    assert judge([("hi", {}, ())], goal=train) == (True, True)
    assert judge([("[train_id]", ely, ("train",))], goal=train) == (False, False)
    assert judge([("hi", {}, ())], goal=TRAIN) == (False, False)


def test_phones_of_a_taxi_are_its_own():
    taxi = {"taxi": {"info": {"leaveAt": "5"}, "reqt": ["phone", "car type"]}}
    assert judge([("[taxi_phone]", {}, ("hotel",))], goal=taxi) == (True, False)
    assert judge([("[taxi_phone]", {}, ("taxi",))], goal=taxi) == (True, True)


def test_domains_are_estimated_unless_every_turn_has_them():
    turns = [("the [value_name]", NORTH, None), (*ALL[:2], HERE)]
    assert judge(turns, booked=[["hotel"]] * 2) == (True, True)
    assert judge([("the [value_name]", {}, HERE), (*ALL[:2], None)], booked=[["hotel"]] * 2) == (
        False,
        False,
    )


def test_gold_states_stand_in():
    gold = gold_of(pd.DataFrame(rows()), DATABASE)
    answers = {
        "sng0001": [SystemTurn("[value_name]"), SystemTurn("[phone] [reference]")],
        "mul0002": [SystemTurn("[train_id]"), SystemTurn("bye")],
    }
    found = Standard(gold, "v1").outcomes(answers, "gold")
    assert [outcome.success for outcome in found.values()] == [True, True]
    assert [outcome.joint for outcome in found.values()] == [None, None]


def test_bleu_is_of_normalised_responses():
    gold = gold_of(pd.DataFrame(rows()), DATABASE)
    answers = {"sng0001": [SystemTurn("The [hotel_name] ?", {}), SystemTurn("[phone]", {})]}
    counts = Standard(gold, "v1").outcomes(answers, "predicted")["sng0001"].bleu
    # "the NAME ?" in "the NAME , right ?"; "PHONE" in "PHONE REFERENCE".
    assert counts.tolist() == [4, 1, 0, 0, 4, 2, 1, 0, 4, 7]


def test_order_is_the_splits_and_verdicts_are_no_matter_of_the_files_order():
    gold = gold_of(pd.DataFrame(rows()), DATABASE)
    turn = SystemTurn("x", {})
    found = Standard(gold, "v1").outcomes(
        {"mul0002": [turn, turn], "sng0001": [turn, turn]}, "predicted"
    )
    assert list(found) == ["sng0001", "mul0002"]


def test_states_are_compared_in_one_form():
    gold = [{"hotel": {"type": "guest house", "day": "monday", "area": "do n't care"}}]
    same = [{"hotel": {"type": "guesthouse", "bookday": "monday", "area": "dontcare"}, "taxi": {}}]
    assert tracking.right_states(same, gold, "v1") == 1
    assert tracking.right_states([{"hotel": {"type": "guesthouse"}}], gold, "v1") == 0
    whale = {"attraction": {"name": "whale of a time", "area": "west"}}
    cut = {"attraction": {"name": "whale of a", "area": "west"}}
    assert tracking.right_states([whale, cut], [whale, whale], "v1") == 2
    assert tracking.right_states([whale], [cut], "v1") == 0
    unset = [{"hotel": {"type": "none", "area": ""}, "taxi": {"leave": "not mentioned"}}]
    assert tracking.right_states(unset, [{}], "v1") == 1


def test_acts_are_compared_as_triples():
    gold = ["[hotel] [inform] area name [request] stars", ""]
    assert tracking.act_hits(["[hotel] [inform] name area", "[general] [bye]"], gold) == (2, 1, 1)
    assert tracking.act_hits([], []) == (0, 0, 0)


def test_refuses_tables_of_other_corpora():
    table = pd.DataFrame(rows())
    with pytest.raises(TodflowError, match="column 'reference' is missing"):
        gold_of(table.drop(columns="reference"), DATABASE, "t.parquet")
    with pytest.raises(TodflowError, match="t.parquet: no turns"):
        gold_of(table.head(0), DATABASE, "t.parquet")
