"""Training: learns a tiny corpus, and gives the same result however often it is stopped."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
import torch

import seq2seq_tiny
from todflow.corpora.turns import write_turns
from todflow.errors import TodflowError
from todflow.seq2seq import backbone, generate, train
from todflow.seq2seq.plan import Plan
from todflow.seq2seq.sequences import turns
from todflow.seq2seq.settings import require
from todflow.seq2seq.state import State, digest
from todflow.seq2seq.train import examples, token_loss


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return seq2seq_tiny.files(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def signals():
    """Give back the signals that a stage takes when it runs within this process."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, handlers):
        signal.signal(number, handler)


def _arguments(corpus, folder, config):
    train, entities = corpus
    options = {
        "config": json.dumps(config),
        "train": train,
        "valid": train,
        "entities": entities,
        "state": folder / "state",
        "out": folder / "sft",
        "curve": folder / "curve.csv",
    }
    return [str(word) for key, value in options.items() for word in (f"--{key}", value)]


def _train(corpus, folder, config):
    train.main(train._options().parse_args(_arguments(corpus, folder, config)))
    return (folder / "curve.csv").read_bytes(), (folder / "sft/model.safetensors").read_bytes()


def _stopped(corpus, folder, config, number):
    """The status of a training process that got a signal as soon as it had saved its state anew."""
    saved = folder / "state" / "state.pt"
    before = saved.stat().st_mtime_ns if saved.exists() else None
    process = subprocess.Popen(
        [sys.executable, "-m", "todflow.seq2seq.train", *_arguments(corpus, folder, config)]
    )
    while process.poll() is None and not (saved.exists() and saved.stat().st_mtime_ns != before):
        time.sleep(0.005)
    process.send_signal(number)
    return process.wait()


@pytest.mark.usefixtures("signals")
def test_pretraining_hands_on_weights_and_words(corpus, tmp_path):
    """A corpus without acts, after one with acts whose tokenizer knew its words already."""
    table = seq2seq_tiny.corpus(acts=False)
    for column in ("user", "response", "response_delex"):
        table[column] = table[column].str.replace("address", "whereabouts")
    write_turns(tmp_path / "next.parquet", table)
    config = seq2seq_tiny.config(epochs=1, average=1)
    words = [*_arguments(corpus, tmp_path, config), "--vocabulary", str(tmp_path / "next.parquet")]
    train.main(train._options().parse_args(words))
    first, tokenizer = backbone.load(tmp_path / "sft", torch.device("cpu"))
    assert first.config.todflow["acts"]
    assert len(tokenizer.encode("[value_whereabouts]", add_special_tokens=False)) == 1

    follow = seq2seq_tiny.config(epochs=1, average=1, learning_rate=1e-9)
    words = _arguments((tmp_path / "next.parquet", corpus[1]), tmp_path / "second", follow)
    train.main(train._options().parse_args([*words, "--init", str(tmp_path / "sft")]))
    second, same = backbone.load(tmp_path / "second/sft", torch.device("cpu"))
    assert same.get_vocab() == tokenizer.get_vocab()
    assert not second.config.todflow["acts"]
    assert torch.allclose(second.shared.weight, first.shared.weight, atol=1e-6)


@pytest.mark.usefixtures("signals")
def test_stopped_and_resumed_is_the_same(corpus, tmp_path):
    config = seq2seq_tiny.config()
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    expected = _train(corpus, whole, config)
    assert _stopped(corpus, parts, config, signal.SIGKILL) == -signal.SIGKILL
    assert _stopped(corpus, parts, config, signal.SIGTERM) == 128 + signal.SIGTERM
    assert not (parts / "sft").exists()
    assert 0 < torch.load(parts / "state" / "state.pt")["step"] < 24
    assert _train(corpus, parts, config) == expected
    # Killed after the end, before the workflow took note: nothing is trained again.
    assert _train(corpus, parts, config) == expected
    curve = pd.read_csv(whole / "curve.csv")
    assert list(curve.columns) == [
        "step", "epoch", "train_loss", "valid_loss", "match", "succ_f1", "bleu", "combined", "lr"
    ]  # fmt: skip
    assert list(curve["epoch"]) == [1, 3, 5, 6]
    assert curve["train_loss"].is_monotonic_decreasing
    model, _ = backbone.load(whole / "sft", torch.device("cpu"))
    assert model.config.todflow["checkpoint"]["combined"] >= curve["combined"].max() - 1e-4


@pytest.mark.usefixtures("signals")
def test_learns_a_tiny_corpus(corpus, tmp_path):
    rare = {"epochs": 40, "evaluate_from": 40, "checkpoint_steps": 1000}
    steady = seq2seq_tiny.backbone(dropout=0.0)
    _train(corpus, tmp_path, seq2seq_tiny.config(**rare, backbone=steady))
    settings = {"context": "generated", "max_new_tokens": 40, "batch_size": 8}
    settings |= {"device": "cpu", "threads": 1}
    options = {
        "config": json.dumps(settings),
        "model": tmp_path / "sft",
        "turns": corpus[0],
        "out": tmp_path / "predictions.parquet",
    }
    words = [str(word) for key, value in options.items() for word in (f"--{key}", value)]
    generate.main(generate._options().parse_args(words))
    made, gold = pd.read_parquet(tmp_path / "predictions.parquet"), pd.read_parquet(corpus[0])
    assert list(made["state_span"]) == list(gold["state_span"])
    assert list(made["act_span"]) == list(gold["act_span"])
    assert list(made["response"]) == list(gold["response_delex"])


