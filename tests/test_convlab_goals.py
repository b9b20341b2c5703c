"""The completed goal model."""

import pickle
import random

import numpy
import pytest
from convlab_play import manifest

from todflow.convlab_bridge.goals import combinations
from todflow.convlab_bridge.runtime import open_convlab


def sizes(table):
    return sum(len(slots) * p for slots, p in table.items())


def test_combinations_keep_the_expected_number_of_slots():
    table = combinations({"a": 0.6, "b": 0.5, "c": 0.3})
    assert sorted({len(slots) for slots in table}) == [1, 2]
    assert sum(table.values()) == pytest.approx(1)
    assert sizes(table) == pytest.approx(1.4)
    assert table["a", "b"] == pytest.approx(0.4 / 3)


def test_certain_slots_always_come_together():
    table = combinations({"a": 1.0, "b": 1.0})
    assert {slots: p for slots, p in table.items() if p} == {("a", "b"): 1.0}


@pytest.fixture(scope="module")
def model():
    path = manifest().parent / "data" / "multiwoz" / "goal" / "new_goal_model.pkl"
    return pickle.loads(path.read_bytes())


def test_the_table_follows_the_marginals(model):
    marginals, table = model[0], model[5]
    for domain, size in (("hotel", (3, 4)), ("restaurant", (2, 3)), ("attraction", (1, 2))):
        info, drawn = marginals[domain]["info"], table[domain]["info"]
        assert sum(drawn.values()) == pytest.approx(1)
        assert drawn["name",] == info["name"]
        assert {len(slots) for slots in drawn if slots != ("name",)} == set(size)
        assert sizes(drawn) == pytest.approx(sum(info.values()))
    assert {slots[:3] for slots in table["train"]["info"]} == {("departure", "destination", "day")}
    assert table["hospital"]["info"].keys() == {("department",), ()}


def test_the_generator_draws_goals_of_every_domain():
    with open_convlab(manifest()) as convlab:
        generator = convlab.user(None).goal_generator
        random.seed(5)
        numpy.random.seed(5)
        goals = [generator.get_user_goal() for _ in range(400)]
    seen = {domain for goal in goals for domain in goal["domain_ordering"]}
    assert seen == {"attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train"}
    assert all(
        "reqt" in goal[d] or "book" in goal[d] for goal in goals for d in goal["domain_ordering"]
    )
    failing = [goal[d] for goal in goals for d in goal["domain_ordering"] if "fail_info" in goal[d]]
    assert 20 < len(failing) < 200
