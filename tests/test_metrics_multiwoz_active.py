"""The estimate of active domains."""

from hypothesis import given, settings
from hypothesis import strategies as st

from todflow.metrics.multiwoz.active import estimate

STATES = st.lists(
    st.dictionaries(
        st.sampled_from(["hotel", "train", "taxi"]),
        st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"), max_size=3),
    ),
    max_size=6,
)


def test_nothing_is_active_before_the_state_changes():
    assert estimate([{}, {"hotel": {}}, {"hotel": {"area": "north"}}]) == [(), (), ("hotel",)]


def test_the_current_domain_stays_while_it_changes_and_while_nothing_does():
    hotel, both = {"hotel": {"area": "n"}}, {"hotel": {"area": "s"}, "taxi": {"leave": "5"}}
    assert estimate([hotel, hotel, both]) == [("hotel",)] * 3
    # A pair that is gone is no change.
    assert estimate([hotel, {"hotel": {}}]) == [("hotel",)] * 2


def test_another_that_changes_takes_over_the_fuller_one_first():
    hotel = {"hotel": {"area": "n"}}
    more = hotel | {"taxi": {"leave": "5"}, "train": {"leave": "5", "day": "monday"}}
    assert estimate([hotel, more])[1] == ("train",)
    tie = hotel | {"taxi": {"leave": "5"}, "train": {"leave": "5"}}
    assert estimate([hotel, tie])[1] == ("taxi",)


def test_after_several_changes_a_quiet_turn_goes_to_another_once():
    state = {"hotel": {"area": "n"}, "taxi": {"leave": "5"}}
    assert estimate([state, state, state]) == [("hotel",), ("taxi",), ("taxi",)]
    assert estimate([state, {"hotel": state["hotel"]}]) == [("hotel",), ("hotel",)]


@settings(derandomize=True)
@given(STATES)
def test_one_domain_of_those_seen_and_none_before_the_first(states):
    active = estimate(states)
    assert len(active) == len(states)
    seen = set()
    for state, domains in zip(states, active, strict=True):
        seen |= {domain for domain, slots in state.items() if slots}
        assert set(domains) <= seen
        assert bool(domains) == bool(seen)