@pytest.mark.usefixtures("signals")
def test_patience(corpus, tmp_path):
    config = seq2seq_tiny.config(learning_rate=0.0, epochs=9, evaluate_every=1, patience=2)
    _train(corpus, tmp_path, config)
    assert list(pd.read_csv(tmp_path / "curve.csv")["epoch"]) == [1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": 3}, "'epoch' is no setting"),
        ({"evaluator": "incar"}, "none of incar-galaxy"),
        ({"device": "tpu"}, "cpu or cuda"),
    ],
)
@pytest.mark.usefixtures("signals")
def test_wrong_settings(corpus, tmp_path, changes, message):
    with pytest.raises(TodflowError, match=message):
        _train(corpus, tmp_path, seq2seq_tiny.config(**changes))
    assert not any(tmp_path.iterdir())


def test_missing_settings():
    with pytest.raises(TodflowError, match="'b' is missing; give all of a, b"):
        require({"a": 1}, ("a", "b"))


@pytest.mark.usefixtures("signals")
def test_a_newer_process_takes_over_from_an_orphan(corpus, tmp_path):
    config = seq2seq_tiny.config()
    expected = _train(corpus, tmp_path / "whole", config)
    folder = tmp_path / "parts"
    orphan = subprocess.Popen(
        [sys.executable, "-m", "todflow.seq2seq.train", *_arguments(corpus, folder, config)]
    )
    while not (folder / "state" / "state.pt").exists():
        assert orphan.poll() is None
        time.sleep(0.005)
    assert _train(corpus, folder, config) == expected
    assert orphan.wait() == 128 + signal.SIGTERM


def test_a_process_on_another_machine_is_left_alone(tmp_path):
    holder = State(tmp_path / "state", "x")
    with holder.locked():
        (tmp_path / "state" / "lock").write_text("elsewhere 7")
        with pytest.raises(TodflowError, match="process 7 on elsewhere is at this job"):
            with State(tmp_path / "state", "x").locked():
                pass
    with State(tmp_path / "state", "x").locked():
        pass


def test_a_foreign_state_is_dropped(corpus, tmp_path):
    content = {"kept": [], "step": 3}
    State(tmp_path, "one").save(content)
    assert State(tmp_path, "one").load() == content
    assert State(tmp_path, "two").load() is None
    assert not list(tmp_path.glob("*.pt"))


def test_a_damaged_state_is_dropped(tmp_path):
    (tmp_path / "state.pt").write_bytes(b"x" * 3000)
    assert State(tmp_path, "one").load() is None
    State(tmp_path, "one").save({"kept": [[5.0, 2]], "step": 3})
    assert State(tmp_path, "one").load() is None  # its weights are gone
    assert not list(tmp_path.glob("*.pt"))


def test_the_digest_knows_settings_and_inputs(corpus, tmp_path):
    config = seq2seq_tiny.config()
    first = digest("todflow.stage", config, [corpus[0]])
    assert first == digest("todflow.stage", dict(reversed(config.items())), [corpus[0]])
    assert first != digest("todflow.stage", config | {"seed": 4}, [corpus[0]])
    assert first != digest("todflow.stage", config, [corpus[1]])
    assert first != digest("todflow.files", config, [corpus[0]])


def test_unneeded_weights_are_dropped(tmp_path):
    state = State(tmp_path, "x")
    for step in (1, 2, 3):
        state.save_weights(step, {})
    state.save({"kept": [[5.0, 2]]})
    assert sorted(path.name for path in tmp_path.glob("*.pt")) == ["state.pt", "weights-2.pt"]


def _plan(**changes):
    return Plan(seq2seq_tiny.config(**changes), [(10 + i, 8) for i in range(16)])


def test_plan():
    plan = _plan(epochs=3)
    assert plan.total == sum(plan.sizes) == 12
    for epoch in range(3):
        steps = range(plan.starts[epoch], plan.starts[epoch + 1])
        assert sorted(i for step in steps for i in plan.batch(step)) == list(range(16))
    due = {step: plan.evaluated_epoch(step) for step in range(13)}
    assert {step: epoch for step, epoch in due.items() if epoch} == {4: 1, 12: 3}


def test_learning_rate():
    plan = _plan(epochs=3, warmup_steps=4, learning_rate=1.0)
    rates = [plan.rate(step) for step in range(12)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4] == 1.0 and rates[-1] == pytest.approx(1 / 8)
    plan = _plan(schedule="constant", warmup_steps=0, learning_rate=0.5)
    assert {plan.rate(step) for step in range(plan.total)} == {0.5}


def test_loss_is_per_token_and_ignores_padding():
    rows = turns(seq2seq_tiny.corpus())
    model, tokenizer = backbone.build(seq2seq_tiny.backbone(), rows, 1)
    model.eval()
    data = examples(rows, tokenizer, True, 64, 40)
    total, tokens = token_loss(model, data[:4], 0, "fp32")
    single = [token_loss(model, [example], 0, "fp32") for example in data[:4]]
    assert tokens == sum(count for _, count in single)
    assert total.item() == pytest.approx(sum(loss.item() for loss, _ in single), rel=1e-4)
    reference = model(
        input_ids=torch.tensor([data[0].source]), labels=torch.tensor([data[0].target])
    ).loss.item()
    assert single[0][0].item() / single[0][1] == pytest.approx(reference, rel=1e-5)
    rough, _ = token_loss(model, data[:4], 0, "bf16")
    assert rough.dtype == torch.float32
    assert rough.item() == pytest.approx(total.item(), rel=0.02)
