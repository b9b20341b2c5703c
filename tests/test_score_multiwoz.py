"""MultiWOZ scores: the stage and the command, on a tiny split."""

import argparse
import json
import os
import subprocess
import sys

import pytest
from multiwoz_scoring import (
    DATABASE,
    corpus,
    refuse,
    right_answers,
    run,
    write_corpus,
)  # noqa: F401

from todflow import cli_multiwoz
from todflow.cli import main as command
from todflow.errors import TodflowError
from todflow.files import write_json
from todflow.score import write_report
from todflow.score_multiwoz import NAMED, main


def test_a_system_that_does_everything_right(run):
    text, result = run(right_answers())
    assert {
        name: result[name]
        for name in ("evaluator", "name", "vintage", "state", "booking_gate", "references")
    } == {
        "evaluator": "standard",
        "name": "standard-v1",
        "vintage": "v1",
        "state": "predicted",
        "booking_gate": None,
        "references": "multiwoz21",
    }
    assert (result["inform"], result["success"]) == (100, 100)
    assert result["joint_goal_accuracy"] == 100
    assert result["act_f1"] is None
    assert result["combined"] == 100 + result["bleu"]
    assert result["per_domain"]["hotel"] == {"inform": 100, "success": 100, "n": 1}
    assert result["ci"]["success"] == [100, 100]
    assert result["ci"]["per_domain"]["train"]["inform"][1] == 100
    assert (result["n_dialogues"], result["n_expected"], result["n_turns"]) == (2, 2, 4)
    assert (result["samples"], result["seed"]) == (20, 1)
    assert "standard-v1: predicted states, estimated active domains" in text
    assert "2 of 2 dialogues, 4 of 4 turns" in text
    assert "Inform                   100.0   100.00 to 100.00" in text


def test_the_file_of_figures_is_optional(tmp_path, corpus, capsys):
    predictions = tmp_path / "p.json"
    predictions.write_text(json.dumps(right_answers()))
    before = set(tmp_path.rglob("*"))
    command(
        ["score", "multiwoz", "--predictions", str(predictions), "--data", str(corpus)]
        + ["--samples", "5"]
    )
    assert "Combined" in capsys.readouterr().out
    assert set(tmp_path.rglob("*")) == before


def test_odd_ids_and_given_domains(run):
    answers = {f"{name.upper()}.json": turns for name, turns in right_answers().items()}
    for turns in answers.values():
        for turn in turns:
            turn["active_domains"] = ["hotel"]
    text, result = run(answers, "--vintage", "v2")
    assert (result["inform"], result["name"]) == (50, "standard-v2")
    assert result["active_domains"] == "given"
    assert "given active domains" in text


def test_missing_dialogues_are_counted(run):
    answers = right_answers()
    del answers["mul0002"]
    text, result = run(answers)
    assert (result["n_dialogues"], result["n_expected"]) == (1, 2)
    assert "1 of 2 dialogues, 2 of 4 turns" in text


@pytest.mark.parametrize("evaluator", ["standard", "legacy"])
def test_missing_states_mean_gold_states_everywhere(run, tmp_path, evaluator):
    answers = right_answers()
    del answers["mul0002"][1]["state"]
    answers["sng0001"][0]["state"] = {"hotel": {"area": "centre"}}
    data = write_corpus(tmp_path / "legacy", "multiwoz21")
    text, result = run(answers, "--evaluator", evaluator, "--data", str(data))
    assert result["state"] == "gold"
    assert result["name"] == ("standard-v1" if evaluator == "standard" else "legacy-gold")
    assert result["n_turns_without_state"] == 1
    assert result["joint_goal_accuracy"] is None
    assert result["inform"] == 100
    assert "note: 1 turns have no state, so all dialogues were scored with gold states" in text


def test_gold_states_on_demand(run):
    answers = right_answers()
    answers["sng0001"][0]["state"] = {"hotel": {"area": "centre"}}
    assert run(answers)[1]["inform"] == 50
    result = run(answers, "--state", "gold")[1]
    assert (result["inform"], result["state"]) == (100, "gold")
    assert result["joint_goal_accuracy"] == 75


