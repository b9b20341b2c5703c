import numpy as np

from todflow.metrics.dialogues import Turn
from todflow.metrics.selfplay import requests, tally
from todflow.metrics.tally import f1, figures

NORTH, SOUTH = {"hotel": {"area": "north"}}, {"hotel": {"area": "south"}}


def test_requests_are_whole_names():
    dialogue = [Turn({}, "[value_name] [value_leave_at]"), Turn({}, "[value_phone].")]
    assert requests(dialogue) == {"leave_at", "phone"}


def test_counts():
    gold = [
        Turn({}, "hello there", frozenset({("general", "greet", "")})),
        Turn(NORTH, "[value_name] [value_phone]", frozenset({("hotel", "inform", "phone")})),
    ]
    predicted = [
        Turn({}, "hello", frozenset({("general", "greet", "")})),
        Turn(NORTH, "[value_area]", frozenset({("hotel", "inform", "area")})),
    ]
    result = tally(gold, predicted)
    assert (result.match, result.match_counted) == (1, 1)
    assert result.requests == (0, 1, 1)
    assert result.acts == (1, 1, 1)
    assert (result.joint_goal_accuracy, result.turns) == (2, 2)
    assert result.bleu[-2:].tolist() == [2, 4]
    assert result.bleu.tolist() == result.bleu_without_markers.tolist()


def test_match_is_of_the_last_turn_and_needs_a_gold_state():
    assert tally([Turn(NORTH, "")], [Turn(SOUTH, "")]).match == 0
    assert tally([Turn(SOUTH, ""), Turn(NORTH, "")], [Turn(NORTH, "")] * 2).match == 1
    assert tally([Turn({}, "")], [Turn(NORTH, "")]).match_counted == 0


def test_perfect_prediction_scores_100():
    gold = [Turn(NORTH, "the number is [value_phone] .", frozenset({("hotel", "inform", "phone")}))]
    found = figures(tally(gold, gold).row())
    assert all(
        abs(value - (200 if name == "combined" else 100)) < 1e-4 for name, value in found.items()
    )


def test_f1_of_nothing_is_0():
    assert f1(np.zeros(3)) == 0
