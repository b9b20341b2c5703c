"""RL training: learns, selects, and gives the same result however often it is stopped."""

import json
import math
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import torch

import nlpo_tiny
import seq2seq_tiny
from todflow.corpora.turns import write_turns
from todflow.errors import TodflowError
from todflow.files import read_json
from todflow.nlpo import train
from todflow.nlpo.experience import Collector, Judged
from todflow.nlpo.update import Sample, Updater
from todflow.seq2seq import backbone
from todflow.seq2seq.generate import predict, writer
from todflow.seq2seq.sequences import parse_target, turns

COLUMNS = (
    "iteration episodes reward_u reward_g reward_tod kl kl_k3 kl_coef entropy value_loss policy_loss "
    "clip_share drift ratio_error length pairs requests support removed match succ_f1 bleu combined"
).split()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return seq2seq_tiny.files(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def start(corpus, tmp_path_factory):
    with _signals_back():
        return nlpo_tiny.checkpoint(tmp_path_factory.mktemp("start"), corpus)


class _signals_back:
    """Give back the signals that a stage takes when it runs within this process."""

    def __enter__(self):
        numbers = (signal.SIGINT, signal.SIGTERM)
        self.handlers = {number: signal.getsignal(number) for number in numbers}

    def __exit__(self, *_):
        for number, handler in self.handlers.items():
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def signals():
    with _signals_back():
        yield


def _arguments(corpus, start, folder, config):
    table, entities = corpus
    return nlpo_tiny.options(
        config=json.dumps(config),
        model=start,
        train=table,
        valid=table,
        entities=entities,
        state=folder / "state",
        out=folder / "rl",
        curve=folder / "curve.csv",
    )


def _train(corpus, start, folder, config):
    train.main(train._options().parse_args(_arguments(corpus, start, folder, config)))
    return (folder / "curve.csv").read_bytes(), (folder / "rl/model.safetensors").read_bytes()


def _curve(folder):
    return pd.read_csv(folder / "curve.csv")


def _note(folder):
    return read_json(folder / "rl/config.json")["todflow"]


def _stopped(corpus, start, folder, config, number):
    """The status of a training process that got a signal as soon as it had saved its state anew."""
    saved = folder / "state" / "state.pt"
    before = saved.stat().st_mtime_ns if saved.exists() else None
    process = subprocess.Popen(
        [sys.executable, "-m", "todflow.nlpo.train", *_arguments(corpus, start, folder, config)]
    )
    while process.poll() is None and not (saved.exists() and saved.stat().st_mtime_ns != before):
        time.sleep(0.005)
    process.send_signal(number)
    return process.wait()


def test_stopped_and_resumed_is_the_same(corpus, start, tmp_path):
    config = nlpo_tiny.config()
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    expected = _train(corpus, start, whole, config)
    assert _stopped(corpus, start, parts, config, signal.SIGKILL) == -signal.SIGKILL
    assert _stopped(corpus, start, parts, config, signal.SIGTERM) == 128 + signal.SIGTERM
    assert not (parts / "rl").exists()
    assert torch.load(parts / "state" / "state.pt")["iteration"] < 4
    assert _train(corpus, start, parts, config) == expected
    # Killed after the end, before the workflow took note: nothing is trained again.
    assert _train(corpus, start, parts, config) == expected

    curve = _curve(whole)
    assert list(curve.columns) == COLUMNS
    assert list(curve["iteration"]) == [0, 1, 2, 3, 4]
    assert list(curve["episodes"]) == [0, 8, 16, 24, 32]
    evaluated = curve[curve["combined"].notna()]
    assert list(evaluated["iteration"]) == [0, 2, 4]
    assert curve.loc[0, "reward_u":"removed"].isna().all()
    assert curve.loc[1:, "reward_tod":"removed"].notna().all(axis=None)
    assert curve["ratio_error"].max() < 1e-3
    # Nothing but the value head has moved before the second iteration's turns were sampled.
    assert curve["kl"].abs()[1:3].max() < 1e-5 < curve["kl"].abs()[3]
    note = _note(whole)
    assert note["rl"]["combined"] == pytest.approx(evaluated["combined"].max(), rel=1e-5)
    best = evaluated[evaluated["combined"] == evaluated["combined"].max()]
    assert note["rl"]["iteration"] == best["iteration"].iloc[0]
    assert note["rl"]["ended"] == "episodes" and note["rl"]["iterations"] == 4
    assert note["checkpoint"] == read_json(start / "config.json")["todflow"]["checkpoint"]


@pytest.mark.parametrize("iteration", [1, 2, 3])
def test_resumed_from_any_iteration(corpus, start, tmp_path, monkeypatch, iteration):
    """A process that dies within an iteration, after the one before was saved."""
    config = nlpo_tiny.config(evaluate_every=4, mask_refresh=1, freeze_encoder=True)
    expected = _train(corpus, start, tmp_path / "whole", config)
    run = Updater.run

    def dies(self, samples, seed, values_only=False):
        if seed == f"3/{iteration + 1}":
            run(self, samples[:2], seed)
            raise KeyboardInterrupt
        return run(self, samples, seed, values_only)

    monkeypatch.setattr(Updater, "run", dies)
    with pytest.raises(KeyboardInterrupt):
        _train(corpus, start, tmp_path / "parts", config)
    monkeypatch.setattr(Updater, "run", run)
    assert _train(corpus, start, tmp_path / "parts", config) == expected


def test_rewards_rise(corpus, start, tmp_path):
    """In a few hundred sampled episodes; the model that is kept is no worse than the first."""
    config = nlpo_tiny.config(episodes=480, turns_per_iteration=32, evaluate_every=15)
    _train(corpus, start, tmp_path, config)
    curve = _curve(tmp_path)
    assert curve["reward_tod"][-5:].mean() > curve["reward_tod"][1:4].mean() + 0.1
    assert curve["value_loss"].notna()[1:].all()
    assert _note(tmp_path)["rl"]["combined"] >= curve["combined"][0] - 1e-4
    rows = backbone.load(tmp_path / "rl", torch.device("cpu"))[0].config
    assert rows.dropout_rate == read_json(start / "config.json")["dropout_rate"]


@pytest.mark.parametrize(
    "changes",
    [
        {"step": "absorb"},
        {"step": "level", "reward": "u"},
        {"step": "terminal", "reward": "g"},
        {"mask": False, "sft_weight": 0.1},
        {"precision": "bf16"},
        {"context": "generated"},
        {"reward": "none", "sft_weight": 0.5},
    ],
)
def test_arms(corpus, start, tmp_path, changes):
    plain = tmp_path / "plain"
    config = nlpo_tiny.config(episodes=16, **changes)
    _train(corpus, start, plain, config)
    curve = _curve(plain)
    assert curve["policy_loss"].notna().sum() == 2
    assert (curve["removed"][1:] == 0).all() == (not config["rl"]["mask"])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"reward": "u"}, [0.5, 0.0]),
        ({"reward": "g"}, [0.5, 1.0]),
        ({"reward": "tod"}, [0.5, 0.5]),
        ({"reward": "none"}, [-0.5, 0.0]),
        ({"reward": "u", "step": "terminal"}, [0.5, 1.0]),
        ({"reward": "tod", "step": "level"}, [1.0, 1.0]),
    ],
)
def test_what_two_tokens_are_paid(changes, expected):
    """The chosen reward's steps less 0.5 times the KL of the first token, 1; summed from the end."""
    rl = nlpo_tiny.rl(lam=1.0, **changes)
    collector = Collector(None, None, [], rl, nlpo_tiny.reward(), 40)
    levels = np.array([[1.0, 0.0, 0.5, 0.0], [1.0, 1.0, 1.0, 0.0]])
    zeros = torch.zeros(2)
    said = Judged(zeros, torch.tensor([-1.0, -1.0]), zeros, zeros, torch.tensor([-2.0, -1.0]), None)
    sample = Sample("d0/0", [1], zeros, zeros, zeros, zeros, zeros, [1], None)
    (found,) = collector._credit([sample], [said], [levels], 0.5)
    assert found.returns.tolist() == expected


