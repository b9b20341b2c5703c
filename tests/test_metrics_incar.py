import pytest

from todflow.metrics.dialogues import Turn
from todflow.metrics.incar import (
    alike,
    clean_response,
    last_offer,
    normalise,
    requests,
    similar,
    tally,
    without_markers,
)

ENTITIES = {
    "chevron": "poi",
    "gas station": "poi_type",
    "gas": "poi_type",
    "lab appointment": "event",
    "lab": "event",
    "friday": "date",
    "7pm": "time",
}


def turn(response, **state):
    return Turn({"schedule": state} if state else {}, response)


def test_clean_response():
    assert clean_response("chevron is a gas station", ENTITIES) == (
        "<sos_r> [value_poi] is a [value_poi_type] <eos_r>"
    )
    # Markers that are already there are not doubled.
    assert clean_response("<sos_r> ok <eos_r>", ENTITIES) == "<sos_r> ok <eos_r>"
    assert without_markers(clean_response("ok then", ENTITIES)) == "ok then"
    assert without_markers(clean_response("", ENTITIES)) == ""


def test_requests_are_cut_at_the_second_underscore():
    responses = ["[value_poi] [value_poi_type] [value_name]", "x[value_traffic_info] [value_time]."]
    assert requests(responses) == {"poi", "traffic"}


def test_normalise():
    state = {
        "schedule": {
            "event": "lab appointment",
            "time": "7pm",
            "poi": "chevron",
            "date": "someday",
        },
        "space": {"event": "lab"},
    }
    assert normalise(state, ENTITIES) == {
        ("schedule", "event"): "lab",
        ("schedule", "time"): "7pm",
    }
    # Junk goes before the look-up.
    assert normalise({"schedule": {"date": "next friday"}}, ENTITIES) == {
        ("schedule", "date"): "friday"
    }


def test_similar_and_alike():
    assert similar("gas", "gas station")
    assert similar("red station", "gas station")
    assert not similar("7pm", "friday")
    assert alike([], [])
    assert not alike(["gas"], [])
    assert alike(["gas", "temperature high"], ["gas station"])
    assert not alike(["gas", "friday"], ["gas station"])
    assert not alike(["gas"], ["gas station", "friday"])


def test_last_offer():
    first, last = turn("at [value_time]", time="7pm"), turn("bye", time="8pm")
    assert last_offer([first, last]) == first.state
    assert last_offer([last]) is None


def test_match_takes_the_last_turn_with_a_placeholder():
    gold = [turn("at [value_time]", event="lab"), turn("bye", event="gas")]
    predicted = [turn("at [value_time]", event="lab"), turn("bye", event="friday")]
    assert tally(gold, predicted, ENTITIES).match == 1
    # Without a placeholder the prediction's last state counts.
    silent = [turn("ok", event="lab"), turn("bye", event="friday")]
    assert tally(gold, silent, ENTITIES).match == 0
    assert tally(gold, silent, ENTITIES).match_counted == 1


def test_dialogue_without_gold_offer_or_entity_is_not_counted():
    assert tally([turn("ok", event="lab")], [turn("ok")], ENTITIES).match_counted == 0
    gold = [turn("at [value_time]", event="nothing known")]
    assert tally(gold, gold, ENTITIES).match_counted == 0


@pytest.mark.parametrize(("variant", "match"), [("galaxy", 1), ("labes", 0)])
def test_labes_is_exact_and_galaxy_soft(variant, match):
    gold = [turn("at [value_time]", event="lab")]
    other_slot = [turn("at [value_time]", agenda="lab")]
    assert tally(gold, other_slot, ENTITIES, variant).match == match
    assert tally(gold, gold, ENTITIES, variant).match == 1


def test_counts():
    gold = [turn("[value_poi] at [value_time]", time="7pm"), turn("chevron", time="7pm")]
    predicted = [turn("at [value_time]", time="7pm"), turn("on [value_date]", time="8pm")]
    result = tally(gold, predicted, ENTITIES)
    # The named Chevron is an answer, too.
    assert result.requests == (1, 1, 1)
    assert (result.joint_goal_accuracy, result.turns) == (1, 2)
    assert result.bleu[-2:].tolist() == [8, 8]
    assert result.bleu_without_markers[-2:].tolist() == [4, 4]
