"""Figures and intervals of many dialogues' outcomes."""

import numpy as np
import pytest

from todflow.metrics import bleu
from todflow.metrics.multiwoz.outcome import Outcome, report


def outcomes():
    words = "a b c d e f".split()
    return {
        "one": Outcome(
            True, False, {"hotel": (True, False)}, bleu.counts("a b c d e", "a b c d e f"), 3, 1
        ),
        "two": Outcome(
            True, True, {"hotel": (True, True), "taxi": (True, True)},
            bleu.counts(" ".join(words), "a b c x e f"), 2, 2,
        ),
        "three": Outcome(
            False, False, {"train": (False, False)}, bleu.counts("a b c d", "b c d e"), 5, 0
        ),
    }  # fmt: skip


def test_rates_and_domains():
    result = report(outcomes(), bleu.score, samples=50, seed=1)
    assert result["inform"] == pytest.approx(200 / 3)
    assert result["success"] == pytest.approx(100 / 3)
    assert result["joint_goal_accuracy"] == pytest.approx(30)
    assert result["act_f1"] is None and result["ci"]["act_f1"] is None
    assert result["per_domain"] == {
        "hotel": {"inform": 100, "success": 50, "n": 2},
        "taxi": {"inform": 100, "success": 100, "n": 1},
        "train": {"inform": 0, "success": 0, "n": 1},
    }
    assert (result["n_dialogues"], result["n_turns"]) == (3, 10)
    assert result["combined"] == (result["inform"] + result["success"]) / 2 + result["bleu"]


def test_rounded_rates_enter_combined():
    result = report(outcomes(), bleu.score, samples=5, seed=1, decimals=1)
    assert (result["inform"], result["success"]) == (66.7, 33.3)
    assert result["combined"] == (66.7 + 33.3) / 2 + result["bleu"]


def test_rounding_is_pythons():
    # 307 of 2,000 are 15.35, which is a little less than that; numpy would make it 15.4.
    domains = {"taxi": (True, True)}
    given = {
        str(number): Outcome(number < 307, False, domains, np.zeros(bleu.WIDTH), 1)
        for number in range(2000)
    }
    assert report(given, bleu.score, samples=1, seed=1, decimals=1)["inform"] == 15.3


def test_intervals_are_those_of_resampling_one_by_one():
    given = outcomes()
    result = report(given, bleu.score, samples=200, seed=3)
    generator = np.random.default_rng(3)
    combined, taxi = [], []
    for sample in generator.integers(3, size=(200, 3)):
        drawn = {str(number): list(given.values())[index] for number, index in enumerate(sample)}
        one = report(drawn, bleu.score, samples=1, seed=1)
        combined.append(one["combined"])
        taxi.append(one["per_domain"].get("taxi", {"success": 0})["success"])
    assert result["ci"]["combined"] == pytest.approx(np.percentile(combined, (2.5, 97.5)))
    assert result["ci"]["per_domain"]["taxi"]["success"] == pytest.approx(
        np.percentile(taxi, (2.5, 97.5))
    )


def test_a_figure_is_known_only_where_every_dialogue_has_it():
    given = {name: outcome for name, outcome in outcomes().items()}
    given["four"] = Outcome(True, True, {}, np.zeros(bleu.WIDTH), 1, None, (1, 0, 0))
    result = report(given, bleu.score, samples=5, seed=1)
    assert result["joint_goal_accuracy"] is None and result["act_f1"] is None
    only = report({"four": given["four"]}, bleu.score, samples=5, seed=1)
    assert only["act_f1"] == pytest.approx(100)
