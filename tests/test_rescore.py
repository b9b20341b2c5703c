"""Published outputs: scored, or refused with a reason, so that one bad file leaves the others alone."""

import argparse
import json
from pathlib import Path

import pytest

from todflow import rescore
from todflow.errors import TodflowError
from todflow.files import read_json, sha256


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Arguments of the stage, whose scoring is replaced: `score` gets what the test gives it."""
    monkeypatch.setattr(rescore, "gold_of_files", lambda table, database: (table, database))

    def settings_(score) -> argparse.Namespace:
        monkeypatch.setattr(rescore, "score", score)
        predictions = tmp_path / "pptod.json"
        predictions.write_text("{}")
        return argparse.Namespace(
            config={"name": "legacy-pred", "samples": 10, "seed": 1},
            gold=Path("gold.parquet"),
            database=Path("database.json"),
            predictions=predictions,
            out=tmp_path / "score.json",
        )

    return settings_


def test_a_score_says_which_file_it_is_of(settings):
    def score(gold, predictions, setting, samples, seed, partial):
        assert gold == (Path("gold.parquet"), Path("database.json"))
        assert (setting.name, samples, seed, partial) == ("legacy-pred", 10, 1, True)
        return {"name": setting.name, "inform": 80.0}

    args = settings(score)
    rescore.main(args)
    assert read_json(args.out) == {
        "name": "legacy-pred",
        "inform": 80.0,
        "predictions": {"file": "pptod.json", "sha256": sha256(args.predictions)},
    }


def refuse(text):
    def score(_gold, predictions, *_, **__):
        raise TodflowError(text.format(predictions))

    return score


def test_a_malformed_file_is_refused_by_name_without_its_folder(settings, capfd):
    args = settings(refuse("{}, dialogue pmul1, turn 2, field response: missing; give text"))
    rescore.main(args)
    reason = "pptod.json, dialogue pmul1, turn 2, field response: missing; give text"
    assert read_json(args.out) == {"name": "legacy-pred", "refused": reason}
    assert f"rescore legacy-pred: {reason}; left out" in capfd.readouterr().err


def test_what_is_wrong_elsewhere_is_an_error(settings):
    args = settings(refuse("gold.parquet: column 'booked' is missing; prepare MultiWOZ again"))
    with pytest.raises(TodflowError, match="prepare MultiWOZ again"):
        rescore.main(args)
    assert not args.out.exists()


def test_outputs_without_states_are_not_passed_off_as_predicted_ones(settings):
    args = settings(lambda *_, **__: {"name": "legacy-gold", "inform": 80.0})
    rescore.main(args)
    refused = json.loads(args.out.read_text())["refused"]
    assert refused == "pptod.json: no predicted states; see legacy-gold"