def test_own_contexts_are_what_is_sampled_from(corpus, start, tmp_path, monkeypatch):
    seen = {"gold": [], "generated": []}
    collect = Collector.collect

    def note(self, policy, masker, chosen, coef, generator):
        seen[self.rl["context"]] += [prompt.source for prompt in chosen]
        return collect(self, policy, masker, chosen, coef, generator)

    monkeypatch.setattr(Collector, "collect", note)
    table = seq2seq_tiny.corpus()
    table.loc[table["turn"] == 0, "response_delex"] = "[value_poi] is not what the model says"
    write_turns(tmp_path / "other.parquet", table)
    for context in seen:
        config = nlpo_tiny.config(episodes=16, context=context, learning_rate=1e-9)
        _train((tmp_path / "other.parquet", corpus[1]), start, tmp_path / context, config)
    assert len(seen["gold"]) == len(seen["generated"]) == 16
    assert seen["gold"] != seen["generated"]


def test_the_last_iteration_may_be_smaller(corpus, start, tmp_path):
    _train(corpus, start, tmp_path, nlpo_tiny.config(episodes=11, evaluate_every=9))
    curve = _curve(tmp_path)
    assert list(curve["episodes"]) == [0, 8, 11]
    assert curve["combined"].notna().tolist() == [True, False, True]


