"""`todflow score incar`, on Sequicity's stored output and on the references themselves."""

import csv
import gzip
import io
import json

import pandas as pd
import pytest

from todflow.cli import default_archive, main
from todflow.corpora.incar.entities import entity_map
from todflow.corpora.incar.prepare import split_rows
from todflow.corpora.incar.release import read_entities
from todflow.metrics.bleu import corpus_bleu


def score(*arguments):
    main(["score", "incar", *map(str, arguments)])


def refuse(capsys, *arguments):
    """The one line with which the command refuses."""
    with pytest.raises(SystemExit) as ended:
        score(*arguments)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.fixture(scope="module")
def archive(mirror):
    return mirror / "kvret" / "kvret_dataset_public.zip"


@pytest.fixture(scope="module")
def references(archive):
    """The references as a system's output, in the JSON layout with slot-value states."""
    rows = split_rows(archive, "test", entity_map(read_entities(archive)))
    result = {}
    for row in rows:
        state = json.loads(row["state"]).get(row["domain"], {})
        turn = {"state": state, "response": row["response_delex"]}
        result.setdefault(row["dialogue_id"], []).append(turn)
    return result


@pytest.mark.oracle
def test_sequicity_scores_as_by_its_own_evaluator(oracles, mirror, tmp_path, capsys):
    stored = oracles / "incar" / "predictions" / "sequicity-kvret.csv.gz"
    expected = json.loads((oracles / "incar" / "expected.json").read_text())
    expected = expected["systems"]["sequicity-kvret"]
    data = mirror / "kvret" / "sequicity_kvret.zip"
    out = tmp_path / "s.json"
    score("--predictions", stored, "--variant", "sequicity", "--data", data, "--out", out)
    result = json.loads(out.read_text())
    assert result["match"] == pytest.approx(100 * 227 / 274, abs=1e-9)
    assert result["match_denominator"] == 274
    assert result["succ_f1"] == pytest.approx(100 * expected["success_f1"], abs=1e-9)
    assert result["bleu"] == pytest.approx(100 * expected["bleu"], abs=1e-9)
    assert result["bleu_without_markers"] == pytest.approx(16.32, abs=0.005)
    assert "SuccF1" in capsys.readouterr().out
    body = gzip.decompress(stored.read_bytes()).decode().partition("START_CSV_SECTION\n")[2]
    rows = list(csv.DictReader(io.StringIO(body, newline="")))
    plain = corpus_bleu(
        [row["generated_response"] for row in rows], [row["response"] for row in rows]
    )
    assert plain == pytest.approx(expected["bleu_without_cleaning"], abs=1e-9)
    assert "score it with --variant sequicity" in refuse(
        capsys, "--predictions", stored, "--data", data, "--out", out
    )


@pytest.mark.oracle
def test_references_score_100(archive, references, tmp_path, capsys):
    predictions, out = tmp_path / "p.json", tmp_path / "s.json"
    predictions.write_text(json.dumps(references))
    options = ("--predictions", predictions, "--data", archive, "--variant", "labes")
    score(*options, "--out", out)
    printed = capsys.readouterr().out
    # The file is optional, the table is not.
    score(*options)
    assert capsys.readouterr().out == printed
    result = json.loads(out.read_text())
    assert result["evaluator"] == "incar-labes"
    assert result["match_denominator"] == 190
    for name in ("match", "succ_f1", "bleu", "bleu_without_markers", "joint_goal_accuracy"):
        assert result[name] == pytest.approx(100, abs=1e-4)


@pytest.mark.oracle
def test_table_and_json_of_the_same_output_score_alike(archive, tmp_path):
    rows = split_rows(archive, "test", entity_map(read_entities(archive)))
    table = pd.DataFrame(rows)[["dialogue_id", "turn", "state_span", "act_span"]]
    # Wrong in part: every second response is silent, every third state empty.
    table["response"] = [row["response_delex"] * (n % 2) for n, row in enumerate(rows)]
    table["state_span"] = [span * bool(n % 3) for n, span in enumerate(table["state_span"])]
    table.astype({"turn": "int32"}).to_parquet(tmp_path / "p.parquet")
    data = {}
    for row in table.itertuples():
        turn = {"state_span": row.state_span, "response": row.response}
        data.setdefault(row.dialogue_id, []).append(turn)
    (tmp_path / "p.json.gz").write_bytes(gzip.compress(json.dumps(data).encode()))
    for name in ("p.parquet", "p.json.gz"):
        out = tmp_path / f"{name}.scores"
        score("--predictions", tmp_path / name, "--data", archive, "--out", out, "--samples", 50)
    result = json.loads((tmp_path / "p.parquet.scores").read_text())
    assert result == json.loads((tmp_path / "p.json.gz.scores").read_text())
    assert 40 < result["match"] < 95
    low, high = result["ci"]["combined"]
    assert low < result["combined"] < high