def test_act_f1_where_acts_are_predicted(run):
    answers = right_answers()
    spans = ["[hotel] [recommend] name", "[hotel] [inform] area", "[train] [inform] id", ""]
    for turn, span in zip([*answers["sng0001"], *answers["mul0002"]], spans, strict=True):
        turn["act_span"] = span
    text, result = run(answers)
    assert result["act_f1"] == pytest.approx(200 / 3)
    assert "Act F1                   66.67" in text


def test_turn_counts_must_agree_unless_partial(run, refuse):
    answers = right_answers()
    answers["sng0001"].pop()
    assert "dialogue sng0001: 1 turns where the split has 2; give" in refuse(answers)
    text, result = run(answers, "--allow-partial")
    assert result["partial"] == {"sng0001": [1, 2]}
    assert (result["n_dialogues"], result["n_turns"]) == (2, 3)
    assert (result["inform"], result["success"]) == (100, 50)
    assert "note: sng0001 has 1 turns, not 2: its first ones were scored" in text


def test_unknown_placeholders_and_fields_are_told(run):
    answers = right_answers()
    answers["mul0002"][1].update(response="[value_nonsense] [odd] [odd]", extra=1)
    text, result = run(answers)
    assert result["unknown_placeholders"] == {"odd": 2, "value_nonsense": 1}
    assert result["ignored_fields"] == {"extra": 1}
    assert (
        "note: placeholders that this evaluator does not know: [odd] (2), [value_nonsense] (1)\n"
        in text
    )
    assert "note: fields without a use: extra (1)\n" in text


def test_each_evaluator_has_its_own_unknown_placeholders(run):
    answers = right_answers()
    answers["mul0002"][1]["response"] = "[train_ticket] [restaurant_id] [hotel-name]"
    assert run(answers)[1]["unknown_placeholders"] == {"hotel-name": 1, "train_ticket": 1}
    legacy = run(answers, "--evaluator", "legacy")[1]
    assert legacy["unknown_placeholders"] == {"restaurant_id": 1}


def test_unknown_domains_are_told(run):
    answers = right_answers()
    answers["mul0002"][0]["state"] = {"Train": {"day": "monday"}, "bus": {"day": "monday"}}
    for turn in answers["mul0002"]:
        turn["active_domains"] = ["TRAIN"]
    text, result = run(answers)
    assert result["unknown_domains"] == {"TRAIN": 2, "Train": 1, "bus": 1}
    assert "note: domains that this evaluator does not know: TRAIN (2), Train (1), bus (1)" in text
    assert run(answers, "--evaluator", "legacy")[1]["unknown_domains"] == {"bus": 1}


@pytest.mark.parametrize("evaluator", ["standard", "legacy"])
def test_unknown_slots_are_told(run, evaluator):
    answers = right_answers()
    answers["mul0002"][0]["state"] = {"train": {"train-day": "monday", "leaveAt": "9:00"}}
    answers["mul0002"][1]["state"] = {"train": {"book people": "2", "day": "monday"}}
    text, result = run(answers, "--evaluator", evaluator)
    assert result["unknown_slots"] == {"train train-day": 1}
    assert "note: slots in states that this evaluator does not know: train train-day (1)" in text


def test_fields_that_only_some_turns_have_are_told(run):
    answers = right_answers()
    answers["sng0001"][0] |= {"active_domains": ["hotel"], "act_span": ""}
    text, result = run(answers)
    assert result["turns_without"] == {"act_span": 3, "active_domains": 3}
    assert "as if none had: active_domains (3), act_span (3)" in text
    assert run(right_answers())[1]["turns_without"] == {}


def test_predicted_states_on_demand_must_be_there(refuse):
    answers = right_answers()
    del answers["mul0002"][1]["state"]
    told = refuse(answers, "--state", "predicted")
    assert "p.json, dialogue mul0002, turn 1, field state: missing, in 1 turns altogether" in told


