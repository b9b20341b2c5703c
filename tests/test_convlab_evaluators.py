"""The two ways of counting."""

import pytest
from convlab_play import manifest

from todflow.convlab_bridge.evaluators import make_evaluator
from todflow.convlab_bridge.runtime import open_convlab


@pytest.fixture(scope="module", autouse=True)
def convlab():
    with open_convlab(manifest()) as opened:
        yield opened


def hotel(evaluator, name="acorn guest house"):
    """(reference number, row) of a hotel."""
    for number, row in enumerate(evaluator.dbs["hotel"]):
        if row["name"] == name:
            return f"{number:08d}", row
    raise AssertionError(name)


def played(counting, reqt, system_acts):
    """An evaluator after a dialogue about a booked hotel and the given requests."""
    evaluator = make_evaluator(counting)
    reference, row = hotel(evaluator)
    goal = {
        "hotel": {"info": {"name": row["name"]}, "reqt": reqt, "book": {"stay": "2"}, "booked": "?"}
    }
    evaluator.add_goal(goal)
    state = {"hotel": {"book stay": "2"}}
    evaluator.add_sys_da(
        [["book", "hotel", "", ""], ["inform", "hotel", "ref", reference], *system_acts], state
    )
    evaluator.task_success()
    return evaluator


def test_a_booking_reference_counts_against_precision_only_in_convlab3():
    acts = [["inform", "hotel", "phone", "01223353888"]]
    assert played("convlab2", {"phone": "?"}, acts).inform_F1(aggregate=False) == [1, 0, 0]
    assert played("convlab3", {"phone": "?"}, acts).inform_F1(aggregate=False) == [1, 1, 0]


@pytest.mark.parametrize("counting", ["convlab2", "convlab3"])
def test_both_see_the_booking(counting):
    evaluator = played(counting, {"phone": "?"}, [["inform", "hotel", "phone", "01223353888"]])
    assert evaluator.book_rate() == 1 and evaluator.success == evaluator.success_strict == 1


def test_a_requested_value_may_be_a_little_off_only_in_convlab2():
    acts = [["inform", "hotel", "phone", "01223353999"]]
    assert played("convlab2", {"phone": "?"}, acts).success == 1
    assert played("convlab3", {"phone": "?"}, acts).success == 0


def test_a_requested_value_that_is_quite_another_fails_in_both():
    acts = [["inform", "hotel", "postcode", "pe296fl"]]
    for counting in ("convlab2", "convlab3"):
        assert played(counting, {"postcode": "?"}, acts).success == 0


def test_strict_success_needs_the_booking_in_the_state():
    evaluator = make_evaluator("convlab2")
    reference, row = hotel(evaluator)
    goal = {"hotel": {"info": {"name": row["name"]}, "book": {"stay": "2"}, "booked": "?"}}
    evaluator.add_goal(goal)
    acts = [["book", "hotel", "", ""], ["inform", "hotel", "ref", reference]]
    evaluator.add_sys_da(acts, {"hotel": {"book stay": "the same"}})
    evaluator.task_success()
    assert (evaluator.success, evaluator.success_strict) == (1, 0)
