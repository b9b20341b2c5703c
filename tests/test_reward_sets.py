"""What turns are rewarded for, and how many for nothing."""

import pytest

from reward_texts import OPTIONS, in_car_rows, multiwoz_rows
from todflow.convlab_bridge import annotation, slots
from todflow.corpora.multiwoz import STATE_SLOTS
from todflow.errors import TodflowError
from todflow.reward.sets import check, schema, wanted
from todflow.seq2seq.sequences import Segments

HOTEL = Segments(
    "[hotel] area north type guesthouse",
    "[hotel] [inform] choice area pricerange [request] stars [train] [inform] id",
    "[value_name] is [value_price] , [value_choice]. [value_phone][value_phone] and [value_id]",
)


def requests(**options):
    return wanted("multiwoz20", HOTEL, None, ["hotel"], OPTIONS | options).requests


def test_pairs_are_the_cumulative_state_in_canonical_form():
    got = wanted("multiwoz21", HOTEL, HOTEL, ["hotel"], OPTIONS).pairs
    assert got == {("hotel", "area", "north"), ("hotel", "type", "guest house")}


def test_new_pairs_are_those_that_the_turn_before_has_not():
    options = OPTIONS | {"informables": "new"}
    before = Segments("[hotel] area north type hotel")
    got = wanted("multiwoz20", HOTEL, before, ["hotel"], options).pairs
    assert got == {("hotel", "type", "guest house")}
    assert len(wanted("multiwoz20", HOTEL, None, ["hotel"], options).pairs) == 2


def test_requests_are_what_act_and_response_name_of_the_domains_list():
    assert requests() == {
        ("a", "area"), ("a", "price"), ("a", "stars"), ("r", "price"), ("r", "phone"),
    }  # fmt: skip
    both = wanted("multiwoz20", HOTEL, None, ["hotel", "train"], OPTIONS).requests
    assert both - requests() == {("a", "id"), ("r", "id")}
    assert wanted("multiwoz20", HOTEL, None, ["general"], OPTIONS).requests == frozenset()


def test_requests_of_the_evaluators_and_of_all_placeholders():
    assert requests(requestables="eval5") == {("r", "phone"), ("a", "id"), ("r", "id")}
    everything = requests(requestables="all_placeholders")
    assert everything - requests() == {
        ("a", "choice"), ("r", "choice"), ("r", "name"), ("a", "id"), ("r", "id"),
    }  # fmt: skip


def test_in_car_has_no_acts():
    gold = Segments("[navigate] distance 3 mile", "[navigate] [inform] poi", "[value_poi]")
    got = wanted("incar", gold, None, ["navigate"], OPTIONS)
    assert got.pairs == {("navigate", "distance", "3 mile")}
    assert got.requests == {("r", "poi")}


@pytest.mark.parametrize("value", ["dontcare", "do n't care", "dont care", "don't care"])
def test_any_value_has_one_spelling(value):
    assert schema("multiwoz20").canonical("hotel", "area", value) == "dontcare"
    assert schema("multiwoz21").canonical("restaurant", "area", value) == "dontcare"


def test_values_that_mean_nothing_do_not_become_alike():
    canonical = schema("multiwoz20").canonical
    assert canonical("hotel", "type", "castle") == "castle"
    assert canonical("hotel", "type", "not mentioned") == "not mentioned"


def test_self_play_has_the_slots_of_its_states():
    tracked = {
        domain: {annotation.slot_name(domain, slot) for slot in names}
        for domain, names in slots.STATE_SLOTS.items()
    }
    assert tracked == {domain: set(names) for domain, names in STATE_SLOTS.items() if names}
    assert schema("selfplay").slots is STATE_SLOTS


def test_good_options():
    check(OPTIONS)
    check(OPTIONS | {"alpha": 0, "informables": "new", "requestables": "eval5"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": -1.0}, "reward.alpha is -1.0; give a number"),
        ({"beta": float("nan")}, "reward.beta is nan"),
        ({"beta": True}, "reward.beta is True"),
        ({"informables": "old"}, "reward.informables is 'old'; use one of cumulative, new"),
        ({"requestables": ["id"]}, r"reward.requestables is \['id'\]"),
        ({"fp_penalty": "yes"}, "reward.fp_penalty is 'yes'; use one of True, False"),
        ({"fp_penalty": True, "informables": "new"}, "set reward.informables to cumulative"),
        ({"gamma": 1.0}, "'gamma' is no setting here"),
    ],
)
def test_bad_options(changes, message):
    with pytest.raises(TodflowError, match=message) as raised:
        check(OPTIONS | changes)
    assert "\n" not in str(raised.value)


def test_what_has_no_rewards():
    with pytest.raises(TodflowError, match="dataset camrest; use incar, selfplay, multiwoz20"):
        schema("camrest")
    with pytest.raises(TodflowError, match="eval5 means slots of MultiWOZ, which incar lacks"):
        wanted("incar", HOTEL, None, ["navigate"], OPTIONS | {"requestables": "eval5"})


def _empty(rows, **options) -> list[int]:
    """Turns without pairs, without requests, and without either."""
    counts = [0, 0, 0]
    for row in rows:
        gold = Segments(row["state_span"], row["act_span"], row["response_delex"])
        got = wanted(row["dataset"], gold, None, row["domain"].split(), OPTIONS | options)
        empty = not got.pairs, not got.requests, not got.pairs and not got.requests
        counts = [count + one for count, one in zip(counts, empty, strict=True)]
    return counts


def test_empty_sets_of_in_car(mirror):
    rows = in_car_rows(mirror, "test")
    assert _empty(rows, requestables="all_placeholders") == [135, 477, 73]
    assert _empty(rows) == [135, 480, 74]


def test_empty_sets_of_multiwoz(mirror):
    """Near DAMD's files: they have a state in 98.5 % of turns, one of the five in 31.4 %."""
    rows = multiwoz_rows(mirror)
    assert _empty(rows) == [123, 2580, 60]
    assert _empty(rows, requestables="eval5") == [123, 5059, 120]