def test_too_high_a_learning_rate_ends_with_a_diagnosis(corpus, start, tmp_path, caplog):
    config = nlpo_tiny.config(learning_rate=0.1, episodes=160)
    _train(corpus, start, tmp_path, config)
    curve = _curve(tmp_path)
    assert len(curve) < 21
    assert curve["kl"].iloc[-1] > 1.0 and math.isnan(curve["policy_loss"].iloc[-1])
    assert "the KL per token to the SFT model is" in caplog.text
    assert _note(tmp_path)["rl"]["ended"] == "kl"
    model, _ = backbone.load(tmp_path / "rl", torch.device("cpu"))
    assert all(weight.isfinite().all() for weight in model.parameters())
    # Whoever starts it again gets the same.
    assert _train(corpus, start, tmp_path, config)[0] == (tmp_path / "curve.csv").read_bytes()


def test_without_any_penalty_the_kl_still_ends_it(corpus, start, tmp_path):
    config = nlpo_tiny.config(
        kl_coef=0.0, kl_fixed=True, learning_rate=3e-3, kl_stop=0.05, episodes=320
    )
    _train(corpus, start, tmp_path, config)
    assert _note(tmp_path)["rl"]["ended"] == "kl"
    assert (_curve(tmp_path)["kl_coef"][1:] == 0).all()


def test_a_broken_policy_leaves_the_best_one(corpus, start, tmp_path, monkeypatch):
    collect = train.Collector.collect

    def breaks(self, policy, masker, chosen, coef, generator):
        samples, row = collect(self, policy, masker, chosen, coef, generator)
        if self.calls == 3:
            samples[0] = samples[0]._replace(advantages=samples[0].advantages * math.nan)
        self.calls += 1
        return samples, row

    monkeypatch.setattr(train.Collector, "calls", 1, raising=False)
    monkeypatch.setattr(train.Collector, "collect", breaks)
    message = r"turns .*d\d/\d.* is not finite.*iteration 3; the best .* of iteration \d, is in"
    with pytest.raises(TodflowError, match=message) as error:
        _train(corpus, start, tmp_path, nlpo_tiny.config())
    assert "\n" not in str(error.value)
    assert not (tmp_path / "rl").exists()
    kept, _ = backbone.load(tmp_path / "state" / "best", torch.device("cpu"))
    assert all(weight.isfinite().all() for weight in kept.parameters())
    assert torch.load(tmp_path / "state" / "state.pt")["iteration"] == 2


