"""Averages and intervals of simulated dialogues."""

import numpy as np
import pandas as pd
import pytest

from todflow.metrics.simulation import RATES, bootstrap, figures, wilson


def test_wilson_against_known_values():
    # Newcombe (1998), table I: 81 of 263, and 0 of 20.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert wilson(20, 20)[1] == 1.0


def test_bootstrap_is_seeded_and_spans_the_mean():
    values = np.array([0.0, 1.0] * 50)
    low, high = bootstrap(values, 500, 3)
    assert (low, high) == bootstrap(values, 500, 3) != bootstrap(values, 500, 4)
    # The normal approximation gives 0.5 -+ 1.96 * 0.05.
    assert low == pytest.approx(0.402, abs=0.02) and high == pytest.approx(0.598, abs=0.02)
    assert bootstrap(np.full(9, 2.0), 100, 1) == (2.0, 2.0)


def results(**columns):
    table = {
        "turns": [10, 20], "inform_precision": [0.5, np.nan], "inform_recall": [1.0, np.nan],
        "inform_f1": [2 / 3, np.nan], "book": [np.nan, np.nan], "success": [True, False],
        "success_strict": [False, False], "complete": [True, True],
    }  # fmt: skip
    return pd.DataFrame(table | columns)


def test_undefined_values_are_left_out():
    measured = figures(results(), 50, 1)
    assert measured["turns"]["value"] == 15 and measured["turns"]["n"] == 2
    assert measured["inform_precision"] == {
        "value": 50.0,
        "n": 1,
        "ci": [50.0, 50.0],
        "interval": "bootstrap",
    }
    assert measured["book"] == {"value": None, "n": 0, "ci": None, "interval": "bootstrap"}
    assert [measured[name]["value"] for name in ("success", "success_strict", "complete")] == [
        50,
        0,
        100,
    ]
    assert {name for name in measured if measured[name]["interval"] == "wilson"} == set(RATES)
    assert measured["complete"]["ci"] == pytest.approx([34.24, 100], abs=0.01)


def test_f1_is_the_mean_over_dialogues():
    table = results(
        inform_precision=[1.0, 0.0], inform_recall=[0.0, 1.0], inform_f1=[0.0, 0.0], book=[1.0, 0.5]
    )
    measured = figures(table, 50, 1)
    assert measured["inform_precision"]["value"] == measured["inform_recall"]["value"] == 50
    assert measured["inform_f1"]["value"] == 0 and measured["book"]["value"] == 75
