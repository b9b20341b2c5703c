"""The slot names that convlab imports from the runtime folder."""

import pytest

from todflow.convlab_bridge.slots import (
    SLOTS,
    STATE_SLOTS,
    normalize_domain_slot_value,
    reverse_da,
    reverse_da_slot_name_map,
)


@pytest.mark.parametrize(
    ("older", "unified"),
    [
        (("Taxi", "Car", "bmw"), ("taxi", "type", "bmw")),
        (("taxi", "car type", ""), ("taxi", "type", "")),
        (("Attraction", "Price", "free"), ("attraction", "entrance fee", "free")),
        (("Attraction", "Fee", "free"), ("attraction", "entrance fee", "free")),
        (("Hotel", "Price", "cheap"), ("hotel", "price range", "cheap")),
        (("restaurant", "pricerange", "cheap"), ("restaurant", "price range", "cheap")),
        (("Hotel", "Day", "monday"), ("hotel", "book day", "monday")),
        (("Train", "Day", "monday"), ("train", "day", "monday")),
        (("Restaurant", "Time", "12:00"), ("restaurant", "book time", "12:00")),
        (("Train", "Time", "51 minutes"), ("train", "duration", "51 minutes")),
        (("Train", "Ticket", "4 pounds"), ("train", "price", "4 pounds")),
        (("Train", "Id", "TR1"), ("train", "train id", "TR1")),
        (("train", "leaveAt", "09:00"), ("train", "leave at", "09:00")),
        (("Hotel", "Stay", " 3 "), ("hotel", "book stay", "3")),
        (("Hotel", "none", "none"), ("hotel", "", "")),
        (("general", "none", "none"), ("general", "", "")),
        (("Hotel", "Area", "do n't care"), ("hotel", "area", "dontcare")),
        (("Hotel", "Phone", "?"), ("hotel", "phone", "")),
    ],
)
def test_older_names_become_unified(older, unified):
    assert normalize_domain_slot_value(*older) == unified


@pytest.mark.parametrize(
    ("domain", "slot"),
    [
        ("hotel", "NotBook"),
        ("train", "Post"),
        ("booking", "Ref"),
        ("police", "time"),
        ("taxi", "ticket"),
    ],
)
def test_unknown_slots_raise(domain, slot):
    with pytest.raises(KeyError):
        normalize_domain_slot_value(domain, slot, "x")


def reverse(intent, domain, slot, value):
    return reverse_da({"c": [{"intent": intent, "domain": domain, "slot": slot, "value": value}]})


@pytest.mark.parametrize(
    ("act", "older"),
    [
        (("inform", "taxi", "type", "bmw"), {"Taxi-Inform": [["Car", "bmw"]]}),
        (("inform", "hotel", "type", "hotel"), {"Hotel-Inform": [["Type", "hotel"]]}),
        (("request", "train", "price", ""), {"Train-Request": [["Ticket", "?"]]}),
        (("nooffer", "hotel", "", ""), {"Hotel-NoOffer": [["none", "none"]]}),
        (("offerbook", "train", "book people", "2"), {"Train-OfferBook": [["People", "2"]]}),
        (("nobook", "hotel", "book day", "monday"), {"Hotel-NoBook": [["Day", "monday"]]}),
        (("bye", "general", "", ""), {"general-bye": [["none", "none"]]}),
        (("book", "booking", "ref", "00000001"), {"Booking-Book": [["Ref", "00000001"]]}),
    ],
)
def test_unified_acts_become_older(act, older):
    assert reverse(*act) == older


def test_reversed_slots_come_back():
    for domain, slots in SLOTS.items():
        for slot in slots:
            [[older, value]] = reverse("inform", domain, slot, "x")[f"{domain.capitalize()}-Inform"]
            # A police station's or hospital's acts have no slot whose older name they don't know.
            assert normalize_domain_slot_value(domain, older, value) == (domain, slot, "x"), (
                domain,
                slot,
            )


def test_tracked_slots_are_slots():
    for domain, slots in STATE_SLOTS.items():
        assert set(slots) <= set(SLOTS[domain])


def test_the_map_has_the_form_that_convlab_reads():
    assert reverse_da_slot_name_map["taxi"]["type"] == "Car"
    assert all(isinstance(v, str) for k, v in reverse_da_slot_name_map.items() if k != "taxi")