def test_weights_that_broke_in_a_step(corpus, start, tmp_path):
    """An infinite step is noticed when the policy is asked next."""
    config = nlpo_tiny.config(learning_rate=1e38)
    with pytest.raises(TodflowError, match="lower rl.learning_rate.*of iteration 0, is in"):
        _train(corpus, start, tmp_path, config)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kl_coef": 0.0}, "rl.kl_coef 0 can't adapt itself outside"),
        ({"step": "sparse"}, "rl.step is 'sparse'; use one of delta, absorb"),
        ({"reward": "both"}, "rl.reward is 'both'; use one of u, g, tod, none"),
        ({"lambda": 0.9}, "'lambda' is no setting"),
    ],
)
def test_wrong_settings(corpus, start, tmp_path, changes, message):
    with pytest.raises(TodflowError, match=message):
        _train(corpus, start, tmp_path, nlpo_tiny.config(**changes))
    assert not (tmp_path / "rl").exists()


def test_an_empty_subset(corpus, start, tmp_path):
    write_turns(tmp_path / "none.parquet", seq2seq_tiny.corpus().head(0))
    with pytest.raises(TodflowError, match="none.parquet has no turns.*larger share"):
        _train((tmp_path / "none.parquet", corpus[1]), start, tmp_path, nlpo_tiny.config())


def test_turns_that_want_nothing_are_left_out(corpus, start, tmp_path):
    table = seq2seq_tiny.corpus()
    table.loc[table["turn"] == 1, ["response_delex", "state_span"]] = ["you are welcome", ""]
    table.loc[table["turn"] == 1, "state"] = "{}"
    model, tokenizer = backbone.load(start, torch.device("cpu"))
    facts = model.config.todflow
    chosen = train.prompts(table, tokenizer, facts, "incar", nlpo_tiny.reward())
    assert [prompt.name for prompt in chosen] == [f"d{number}/0" for number in range(8)]
    write_turns(
        tmp_path / "idle.parquet",
        table[table["turn"] == 1].assign(turn=0).astype({"turn": "int32"}),
    )
    with pytest.raises(TodflowError, match="none of 8 turns has a pair or request"):
        _train((tmp_path / "idle.parquet", corpus[1]), start, tmp_path, nlpo_tiny.config())


def test_own_contexts_are_those_of_use(corpus, start):
    """The policy's own previous turn, as in generating the split, whatever the order of the draws."""
    table = seq2seq_tiny.corpus()
    table.loc[table["turn"] == 0, "response_delex"] = "[value_poi] is not what the model says"
    model, tokenizer = backbone.load(start, torch.device("cpu"))
    facts = model.config.todflow
    everything = train.prompts(table, tokenizer, facts, "incar", nlpo_tiny.reward())
    chosen = [everything[index] for index in (5, 0, 3, 5)]
    own = train.own_contexts(chosen, model, tokenizer, 40, 3)
    rows = turns(table)
    texts = dict(zip(rows, predict(rows, writer(model, tokenizer, 40, 8), "generated", False)))
    for gold, prompt in zip(chosen, own, strict=True):
        assert prompt._replace(source=gold.source) == gold
        read = tokenizer.decode(prompt.source)
        *before, now = gold.dialogue
        assert read.count("<sos_u>") == min(len(before), 1) + 1 and now.user in read
        if before:
            said = parse_target(texts[before[-1]])
            assert parse_target(read)._replace(act="") == said._replace(act="")
            assert before[-1].gold != said
        else:
            assert prompt.source == gold.source


def test_a_tokenizer_without_markers(corpus, start, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    for name in backbone.FILES:
        text = (start / name).read_bytes()
        (folder / name).write_bytes(text.replace(b"<sos_b>", b"<xyz_b>"))
    with pytest.raises(TodflowError, match="tokenizer: <sos_b>.* todflow has fine-tuned"):
        _train(corpus, folder, tmp_path, nlpo_tiny.config())
