"""Goals of the standard evaluator, from the released ones."""

from todflow.metrics.multiwoz.goals import DomainGoal, standard_goal


def test_empty_domains_and_those_without_constraints():
    goal = {"hotel": {}, "police": {"reqt": ["phone"]}, "message": ["x"], "topic": {"taxi": True}}
    assert standard_goal(goal) == {"police": DomainGoal()}


def test_what_is_requested():
    train = {"info": {"leaveAt": "09:00"}, "reqt": ["trainID", "price", "phone"], "book": {}}
    hotel = {"info": {"price Range": "Cheap"}, "reqt": ["phone", "postcode", "address", "area"]}
    assert standard_goal({"train": train, "hotel": hotel}) == {
        "hotel": DomainGoal({"pricerange": "cheap"}, frozenset({"PHONE", "POST", "ADDRESS"})),
        "train": DomainGoal({"leave": "09:00"}, frozenset({"TRAINID", "REFERENCE"})),
    }