@pytest.mark.oracle
def test_refusals(archive, references, tmp_path, capsys):
    out, predictions = tmp_path / "s.json", tmp_path / "p.json"
    arguments = ("--predictions", predictions, "--data", archive, "--out", out)
    first, second = list(references)[:2]
    for changed, message in {
        "missing": f"p.json: dialogues missing: {first}; give exactly the 304",
        "short": f"p.json, dialogue {second}: 3 turns where the split has 4",
        "field": f"p.json, dialogue {first}, turn 0, field response: missing",
    }.items():
        data = dict(references)
        if changed == "missing":
            del data[first]
        elif changed == "short":
            data[second] = data[second][:-1]
        else:
            data[first] = [{"state": {}}, *data[first][1:]]
        predictions.write_text(json.dumps(data))
        assert message in refuse(capsys, *arguments)
    assert "--samples: 0" in refuse(capsys, *arguments, "--samples", "0")
    assert not out.exists()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data, first: data | {"a\nb": []}, r"not of this split: 'a\nb'; give"),
        (
            lambda data, first: data | {first: [turn | {"respones": ""} for turn in data[first]]},
            "turn 0, field respones: unknown, the nearest known one is response;",
        ),
        (
            lambda data, first: data
            | {first: [turn | {"state": {"bogus": "x"}} for turn in data[first]]},
            "turn 0, field state.bogus: no such slot; this dialogue's are ",
        ),
    ],
)
def test_wrong_names(archive, references, tmp_path, capsys, change, message):
    out, predictions = tmp_path / "s.json", tmp_path / "p.json"
    predictions.write_text(json.dumps(change(references, next(iter(references)))))
    error = refuse(capsys, "--predictions", predictions, "--data", archive, "--out", out)
    assert "p.json" in error and message in error
    assert not out.exists()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.json", b"[" * 200_000, "p.json: nested too deeply"),
        ("p.json", b'{"a": [], "a": []}', "p.json, dialogue a: given twice"),
        (
            "p.json.gz",
            gzip.compress(b"{}" * 99)[:10] + b"\xff" * 20,
            "p.json.gz: not readable as text (Error -3",
        ),
        (
            "p.csv",
            b"START_CSV_SECTION\ndial_id,turn_num,generated_bspan,bspan,generated_response,response"
            b"\n0,0,a,b,c,d\n0,1,a,b,c," + b"d" * 131_073,
            "p.csv, dialogue 0, turn 0: no CSV after this (field larger",
        ),
    ],
)
def test_broken_files(archive, tmp_path, capsys, name, content, message):
    (tmp_path / name).write_bytes(content)
    variant = "sequicity" if name.endswith(".csv") else "galaxy"
    arguments = ("--predictions", tmp_path / name, "--data", archive, "--variant", variant)
    assert message in refuse(capsys, *arguments, "--out", tmp_path / "s.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seed", "-1"), "--seed: -1; give a whole number, 0 or more"),
        (("--samples", "999999999"), "--samples: 999999999; give a whole number from 1 to 100000"),
        (("--out", "."), "--out: . is a folder"),
        (("--out", "file/below/s.json"), "which is no folder"),
        (("--out", "/proc/s.json"), "--out: /proc/s.json: "),
        (("--out", "s" * 300), "File name too long"),
    ],
)
def test_arguments_are_checked_before_anything_is_read(
    tmp_path, capsys, monkeypatch, arguments, message
):
    """Neither predictions nor data are there: what is refused is refused before."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    files = ("--predictions", "p.json", "--data", "none.zip", "--out", "new/s.json")
    assert message in refuse(capsys, *files, *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_no_data(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("TODFLOW_DATA_MIRROR", raising=False)
    monkeypatch.chdir(tmp_path)
    error = refuse(capsys, "--predictions", "p.json", "--out", "s.json")
    assert "results/raw/kvret_dataset_public.zip: no such file" in error


def test_default_archive(monkeypatch):
    monkeypatch.setenv("TODFLOW_DATA_MIRROR", "/mirror")
    assert str(default_archive()) == "/mirror/kvret/kvret_dataset_public.zip"
