import pytest
from multiwoz_oracle import damd_on_100, differing, turns

from todflow.corpora.multiwoz import DOMAINS
from todflow.corpora.multiwoz.acts import act_list, act_span, domain_of
from todflow.metrics.spans import parse_acts

ACT_DOMAINS = (*DOMAINS, "general")


def span(acts, domains=("hotel",)):
    return act_span(act_list(acts, list(domains)))


def test_domain_of():
    assert domain_of("Hotel-Inform") == "hotel"
    assert domain_of("general-reqmore") == "general"


def test_slots_get_short_names_and_values_are_cleaned():
    acts = {
        "Hotel-Inform": [
            ["Addr", "15-17 Norman Way"], ["Post", "cb41uf"], ["Type", "guesthouses"],
            ["Fee", "free"], ["Ref", "FRGZWQL2"], ["Ticket", "10 GBP"],
        ],
        "Train-Inform": [["Depart", "Ely"], ["Dest", "London Kings Cross"]],
    }  # fmt: skip
    assert act_list(acts, ["hotel", "train"]) == [
        ["inform", "hotel", "address", "15 - 17 norman way"],
        ["inform", "hotel", "postcode", "cb41uf"],
        ["inform", "hotel", "type", "guest house"],
        ["inform", "hotel", "price", "free"],
        ["inform", "hotel", "reference", "frgzwql2"],
        ["inform", "hotel", "price", "10 gbp"],
        ["inform", "train", "departure", "ely"],
        ["inform", "train", "destination", "london kings cross"],
    ]


def test_an_act_without_slots_has_an_empty_slot_and_value():
    assert act_list({"general-bye": [["none", "none"]]}, ["general"]) == [
        ["bye", "general", "", ""]
    ]
    assert act_list({"Hotel-Select": []}, ["hotel"]) == [["select", "hotel", "", ""]]


def test_what_is_asked_has_no_value():
    acts = {"Hotel-Request": [["Area", "?"]], "Hotel-Inform": [["Choice", "none"]]}
    assert act_list(acts, ["hotel"]) == [
        ["inform", "hotel", "choice", ""], ["request", "hotel", "area", ""],
    ]  # fmt: skip


def test_nothing_said():
    assert act_list({}, ["hotel"]) == []
    assert act_span([]) == ""


def test_the_span_names_a_slot_once_and_has_no_values():
    acts = {"Hotel-Inform": [["Name", "a"], ["Area", "north"], ["Name", "b"], ["none", "none"]]}
    assert span(acts) == "[hotel] [inform] name area"


def test_requests_and_the_like_come_last_in_their_domain():
    acts = {
        "Hotel-Request": [["Area", "?"]],
        "general-reqmore": [["none", "none"]],
        "Hotel-Inform": [["Choice", "3"]],
        "Booking-Inform": [["none", "none"]],
        "general-welcome": [["none", "none"]],
    }
    assert span(acts) == (
        "[hotel] [inform] choice [request] area [offerbook] [general] [welcome] [reqmore]"
    )


def test_a_greeting_comes_first_and_alone():
    acts = {"general-reqmore": [["none", "none"]], "general-greet": [["none", "none"]]}
    assert span(acts, ["general"]) == "[general] [greet] [general] [reqmore]"
    acts = {"Hotel-Request": [["Area", "?"]], "general-greet": [["none", "none"]]}
    assert span(acts) == "[general] [greet] [hotel] [request] area"


def test_domains_stand_in_the_turns_order():
    acts = {"Hotel-Inform": [["Area", "north"]], "Train-Inform": [["Day", "monday"]]}
    assert span(acts, ["train", "hotel"]) == "[train] [inform] day [hotel] [inform] area"


@pytest.mark.parametrize(
    ("released", "intent"),
    [
        ("Inform", "offerbook"),
        ("Book", "offerbooked"),
        ("NoBook", "nobook"),
        ("Request", "request"),
    ],
)
def test_booking_acts_go_to_the_turns_first_domain(released, intent):
    assert span({f"Booking-{released}": [["Day", "friday"]]}, ["hotel", "train"]) == (
        f"[hotel] [{intent}] day"
    )


def test_inform_is_merged_into_a_booking_that_has_been_made():
    acts = {"Booking-Book": [["Ref", "X1"]], "Hotel-Inform": [["Name", "a"], ["Ref", "X1"]]}
    assert span(acts) == "[hotel] [offerbooked] reference name"
    assert act_list(acts, ["hotel"])[1] == ["offerbooked", "hotel", "name", "a"]
    # Only where the booking is of the same domain.
    assert span(acts, ["restaurant", "hotel"]) == (
        "[restaurant] [offerbooked] reference [hotel] [inform] name reference"
    )


def test_a_later_act_of_the_same_name_replaces_the_earlier():
    acts = {"Hotel-Request": [["Area", "?"]], "Booking-Request": [["Day", "?"]]}
    assert span(acts) == "[hotel] [request] day"


def test_an_act_outside_the_turns_domains_comes_after_them():
    assert span({"general-welcome": [], "Hotel-Inform": [["Area", "north"]]}) == (
        "[hotel] [inform] area [general] [welcome]"
    )


def test_the_list_holds_what_the_span_says():
    acts = {
        "Booking-Book": [["Ref", "X1"]], "Hotel-Inform": [["Name", "a"], ["Name", "b"]],
        "general-greet": [["none", "none"]], "Train-Request": [["Day", "?"]],
    }  # fmt: skip
    listed = act_list(acts, ["hotel", "train"])
    assert {(domain, intent, slot) for intent, domain, slot, _ in listed} == parse_acts(
        act_span(listed), ACT_DOMAINS
    )


@pytest.mark.oracle
def test_spans_are_damds_on_the_test_split(mirror, oracles):
    # There DAMD names a slot twice, once as the booking's and once as the merged inform's.
    assert differing(mirror, oracles, "sys_act") == [("mul1633", 1)]


@pytest.mark.oracle
def test_spans_are_damds_on_100_dialogues_of_the_older_release(mirror):
    pairs = damd_on_100(mirror)
    assert len(pairs) == 736
    assert all(ours.spelt()["sys_act"] == theirs["sys_act"] for ours, theirs in pairs)


@pytest.mark.oracle
def test_list_and_span_agree_in_every_turn(mirror):
    archive = mirror / "multiwoz" / "official-layout" / "MULTIWOZ2.1.zip"
    for turn in turns(archive)["test"] + turns(archive)["train"][::10]:
        listed = {(domain, intent, slot) for intent, domain, slot, _ in turn.acts}
        assert parse_acts(act_span(turn.acts), ACT_DOMAINS) == listed, turn
