"""Malformed measurement files: one line that names the file, the field and the remedy."""

import pytest
import tables_inputs as inputs

from todflow.errors import TodflowError
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