def test_names_of_the_input_can_be_printed_and_written(run):
    answers = right_answers()
    answers["mul0002"][1] |= {
        "response": "[a\nb] [\ud801]", "\ud800": 1, "new\nline": 1, "state": {"\ud802": {}},
    }  # fmt: skip
    text, result = run(answers, "--evaluator", "legacy")
    assert result["unknown_placeholders"] == {"'\\ud801'": 1, "'a\\nb'": 1}
    assert result["unknown_domains"] == {"'\\ud802'": 1}
    assert "note: fields without a use: '\\ud800' (1), 'new\\nline' (1)\n" in text


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_the_terminals_encoding_and_a_reader_that_stops(tmp_path, corpus, encoding):
    answers = right_answers()
    answers["mul0002"][1]["response"] = "[\u0436]"
    (tmp_path / "p.json").write_text(json.dumps(answers))
    arguments = ("score", "multiwoz", "--predictions", tmp_path / "p.json", "--data", corpus)
    process = subprocess.Popen(
        [sys.executable, "-m", "todflow.cli", *map(str, arguments), "--samples", "5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONIOENCODING": encoding},
    )
    if encoding == "utf-8":
        # Gone before anything is written.
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1
    else:
        output, error = process.communicate()
        assert (process.returncode, error) == (0, b"")
        assert b"[\\u0436] (1)" in output


