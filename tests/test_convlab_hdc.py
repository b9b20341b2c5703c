"""The adapter's rules, one by one."""

import pytest
from convlab_play import manifest

from todflow.convlab_bridge.hdc import Hdc, booked_domain, older_acts, older_state, unified_act
from todflow.convlab_bridge.runtime import open_convlab, reseed

EMPTY = {
    "hotel": {"price range": "cheap", "book day": "monday", "book people": "", "area": "north"},
    "train": {"leave at": "09:00", "arrive by": "", "book people": "3"},
}


@pytest.fixture(scope="module")
def system():
    with open_convlab(manifest()):
        yield Hdc()


def test_state_in(system):
    state = older_state(EMPTY, [["inform", "train", "leave at", "09:00"]])
    hotel, train = state["belief_state"]["hotel"], state["belief_state"]["train"]
    assert hotel["semi"]["pricerange"] == "cheap" and hotel["semi"]["area"] == "north"
    assert hotel["book"]["day"] == "monday" and hotel["book"]["booked"] == []
    assert train["semi"]["leaveAt"] == "09:00" and train["semi"]["arriveBy"] == ""
    assert train["book"]["people"] == "3"
    assert state["belief_state"]["restaurant"]["semi"]["food"] == ""
    assert state["user_action"] == [["Inform", "Train", "Leave", "09:00"]]


def test_user_acts_in():
    acts = [
        ["inform", "hotel", "book stay", "2"],
        ["request", "taxi", "type", ""],
        ["bye", "general", "", ""],
    ]
    assert older_acts(acts) == [
        ["Inform", "Hotel", "Stay", "2"],
        ["Request", "Taxi", "Car", "?"],
        ["bye", "general", "none", "none"],
    ]


@pytest.mark.parametrize(
    ("bot", "unified"),
    [
        (["Inform", "Attraction", "Fee", "free"], ["inform", "attraction", "entrance fee", "free"]),
        (["NoOffer", "Hotel", "none", "none"], ["nooffer", "hotel", "", ""]),
        (["reqmore", "general", "none", "none"], ["reqmore", "general", "", ""]),
        (["Recommend", "Hotel", "Open", 7], ["recommend", "hotel", "open", "7"]),
        (["Inform", "Police", "Ticket", "none"], ["inform", "police", "ticket", ""]),
    ],
)
def test_system_acts_out(bot, unified):
    assert unified_act(bot) == unified


def test_booked_domain_is_that_of_the_first_booking_act_with_a_match():
    slots = {"Hotel": ["Stay"], "Train": ["People"], "Restaurant": ["Day"]}
    acts = [
        ["Inform", "Attraction", "Day", "monday"],
        ["Inform", "Restaurant", "Day", "monday"],
        ["Inform", "Hotel", "Stay", "2"],
        ["Inform", "Train", "People", "2"],
    ]
    assert booked_domain(acts, {"Restaurant": [], "Hotel": [{}], "Train": [{}]}, slots) == "hotel"
    with pytest.raises(ValueError, match="no user act"):
        booked_domain(acts, {}, slots)


def test_a_booking_becomes_two_acts(system):
    reseed(1)
    system.reset()
    system.respond([["inform", "hotel", "name", "hamilton lodge"]])
    acts = system.respond(
        [["inform", "hotel", "book stay", "2"], ["inform", "hotel", "book day", "monday"]]
    )
    reference = system.bot.kb_result["Hotel"][0]["Ref"]
    assert acts[:2] == [["book", "hotel", "", ""], ["inform", "hotel", "ref", reference]]
    assert system.belief_state["hotel"]["book stay"] == "2"


def test_a_train_offer_becomes_information(system):
    reseed(1)
    system.reset()
    wanted = {"departure": "ely", "destination": "cambridge", "day": "monday", "leave at": "09:00"}
    acts = system.respond([["inform", "train", slot, value] for slot, value in wanted.items()])
    assert {act[0] for act in acts} == {"inform"}
    assert {slot: value for _, _, slot, value in acts} == wanted
    assert {act[0] for act in system.bot_acts} == {"OfferBook"}


def test_a_new_dialogue_forgets(system):
    system.respond([["inform", "restaurant", "area", "centre"]])
    assert system.bot.recommend_flag != -1 and system.bot.kb_result
    system.reset()
    bot = system.bot
    assert (bot.recommend_flag, bot.choice, bot.kb_result, bot.last_state) == (-1, "", {}, {})
    assert not any(value for slots in system.belief_state.values() for value in slots.values())
