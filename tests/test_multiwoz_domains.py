import pytest
from multiwoz_oracle import damd_on_100, differing

from todflow.corpora.multiwoz.domains import turn_domains

HOTEL = {"hotel": {"area": "north"}}
BOTH = {**HOTEL, "train": {"day": "monday"}}


def one(state, acts, before=None, said=None):
    """The domains of a turn that comes after one with the state `before` and the acts `said`."""
    return turn_domains([before or {}, state], [said or {}, acts])[1]


def test_nothing_said_and_nothing_known_is_general():
    assert turn_domains([{}], [{}]) == [["general"]]


def test_the_domain_whose_state_is_filled_or_changes():
    assert turn_domains([HOTEL], [{}]) == [["hotel"]]
    assert one({"hotel": {"area": "south"}}, {}, HOTEL) == ["hotel"]


def test_the_domains_of_the_acts_come_after_those_of_the_state():
    assert turn_domains([HOTEL], [{"Train-Inform": [["Day", "monday"]]}]) == [["hotel", "train"]]


def test_a_domain_is_named_once():
    acts = {"Hotel-Inform": [["Area", "north"]], "Hotel-Request": [["Stars", "?"]]}
    assert turn_domains([HOTEL], [acts]) == [["hotel"]]


@pytest.mark.parametrize("vague", ["general-reqmore", "Booking-Inform"])
def test_general_and_booking_do_not_count_beside_a_domain(vague):
    assert turn_domains([{}], [{vague: [], "Hotel-Request": [["Area", "?"]]}]) == [["hotel"]]


def test_booking_alone_keeps_the_domain_of_the_turn_before():
    assert one(HOTEL, {"Booking-Book": [["Ref", "X1"]]}, HOTEL) == ["hotel"]
    assert one(HOTEL, {"Booking-Book": [], "general-reqmore": []}, HOTEL) == ["hotel"]


def test_no_act_and_no_change_keep_the_domains_of_the_turn_before():
    states, acts = [BOTH, BOTH, BOTH], [{}, {}, {}]
    assert turn_domains(states, acts) == [["hotel", "train"]] * 3


def test_a_turn_of_general_acts_alone_is_general():
    assert one(HOTEL, {"general-bye": [["none", "none"]]}, HOTEL) == ["general"]


def test_general_does_not_count_beside_a_changed_state():
    assert one(BOTH, {"general-greet": [["none", "none"]]}, HOTEL) == ["train"]


def test_the_domain_of_the_turn_before_stands_first():
    acts = {"Hotel-Inform": [["Area", "north"]]}
    assert one(BOTH, acts, HOTEL) == ["hotel", "train"]
    # The turn before was about neither.
    taxi = {"Taxi-Inform": [["Car", "red ford"]]}
    assert one(BOTH, acts, HOTEL | {"taxi": {"leave": "9:00"}}, taxi) == ["train", "hotel"]


def test_domains_known_from_acts_alone_stand_in_the_order_of_the_acts():
    acts = {"Train-Inform": [], "Hotel-Inform": [], "Taxi-Inform": []}
    assert turn_domains([{}], [acts]) == [["train", "hotel", "taxi"]]


def test_the_domains_of_a_turn_are_its_own():
    kept = turn_domains([HOTEL, HOTEL], [{}, {}])
    kept[0].append("train")
    assert kept[1] == ["hotel"]


@pytest.mark.oracle
def test_domains_are_damds_on_the_test_split(mirror, oracles):
    assert differing(mirror, oracles, "turn_domain") == []


@pytest.mark.oracle
def test_domains_are_damds_on_100_dialogues_of_the_older_release(mirror):
    pairs = damd_on_100(mirror)
    assert len(pairs) == 736
    assert all(ours.spelt()["turn_domain"] == theirs["turn_domain"] for ours, theirs in pairs)