def test_an_output_that_cannot_be_written(tmp_path, corpus):
    (tmp_path / "p.json").write_text(json.dumps(right_answers()))
    arguments = ("score", "multiwoz", "--predictions", tmp_path / "p.json", "--data", corpus)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "todflow.cli", *map(str, arguments), "--samples", "5"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_an_interrupt_is_no_traceback(run, monkeypatch):
    def interrupted(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("todflow.score_multiwoz.read_answers", interrupted)
    with pytest.raises(SystemExit) as ended:
        run(right_answers())
    assert ended.value.code == 130


def test_a_file_of_figures_that_cannot_be_written(tmp_path):
    with pytest.raises(TodflowError, match="--out: .*x.json: 'utf-8' codec can't encode"):
        write_report(tmp_path / "x.json", {"\ud800": 1})


def test_the_files_order_does_not_matter(run, tmp_path):
    answers = right_answers()
    answers["sng0001"][0]["response"] = "no"
    first = run(answers)[1]
    assert run(dict(reversed(answers.items())))[1] == first


def test_refusals(run, refuse, tmp_path):
    answers = right_answers()
    answers["mul0002"][1]["state"]["train"]["people"] = 2
    assert "dialogue mul0002, turn 1, field state.train.people: 2, not text" in refuse(answers)
    assert "dialogues not of this split: sng9" in refuse({"sng9": [{"response": ""}]})
    good = right_answers()
    assert "--vintage: the legacy evaluator has none" in refuse(
        good, "--evaluator", "legacy", "--vintage", "v1"
    )
    assert "--booking-gate: the standard evaluator has none" in refuse(good, "--no-booking-gate")
    assert "--samples: -3" in refuse(good, samples=-3)
    old = write_corpus(tmp_path / "old", "multiwoz20")
    told = refuse(good, "--data", str(old))
    assert "and the standard evaluator's goals and references are those of multiwoz21; give" in told
    nothing = tmp_path / "nothing"
    assert f"error: {nothing}: no such file; name MultiWOZ's archive" in refuse(
        good, "--data", str(nothing)
    )


def test_legacy_settings_are_named(run, tmp_path):
    write_corpus(tmp_path / "corpora" / "multiwoz20", "multiwoz20")
    data = ("--evaluator", "legacy", "--data", str(tmp_path / "corpora"))
    for options, name in (
        ((), "legacy-pred"),
        (("--no-booking-gate",), "legacy-nogate"),
        (("--state", "gold"), "legacy-gold"),
        (("--state", "gold", "--no-booking-gate"), "legacy-gold-nogate"),
    ):
        text, result = run(right_answers(), *data, *options)
        assert result["name"] == name
        assert result["booking_gate"] is ("--no-booking-gate" not in options)
        assert (result["vintage"], result["references"]) == (None, "multiwoz20")
        assert text.startswith(f"{name}: {result['state']} states, booking gate o")


def test_where_the_data_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TODFLOW_DATA_MIRROR", raising=False)
    with pytest.raises(TodflowError, match="^results/raw/MULTIWOZ2.1.zip: no such file"):
        cli_multiwoz.gold_of_data(None, "multiwoz21")
    monkeypatch.setenv("TODFLOW_DATA_MIRROR", str(tmp_path))
    with pytest.raises(TodflowError, match="multiwoz/official-layout/MULTIWOZ2.0.zip: no such"):
        cli_multiwoz.gold_of_data(None, "multiwoz20")
    (tmp_path / "multiwoz20.zip").write_text("no zip")
    with pytest.raises(TodflowError, match="multiwoz20.zip: not a whole zip"):
        cli_multiwoz.gold_of_data(tmp_path, "multiwoz20")


def stage(folder, answers, config, allow_partial=False):
    predictions, out = folder / "p.json", folder / "score.json"
    predictions.write_text(json.dumps(answers))
    main(
        argparse.Namespace(
            config=config,
            gold=folder / "corpus" / "test.parquet",
            database=folder / "corpus" / "database.json",
            predictions=predictions,
            out=out,
            allow_partial=allow_partial,
        )
    )
    return json.loads(out.read_text())


@pytest.mark.parametrize("name", NAMED)
def test_the_stage_scores_by_name(tmp_path, corpus, name):
    result = stage(tmp_path, right_answers(), {"name": name, "samples": 5, "seed": 2})
    assert result["name"] == name
    assert result["inform"] == 100


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"samples": 5, "seed": 2},
            "'name': None is none of standard-v1, standard-v2, legacy-pred",
        ),
        ({"name": "standard", "samples": 5, "seed": 2}, "'name': 'standard' is none of"),
        ({"name": "standard-v1", "seed": 2}, "'samples': None"),
    ],
)
def test_the_stage_refuses_settings(tmp_path, corpus, config, message):
    with pytest.raises(TodflowError, match=message):
        stage(tmp_path, right_answers(), config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", ": no database"),
        ("[" * 200_000, ": no database"),
        ([], ": not an object of domains"),
        ({"hotel": None}, ", domain hotel: not a list of entities"),
        ({"train": []}, ", domain train: not a list of entities"),
        ({"restaurant": {"a": 1}}, ", domain restaurant: not a list of entities"),
        ({"attraction": [7]}, ", domain attraction, entity 0: 7, not an object"),
        ({"hotel": [{"id": "0"}]}, ", domain hotel, entity 0: no 'name'"),
        ({"restaurant": [{"name": "a", "id": 3}]}, ", domain restaurant, entity 0: no 'id'"),
        ({"train": [{"trainID": ["a"]}]}, ", domain train, entity 0: no 'trainID'"),
    ],
)
def test_the_stage_refuses_databases(tmp_path, corpus, content, message):
    if isinstance(content, dict):
        content = DATABASE | content
    text = content if isinstance(content, str) else json.dumps(content)
    (corpus / "database.json").write_text(text)
    for name in ("standard-v1", "legacy-pred"):
        with pytest.raises(TodflowError) as refused:
            stage(tmp_path, right_answers(), {"name": name, "samples": 5, "seed": 2})
        assert f"database.json{message}" in str(refused.value)
        assert str(refused.value).endswith("; prepare MultiWOZ again")


def test_odd_values_in_the_database_fit_nothing(tmp_path, corpus):
    hotels = [*DATABASE["hotel"], {"id": "9", "name": "x", "area": ["north"], "stars": 4}]
    write_json(corpus / "database.json", DATABASE | {"hotel": hotels})
    for name in ("standard-v1", "legacy-pred"):
        result = stage(tmp_path, right_answers(), {"name": name, "samples": 5, "seed": 2})
        assert result["inform"] == 100
