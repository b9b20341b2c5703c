"""Malformed measurement files: one line that names the file, the field and the remedy."""

import numpy as np
import pytest
import tables_inputs as inputs

from todflow.errors import TodflowError
from todflow.files import write_json
from todflow.metrics.tally import Tally
from todflow.score import report
from todflow.tables.measurements import read_score, read_simulation


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
        ({"evaluator": ""}, "evaluator isn't a name"),
    ],
)
def test_a_bad_score_names_file_and_field(change, field):
    path = inputs.score(**change)
    with pytest.raises(TodflowError, match=f"^{path}: {field}; delete the file and run") as caught:
        read_score(path)
    assert "\n" not in str(caught.value)


def test_a_missing_field_is_named():
    path = inputs.write("results/a/b/seed1/sft/test-gold.score.json", {"ci": {}})
    with pytest.raises(TodflowError, match="n_dialogues is missing"):
        read_score(path)


@pytest.mark.parametrize("evaluator, acts", [("incar-galaxy", False), ("selfplay", True)])
def test_what_the_score_stage_reports_is_read(tmp_path, evaluator, acts):
    tally = Tally(match=1, match_counted=1, requests=(3, 1, 0), turns=4, acts=(2, 2, 0))
    written = report(evaluator, np.stack([tally.row()] * 5), samples=3, seed=1, acts=acts)
    path = tmp_path / "incar" / "b" / "seed1" / "sft" / "test-generated.score.json"
    write_json(path, written)
    score = read_score(path)
    assert ("act_f1" in written) == acts
    assert (score.figures["act_f1"].value is not None) == acts
    assert score.figures["match"].value == 100 and score.figures["match"].n == 5
    assert score.figures["bleu"].n == 20


@pytest.mark.parametrize(
    "path",
    [
        "results/a/b/seedx/sft/test-gold.score.json",
        "results/a/b/seed1/rl/test-gold.score.json",
        "results/a/b/seed1/sft/test-own.score.json",
        "score.json",
    ],
)
def test_a_score_in_the_wrong_place_is_refused(path):
    with pytest.raises(TodflowError, match="path isn't <dataset>"):
        read_score(inputs.write(path, {}))


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
