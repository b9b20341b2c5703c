from todflow.metrics.dialogues import Turn
from todflow.metrics.sequicity import (
    BagTurn,
    bag_turn,
    clean_response,
    constraints,
    requests,
    tally,
)

ENTITIES = {
    "los angeles": "location",
    "san jose": "location",
    "chevron": "poi",
    "pizza restaurant": "poi_type",
    "friday": "date",
    "7pm": "time",
    "today": "weekly_time",
}


def test_bag_turn():
    turn = Turn(
        {"weather": {"date": "friday", "location": "san jose"}}, "[value_weather_attribute]"
    )
    assert bag_turn(turn) == BagTurn("friday ; san jose", "weather_attribute_SLOT")


def test_clean_response_replaces_the_intents_entities_only():
    assert clean_response("chevron at 7pm", "navigate", ENTITIES) == "<GO> poi_SLOT at 7pm </s>"
    assert (
        clean_response("chevron at 7pm", "schedule", ENTITIES) == "<GO> chevron at time_SLOT </s>"
    )
    assert clean_response("<go> time SLOT", "schedule", ENTITIES) == "<GO> time_SLOT </s>"


def test_constraints():
    # "los" is a stop word, "angeles" finds the city; what stands after EOS_Z1 are requests.
    assert constraints("los angeles EOS_Z1 friday", ENTITIES) == {"los angeles"}
    # The words of a found entity find nothing more, junk and unknown words find nothing.
    assert constraints("jose ; san ; next ; zebra", ENTITIES) == {"san jose"}
    # Slots that are not informable are out, and so are slot names.
    assert constraints("chevron ; today ; location", ENTITIES) == set()
    assert constraints("restaurant", ENTITIES) == set()


def test_requests():
    assert requests(["poi_type_SLOT poi_SLOT name_SLOT SLOT", "ok time_SLOT"]) == {"poi", "time"}


def turns(*pairs):
    return [BagTurn(*pair) for pair in pairs]


def test_match():
    gold = turns(("friday", "at time_SLOT"), ("friday ; 7pm", "bye"))
    assert tally(gold, turns(("friday", "at 7pm"), ("", "bye")), "schedule", ENTITIES).match == 1
    assert tally(gold, turns(("", "at 7pm"), ("friday", "bye")), "schedule", ENTITIES).match == 1
    assert tally(gold, turns(("", "x"), ("7pm", "bye")), "schedule", ENTITIES).match == 0
    # Without a placeholder the gold side, too, falls back on its last turn.
    silent = turns(("", "hi"), ("friday", "bye"))
    assert tally(silent, silent, "schedule", ENTITIES).match_counted == 1
    empty = turns(("", "hi"))
    assert tally(empty, empty, "schedule", ENTITIES).match_counted == 0
