import pytest

from todflow.metrics.spans import parse_acts, parse_state, state_span

SLOTS = {"hotel": {"area", "type", "stars"}, "train": {"day"}}
DOMAINS = ("hotel", "train", "general")


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("", {}),
        (
            "[hotel] area north type guest house [train] day monday",
            {"hotel": {"area": "north", "type": "guest house"}, "train": {"day": "monday"}},
        ),
        ("stray [hotel] words area north", {"hotel": {"area": "north"}}),
        ("[hotel] area north area south", {"hotel": {"area": "south"}}),
        ("[hotel] area north stars", {"hotel": {"area": "north"}}),
        ("[hotel] area", {}),
        ("[hotel] area north day monday", {"hotel": {"area": "north day monday"}}),
        ("[space] area north [train] day monday", {"train": {"day": "monday"}}),
        ("[hotel] area north [hotel] stars 4", {"hotel": {"area": "north", "stars": "4"}}),
    ],
)
def test_parse_state(span, expected):
    assert parse_state(span, SLOTS) == expected


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("", set()),
        (
            "[hotel] [inform] choice area [request] price [train] [inform] day",
            {
                ("hotel", "inform", "choice"),
                ("hotel", "inform", "area"),
                ("hotel", "request", "price"),
                ("train", "inform", "day"),
            },
        ),
        ("[general] [greet]", {("general", "greet", "")}),
        (
            "[hotel] stray [offerbook] [inform] area",
            {("hotel", "offerbook", ""), ("hotel", "inform", "area")},
        ),
    ],
)
def test_parse_acts(span, expected):
    assert parse_acts(span, DOMAINS) == expected


def test_state_span():
    state = {"hotel": {"area": "north", "type": "guest house"}, "taxi": {}, "train": {"day": "monday"}}
    assert state_span(state) == "[hotel] area north type guest house [train] day monday"
    assert state_span({"hotel": {}}) == state_span({}) == ""
