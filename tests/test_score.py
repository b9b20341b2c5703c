"""The scoring stage, and the evaluators on whole corpora with known figures."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from todflow.corpora.incar.entities import entity_map
from todflow.corpora.incar.prepare import split_rows
from todflow.corpora.incar.release import read_entities
from todflow.corpora.turns import COLUMNS, write_turns
from todflow.errors import TodflowError
from todflow.predictions import Answer
from todflow.score import (
    gold_dialogues,
    intents,
    main,
    predicted_dialogues,
    report,
    slots_of,
    tallies,
)


def row(dialogue, turn, domain, state, response, acts=""):
    texts = dict.fromkeys(COLUMNS, "") | {"acts": "[]", "goal": "{}", "state": json.dumps(state)}
    span = " ".join(
        f"[{name}] " + " ".join(f"{slot} {value}" for slot, value in slots.items())
        for name, slots in state.items()
    )
    return texts | {
        "dialogue_id": dialogue,
        "turn": turn,
        "domain": domain,
        "state_span": span,
        "act_span": acts,
        "response_delex": response,
    }


HOTEL = {"hotel": {"area": "north", "type": "guest house"}}
SELFPLAY = [
    row("one", 0, "hotel", {}, "which area do you want ?", "[hotel] [request] area"),
    row("one", 1, "hotel", HOTEL, "it is [value_name] , [value_phone] .", "[hotel] [inform] phone"),
    row("two", 0, "train", {"train": {"day": "monday"}}, "[value_id] leaves at [value_leave] ."),
]
INCAR = [
    row(
        "one", 0, "schedule", {"schedule": {"time": "7pm"}}, "ok , at 7pm for [value_event] then ."
    ),
    row("two", 0, "navigate", {"navigate": {"poi_type": "gas"}}, "[value_poi] is [value_distance]"),
]
ENTITIES = {"7pm": "time", "gas": "poi_type"}


def predictions(rows, **changed):
    table = pd.DataFrame(rows)[["dialogue_id", "turn", "state_span", "act_span", "response_delex"]]
    table = table.rename(columns={"response_delex": "response"}).astype({"turn": "int32"})
    return table.assign(text="", **changed)


def stage(folder, rows, table, evaluator="selfplay", config=None, entities=None):
    """Run the stage's main; the scores that it writes."""
    write_turns(folder / "test.parquet", rows)
    table.to_parquet(folder / "p.parquet")
    if entities is not None:
        (folder / "e.json").write_text(json.dumps(entities))
    arguments = argparse.Namespace(
        config={"evaluator": evaluator, "samples": 20, "seed": 1} | (config or {}),
        gold=folder / "test.parquet",
        predictions=folder / "p.parquet",
        entities=None if entities is None else folder / "e.json",
        out=folder / "s.json",
    )
    main(arguments)
    return json.loads((folder / "s.json").read_text())


def test_selfplay_stage(tmp_path):
    result = stage(tmp_path, SELFPLAY, predictions(SELFPLAY))
    counts = ("evaluator", "n_dialogues", "n_turns", "match_denominator")
    assert [result[name] for name in counts] == ["selfplay", 2, 3, 2]
    names = ["match", "succ_f1", "bleu", "bleu_without_markers", "combined", "joint_goal_accuracy", "act_f1"]
    assert list(result["ci"]) == names
    for name in names:
        expected = 200 if name == "combined" else 100
        assert result[name] == pytest.approx(expected, abs=1e-4)
        low, high = result["ci"][name]
        assert low <= result[name] + 1e-9 and result[name] <= high + 1e-9
    first = (tmp_path / "s.json").read_bytes()
    stage(tmp_path, SELFPLAY, predictions(SELFPLAY))
    assert (tmp_path / "s.json").read_bytes() == first


