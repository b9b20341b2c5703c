"""The completed goal model."""

import json
import pickle
import random
import sys
from pathlib import Path

import numpy
import pytest
from convlab_play import manifest

from todflow.convlab_bridge.runtime import open_convlab

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def model():
    path = manifest().parent / "data" / "multiwoz" / "goal" / "new_goal_model.pkl"
    return pickle.loads(path.read_bytes())


def test_the_counts_are_those_of_the_corpus(mirror):
    sys.path.insert(0, str(ROOT / "tools"))
    from count_goal_slots import count

    archive = mirror / "multiwoz/official-layout/MULTIWOZ2.1.zip"
    shipped = ROOT / "src/todflow/convlab_bridge/slot_combinations.json"
    assert count(archive) == json.loads(shipped.read_text())


def test_the_counts_agree_with_the_shipped_marginals(model):
    # Two counts of one corpus, by different people: near, not equal.
    marginals, table = model[0], model[5]
    for domain in ("attraction", "hotel", "restaurant", "train", "taxi"):
        counts = table[domain]["info"]
        for slot, share in marginals[domain]["info"].items():
            counted = sum(n for slots, n in counts.items() if slot in slots) / sum(counts.values())
            assert counted == pytest.approx(share, abs=0.04), (domain, slot)


def test_a_journey_has_its_places_its_day_and_one_time(model):
    train = {"departure", "destination", "day"}
    assert [set(slots) - train for slots in model[5]["train"]["info"]] == [{"arriveBy"}, {"leaveAt"}]


def test_the_generator_draws_goals_of_every_domain():
    with open_convlab(manifest()) as convlab:
        generator = convlab.user(None).goal_generator
        random.seed(5)
        numpy.random.seed(5)
        goals = [generator.get_user_goal() for _ in range(400)]
    seen = {domain for goal in goals for domain in goal["domain_ordering"]}
    assert seen == {"attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train"}
    assert all(
        "reqt" in goal[d] or "book" in goal[d] for goal in goals for d in goal["domain_ordering"]
    )
    failing = [goal[d] for goal in goals for d in goal["domain_ordering"] if "fail_info" in goal[d]]
    assert 20 < len(failing) < 200
