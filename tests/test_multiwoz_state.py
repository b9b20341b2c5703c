import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiwoz_oracle import damd_on_100, differing, turns

from todflow.corpora.multiwoz import DOMAINS, SLOTS, STATE_SLOTS
from todflow.corpora.multiwoz.release import Dialogue, Exchange
from todflow.corpora.multiwoz.state import parse, states
from todflow.metrics.spans import state_span
from todflow.errors import TodflowError


def metadata(**domains):
    """A turn's belief state as released: of each domain, semi slots and book slots."""
    released = {domain: {"semi": {}, "book": {"booked": []}} for domain in DOMAINS}
    for domain, (semi, book) in domains.items():
        released[domain] = {"semi": semi, "book": {"booked": [{"name": "x"}], **book}}
    return released


def dialogue(goal, *turns):
    return Dialogue("X1", goal, [Exchange("u", "r", turn, {}, None, None) for turn in turns])


def test_states_are_cumulative():
    first = metadata(hotel=({"area": "North", "stars": ""}, {"day": ""}))
    second = metadata(hotel=({"area": "", "stars": "4"}, {"day": "friday"}))
    assert states(dialogue({"hotel": {"info": {}}}, first, second)) == [
        {"hotel": {"area": "north"}},
        {"hotel": {"area": "north", "stars": "4", "day": "friday"}},
    ]


def test_a_later_value_overwrites_in_place_and_leaves_earlier_turns_alone():
    first = metadata(hotel=({"area": "north", "stars": "4"}, {}))
    second = metadata(hotel=({"area": "south", "stars": "4"}, {}))
    got = states(dialogue({"hotel": {"info": {}}}, first, second))
    assert [state_span(state) for state in got] == [
        "[hotel] area north stars 4", "[hotel] area south stars 4",
    ]  # fmt: skip


def test_only_domains_of_the_goal_in_its_order():
    turn = metadata(
        hotel=({"area": "north"}, {}), train=({"day": "monday"}, {}), taxi=({"leaveAt": "9"}, {})
    )
    goal = {
        "topic": {"x": 1},
        "train": {"info": {}},
        "taxi": {},
        "hotel": {"info": {}},
        "message": [],
    }
    assert states(dialogue(goal, turn)) == [
        {"train": {"day": "monday"}, "hotel": {"area": "north"}}
    ]


def test_values_that_say_nothing_are_left_out():
    turn = metadata(restaurant=({"food": "not mentioned", "area": "nowhere", "name": ""}, {}))
    assert states(dialogue({"restaurant": {"info": {}}}, turn)) == [{}]


def test_names_of_slots_and_no_word_of_what_was_booked():
    turn = metadata(train=({"leaveAt": "09:00", "arriveBy": "10:00"}, {"people": "2"}))
    assert states(dialogue({"train": {"book": {}}}, turn)) == [
        {"train": {"leave": "09:00", "arrive": "10:00", "people": "2"}}
    ]


def test_an_annotation_without_a_domain_of_the_goal_is_refused():
    turn = metadata()
    del turn["hotel"]
    with pytest.raises(TodflowError, match="dialogue X1, turn 1, field metadata: no 'hotel'"):
        states(dialogue({"hotel": {"info": {}}}, metadata(), turn))


def test_span():
    state = {"hotel": {"area": "north", "type": "guest house"}, "train": {"day": "monday"}}
    assert state_span(state) == "[hotel] area north type guest house [train] day monday"
    assert state_span({}) == ""


def test_parse_cuts_a_value_at_the_name_of_a_slot():
    assert parse("[attraction] name whale of a time") == {"attraction": {"name": "whale of a"}}
    assert parse("[hospital] department emergency department") == {}


def test_parse_takes_peoples_for_a_word_of_a_value():
    text = "[attraction] name people 's portraits exhibition area west [train] people 3 day monday"
    assert parse(text) == {
        "attraction": {"name": "people 's portraits exhibition", "area": "west"},
        "train": {"people": "3", "day": "monday"},
    }


def test_parse_takes_any_text():
    assert parse("") == {}
    assert parse("area north [hotel] of area") == {}
    assert parse("[hotel] area north area south stars") == {"hotel": {"area": "south"}}
    assert parse("[value_name] area north [police] [taxi] leave 9:00") == {
        "taxi": {"leave": "9:00"}
    }


WORDS = st.from_regex(r"[a-z0-9:'.,-]{1,8}", fullmatch=True).filter(lambda word: word not in SLOTS)
VALUES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
STATES = st.lists(st.sampled_from([d for d in DOMAINS if STATE_SLOTS[d]]), unique=True).flatmap(
    lambda domains: st.fixed_dictionaries(
        {d: st.dictionaries(st.sampled_from(STATE_SLOTS[d]), VALUES, min_size=1) for d in domains}
    )
)


@given(STATES)
def test_a_state_comes_back_from_its_span(state):
    back = parse(state_span(state))
    assert back == state
    assert state_span(back) == state_span(state)


@pytest.mark.oracle
@pytest.mark.parametrize("field", ["constraint", "cons_delex"])
def test_spans_are_damds_on_the_test_split(mirror, oracles, field):
    assert differing(mirror, oracles, field) == []


@pytest.mark.oracle
def test_spans_are_damds_on_100_dialogues_of_the_older_release(mirror):
    pairs = damd_on_100(mirror)
    assert len(pairs) == 736
    for field in ("constraint", "cons_delex"):
        assert all(ours.spelt()[field] == theirs[field] for ours, theirs in pairs)


@pytest.mark.oracle
@pytest.mark.parametrize(("release", "cut"), [("2.0", 305), ("2.1", 254)])
def test_states_come_back_from_their_spans(mirror, release, cut):
    """All but those with a value that has a slot's name in it, which a span cannot show."""
    archive = mirror / "multiwoz" / "official-layout" / f"MULTIWOZ{release}.zip"
    found = [turn.state for split in turns(archive).values() for turn in split]
    assert len(found) == 71_524
    wrong = [state for state in found if parse(state_span(state)) != state]
    assert len(wrong) == cut
    for state in wrong:
        words = {
            word for slots in state.values() for value in slots.values() for word in value.split()
        }
        assert words & SLOTS
