"""Malformed measurement files: one line that names the file, the field and the remedy."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tables_inputs as inputs

from todflow.errors import TodflowError
from todflow.files import write_json
from todflow.metrics.tally import Tally
from todflow.score import report
from todflow.tables.measurements import (
    read_rescored,
    read_simulation,
    read_tested,
    read_unreleased,
)
from todflow.tables.places import Place


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "change, field",
    [
        ({"match": "70"}, "match isn't a number"),
        ({"match": True}, "match isn't a number"),
        ({"bleu": float("nan")}, "bleu isn't a number"),
        ({"combined": None}, "combined isn't a number"),
        ({"n_turns": 1.5}, "n_turns isn't a count"),
        ({"ci": []}, "ci isn't an object"),
        ({"ci": {"bleu": [1]}}, r"ci.bleu isn't \[low, high\]"),
        ({"ci": {"bleu": [3, 2]}}, "ci.bleu has its low end above its high end"),
    ],
)
def test_a_bad_score_names_file_and_field(change, field):
    path = inputs.score(**change)
    with pytest.raises(TodflowError, match=f"^{path}: {field}; delete the file and run") as caught:
        read_tested(path)
    assert "\n" not in str(caught.value)


def test_a_missing_field_is_named():
    path = inputs.write("results/a/b/seed1/sft/test-gold.x.score.json", {"ci": {}})
    with pytest.raises(TodflowError, match="n_dialogues is missing"):
        read_tested(path)


@pytest.mark.parametrize("evaluator, acts", [("incar-galaxy", False), ("selfplay", True)])
def test_what_the_score_stage_reports_is_read(tmp_path, evaluator, acts):
    tally = Tally(match=1, match_counted=1, requests=(3, 1, 0), turns=4, acts=(2, 2, 0))
    written = report(evaluator, np.stack([tally.row()] * 5), samples=3, seed=1, acts=acts)
    path = tmp_path / "incar" / "b" / "seed1" / "sft" / f"test-generated.{evaluator}.score.json"
    write_json(path, written)
    score = read_tested(path).score
    assert ("act_f1" in written) == acts
    assert (score.figures["act_f1"].value is not None) == acts
    assert score.figures["match"].value == 100 and score.figures["match"].n == 5
    assert score.figures["bleu"].n == 20


@pytest.mark.parametrize(
    "path",
    [
        "results/a/b/seedx/sft/test-gold.x.score.json",
        "results/a/b/seed1/rl/test-gold.x.score.json",
        "results/a/b/seed1-share5/sft/test-gold.x.score.json",
        "results/a/b/seed1/sft/test-own.x.score.json",
        "results/a/b/seed1/sft/test-gold.score.json",
        "score.json",
    ],
)
def test_a_score_in_the_wrong_place_is_refused(path):
    with pytest.raises(TodflowError, match="isn't (below <dataset>|test-<generated)"):
        read_tested(inputs.write(path, {}))


def test_the_folder_of_a_score_says_which_run_it_is_of():
    read = read_tested(inputs.score("incar", seed=3, share="-share05", stage="rl-g"))
    assert read.place == Place("incar", "scratch-small", 3, 5, "rl-g")
    assert read_tested(inputs.score()).place == Place("selfplay", "scratch-small", 1, 100, "sft")


@pytest.mark.parametrize(
    "change, field",
    [
        ({"inform": None}, "inform isn't a number"),
        ({"n_expected": 999}, "n_dialogues is more than n_expected"),
        ({"state": "own"}, "state is none of predicted, gold"),
        ({"vintage": 1}, "vintage isn't a name"),
        (
            {"name": "standard-v2"},
            "path says otherwise than the file, which is of evaluator standard-v2",
        ),
        ({"ci": {"success": [1]}}, r"ci.success isn't \[low, high\]"),
    ],
)
def test_a_bad_multiwoz_score_names_file_and_field(change, field):
    for path, read in (
        (inputs.multiwoz_score(**change), read_tested),
        (inputs.rescored(**change), read_rescored),
    ):
        with pytest.raises(TodflowError, match=f"^{path}: {field}; delete the file and run"):
            read(path)


def test_a_multiwoz_score_says_how_it_was_made():
    read = read_tested(inputs.multiwoz_score("legacy-gold", n_dialogues=999, act_f1=None))
    score = read.score
    assert read.place == Place("multiwoz20", "scratch-small", 1, 100, "sft")
    assert (score.evaluator, score.vintage, score.state) == ("legacy-gold", "", "gold")
    assert (score.scored, score.dialogues) == (999, "999 of 1000")
    assert score.figures["inform"].n == 999 and score.figures["bleu"].n == 7372
    assert score.figures["act_f1"].value is None
    assert read_tested(inputs.multiwoz_score()).score.vintage == "v1"


def test_outputs_that_were_refused_are_read_as_such():
    path = inputs.refused("pptod", "standard-v1", "pptod.json: not JSON")
    read = read_rescored(path)
    assert (read.system, read.score, read.refused) == ("pptod", None, "pptod.json: not JSON")
    assert read_rescored(inputs.rescored("galaxy-e2e", "legacy-pred")).system == "galaxy-e2e"
    with pytest.raises(TodflowError, match="path says otherwise than the file"):
        read_rescored(
            inputs.write("results/rescored/a.b.score.json", {"name": "c", "refused": "x"})
        )
    for path in ("results/rescored/pptod.score.json", "results/pptod.standard-v1.score.json"):
        with pytest.raises(TodflowError, match="path isn't rescored/"):
            read_rescored(inputs.write(path, inputs.multiwoz("standard-v1")))


def test_a_training_table_says_whose_acts_it_has():
    path = inputs.training_table("multiwoz21", ["gold", "gold-2.1", "silver", "none"])
    assert read_unreleased(path) == ("multiwoz21", 1, 4)
    Path(path).write_text("no table")
    with pytest.raises(TodflowError, match=f"^{path}: no table with act_source .*; prepare"):
        read_unreleased(path)
    pd.DataFrame({"dataset": ["incar"]}).to_parquet(path)
    with pytest.raises(TodflowError, match="no table with act_source"):
        read_unreleased(path)


def test_a_bad_simulation_names_file_and_field():
    def failure(**changes):
        path = inputs.simulation(**changes)
        with pytest.raises(TodflowError) as caught:
            read_simulation(path)
        return str(caught.value)

    assert "metrics.book.n isn't a count" in failure(book={"value": 1.0, "n": -1, "ci": [0, 2]})
    assert "metrics.book.value isn't a number" in failure(book={"value": None, "n": 5, "ci": None})
    assert "metrics.book.ci isn't [low, high]" in failure(book={"value": 1.0, "n": 5})
    assert "metrics.turns isn't an object" in failure(turns=10.6)
    entry = {"value": 1.0, "n": 5, "ci": [0, 2]}
    assert "metrics.book.interval is missing" in failure(book=entry)
    assert "metrics.book.interval is none of wilson, bootstrap" in failure(
        book=entry | {"interval": "t"}
    )
    assert "definition.initiative is missing" in failure(definition={"counting": "convlab2"})
    assert "definition.initiative isn't a count" in failure(
        definition={"initiative": "4", "counting": "convlab2"}
    )
    assert "definition.counting isn't a name" in failure(
        definition={"initiative": 4, "counting": None}
    )


def test_a_simulation_without_its_settings_meaning_is_refused():
    data = {"system": "hdc", "setting": "convlab2", "metrics": {}}
    path = inputs.write("results/simulate/hdc/convlab2/metrics.json", data)
    with pytest.raises(TodflowError, match=f"^{path}: definition is missing; delete"):
        read_simulation(path)


def test_files_in_the_wrong_state_are_refused():
    with pytest.raises(TodflowError, match="nowhere.json: file is missing"):
        read_simulation("nowhere.json")
    broken = inputs.write("results/simulate/hdc/convlab2/metrics.json", {})
    open(broken, "w").write("{")
    with pytest.raises(TodflowError, match="file isn't JSON"):
        read_simulation(broken)
    with pytest.raises(TodflowError, match="file isn't a JSON object"):
        read_simulation(inputs.write(broken, []))


def test_a_simulation_filed_under_another_name_is_refused():
    data = {"system": "hdc", "setting": "convlab3", "metrics": {}}
    path = inputs.write("results/simulate/hdc/convlab2/metrics.json", data)
    with pytest.raises(TodflowError, match="path says otherwise than the file.*hdc/convlab3"):
        read_simulation(path)