def test_incar_stage_needs_entities_and_has_no_act_f1(tmp_path):
    table = predictions(INCAR, response="[value_event]")
    with pytest.raises(TodflowError, match="--entities: incar-galaxy needs"):
        stage(tmp_path, INCAR, table, "incar-galaxy")
    with pytest.raises(TodflowError, match="e.json: not an object"):
        stage(tmp_path, INCAR, table, "incar-galaxy", entities=[])
    result = stage(tmp_path, INCAR, table, "incar-galaxy", entities=ENTITIES)
    assert "act_f1" not in result and "act_f1" not in result["ci"]
    assert result["match"] == 100
    # "7pm" of the first reference is an answer, too: 1 found of 4, 1 wrong.
    assert result["succ_f1"] == pytest.approx(100 * 2 * 0.5 * 0.25 / 0.75, abs=1e-4)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"evaluator": "bleurt"}, "config: 'evaluator': 'bleurt' is none of incar-galaxy"),
        ({"samples": 0}, "config: 'samples': 0"),
        ({"samples": 100_001}, "config: 'samples': 100001; give a whole number from 1 to 100000"),
        ({"samples": True}, "config: 'samples': True"),
        ({"samples": 20.0}, "config: 'samples': 20.0"),
        ({"seed": "x"}, "config: 'seed': 'x'"),
        ({"seed": -1}, "config: 'seed': -1"),
        ({"seed": False}, "config: 'seed': False"),
        ({"evaluator": []}, r"config: 'evaluator': \[\] is none of"),
    ],
)
def test_bad_settings(tmp_path, config, message):
    with pytest.raises(TodflowError, match=message):
        stage(tmp_path, SELFPLAY, predictions(SELFPLAY), config=config)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (predictions(SELFPLAY[:2]), "dialogues missing: two; give exactly the 2"),
        (
            predictions([*SELFPLAY, row("three", 0, "hotel", {}, "")]),
            "dialogues not of this split: three",
        ),
        (predictions([SELFPLAY[0], SELFPLAY[2]]), "dialogue one: 1 turns where the split has 2"),
    ],
)
def test_dialogues_must_be_those_of_the_split(tmp_path, table, message):
    with pytest.raises(TodflowError, match=message):
        stage(tmp_path, SELFPLAY, table)
    assert not (tmp_path / "s.json").exists()


def test_unknown_slots_are_refused_and_those_of_other_domains_scored():
    table = pd.DataFrame(INCAR)
    slots, domains = slots_of("incar-galaxy", table), intents(table)
    gold = gold_dialogues(table, slots)

    def predicted(state):
        answers = {"one": [Answer(state, "", "")], "two": [Answer("", "", "")]}
        return predicted_dialogues(answers, gold, slots, domains, Path("p.json"))

    message = (
        r"p\.json, dialogue one, turn 0, field state\.bogus: no such slot; this dialogue's are "
        "agenda, date, event, party, room, time$"
    )
    with pytest.raises(TodflowError, match=message):
        predicted({"time": "7pm", "bogus": "x"})
    assert predicted({"poi_type": "gas"})["one"][0].state == {"schedule": {"poi_type": "gas"}}


@pytest.mark.parametrize("config", [["selfplay"], "selfplay", None, 1])
def test_settings_must_be_an_object(config):
    with pytest.raises(TodflowError, match="^config: .*; give an object of evaluator, samples"):
        main(argparse.Namespace(config=config))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('{"evaluator": "selfplay"}', "'samples': None; give a whole number from 1 to 100000"),
        (
            '{"evaluator": "selfplay", "samples": true, "seed": 1}',
            "'samples': True; give a whole number from 1 to 100000",
        ),
        (
            '{"evaluator": "selfplay", "samples": 1, "seed": -1}',
            "'seed': -1; give a whole number, 0 or more",
        ),
    ],
)
def test_stage_ends_with_status_2_and_one_line(tmp_path, config, message):
    files = [part for name in ("gold", "predictions") for part in (f"--{name}", tmp_path / name)]
    ended = subprocess.run(
        [sys.executable, "-m", "todflow.score", "--config", config, *files]
        + ["--out", tmp_path / "s.json", "--log", tmp_path / "log"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == f"error: config: {message}\n"


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("entities", "data", "slot_value", "bags"),
    [
        ("kvret_dataset_public", "kvret_dataset_public", 190, None),
        ("sequicity_kvret", "kvret_dataset_public", 194, None),
        ("sequicity_kvret", "sequicity_kvret", 195, 274),
    ],
)
def test_gold_against_gold(mirror, entities, data, slot_value, bags):
    found = entity_map(read_entities(mirror / "kvret" / f"{entities}.zip"))
    table = pd.DataFrame(split_rows(mirror / "kvret" / f"{data}.zip", "test", found))
    denominators = {"incar-galaxy": slot_value}
    if bags:
        denominators |= {"incar-labes": slot_value, "incar-sequicity": bags}
    for evaluator, denominator in denominators.items():
        gold = gold_dialogues(table, slots_of(evaluator, table))
        rows = tallies(evaluator, gold, gold, intents(table), found)
        result = report(evaluator, rows, 10, 1, acts=False)
        assert (result["n_dialogues"], result["n_turns"]) == (304, 808)
        assert result["match_denominator"] == denominator
        for name in ("match", "succ_f1", "bleu", "bleu_without_markers", "joint_goal_accuracy"):
            assert result[name] == pytest.approx(100, abs=1e-4)
