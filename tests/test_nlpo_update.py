"""PPO updates: what they must leave alone, what they compute, and that they learn."""

import math

import numpy as np
import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from todflow.errors import TodflowError
from todflow.nlpo.experience import judge
from todflow.nlpo.policy import Masker, Policy
from todflow.nlpo.returns import gae, whiten
from todflow.nlpo.rollout import Sampling, rollout
from todflow.nlpo.update import Sample, Settings, Updater, allowed_table, collate, loss, minibatches

SOURCES = [[5, 6, 7, 1], [8, 1], [9, 5, 6, 7, 8, 9, 1], [10, 11, 1], [12, 1], [5, 1]]
SAMPLING = Sampling(top_k=6, top_p=0.9, min_tokens_to_keep=1, max_new_tokens=9, batch_turns=4)


def settings(**changes):
    return Settings(
        **{
            "epochs": 2,
            "minibatch_turns": 3,
            "learning_rate": 1e-3,
            "value_learning_rate": 1e-2,
            "weight_decay": 0.0,
            "gradient_clip": 0.5,
            "clip": 0.2,
            "value_weight": 0.5,
            "sft_weight": 0.0,
            "freeze_encoder": False,
        }
        | changes
    )


def make_policy(seed=1):
    torch.manual_seed(seed)
    shape = dict(d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, vocab_size=20)
    model = T5ForConditionalGeneration(T5Config(decoder_start_token_id=0, **shape))
    model.shared.weight.data *= 0.4  # or every token would mostly be written again and again
    return Policy(model)


def sampled(policy, masker=None, sources=SOURCES, share=False, sampling=SAMPLING, seed=1):
    """Samples of the policy with made-up advantages."""
    generator = torch.Generator().manual_seed(seed)
    result = []
    for i, episode in enumerate(rollout(policy, masker, sources, sampling, generator, [1])):
        tokens = torch.tensor(episode.tokens)
        wave = torch.linspace(-1, 2, len(tokens)) * (-1) ** i
        table, old = allowed_table(episode.allowed), torch.tensor(episode.logprobs)
        source, gold = episode.source, [4, 3, 2, 1]
        result.append(Sample(f"d{i}/0", source, tokens, table, old, wave, wave * 2, gold, None))
    if share:
        states = [each.states for each in judge(policy, policy, result, 2, share=True)]
        result = [sample._replace(states=kept) for sample, kept in zip(result, states)]
    return result


@pytest.fixture
def policy():
    return make_policy()


@pytest.mark.parametrize("mask", [False, True])
def test_ratio_is_one_before_the_first_step(policy, mask):
    masker = Masker(make_policy(2)) if mask else None
    samples = sampled(policy, masker)
    assert len({len(sample.tokens) for sample in samples}) > 1
    found = Updater(policy, settings()).run(samples, "1")
    assert found["ratio_error"] < 1e-4
    assert found["drift"] > 1e-7  # and then it moves


def test_log_probs_of_the_samplers_support(policy):
    """The update's log-probs are a softmax over what the sampler could draw, and nothing else."""
    sample = sampled(policy, Masker(make_policy(2)))[2]
    batch = collate(policy, [sample])
    states = policy.encode(batch.input_ids, batch.attention_mask)
    logits, _ = policy(states, batch.attention_mask, batch.read)
    for t, token in enumerate(sample.tokens.tolist()):
        support = [index for index in sample.allowed[t].tolist() if index >= 0]
        assert 1 <= len(support) <= 6 and token in support
        expected = logits[0, t, support].log_softmax(-1)[support.index(token)].item()
        assert sample.logprobs[t].item() == pytest.approx(expected, abs=1e-5)


def test_the_loss_is_the_clipped_surrogate(policy):
    sample = sampled(policy)[2]
    # As if the token had been so much less or more likely before.
    moved = torch.linspace(-0.5, 0.5, len(sample.tokens))
    sample = sample._replace(logprobs=sample.logprobs - moved)
    objective, value_loss, sums = loss(policy, collate(policy, [sample]), settings(), 4.0)
    ratios, advantages = moved.exp().tolist(), sample.advantages.tolist()
    terms = [
        min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)
        for ratio, advantage in zip(ratios, advantages)
    ]
    assert objective.item() == pytest.approx(-sum(terms) / 4.0, rel=1e-4)
    # The head says 0 so far.
    squares = sum(total**2 for total in sample.returns.tolist())
    assert value_loss.item() == pytest.approx(0.5 * squares / 4.0, rel=1e-5)
    assert sums["clipped"] == sum(not 0.8 <= ratio <= 1.2 for ratio in ratios) > 0
    assert sums["ratio_error"] == pytest.approx(math.exp(0.5) - 1, rel=1e-3)


def test_padding_content_does_not_matter(policy):
    config = settings(sft_weight=0.1)
    samples = sampled(policy)
    clean = collate(policy, samples)
    first = loss(policy, clean, config, 10.0)
    sums = [loss(policy, collate(policy, [sample]), config, 10.0)[0].item() for sample in samples]
    no_sft = settings()
    alone = [loss(policy, collate(policy, [sample]), no_sft, 10.0)[0].item() for sample in samples]
    together = loss(policy, clean, no_sft, 10.0)[0].item()
    assert together == pytest.approx(sum(alone), rel=1e-4)
    assert sums != alone
    outside = (clean.allowed < 0).all(-1)
    assert outside.any() and (clean.attention_mask == 0).any()
    read_outside = torch.zeros_like(outside)
    read_outside[:, 1:] = outside[:, :-1] & outside[:, 1:]
    dirty = clean._replace(
        input_ids=clean.input_ids.masked_fill(clean.attention_mask == 0, 13),
        read=clean.read.masked_fill(read_outside, 14),
        tokens=clean.tokens.masked_fill(outside, 15),
        old=clean.old.masked_fill(outside, -3.0),
        advantages=clean.advantages.masked_fill(outside, 7.0),
        returns=clean.returns.masked_fill(outside, math.nan),
    )
    second = loss(policy, dirty, config, 10.0)
    assert [part.item() for part in second[:2]] == pytest.approx([p.item() for p in first[:2]])
    assert second[2] == pytest.approx(first[2])
    gradients = []
    for parts in (first, second):
        policy.zero_grad()
        (parts[0] + parts[1]).backward()
        gradients.append([weight.grad.clone() for weight in policy.parameters()])
    for one, other in zip(*gradients):
        assert torch.allclose(one, other, atol=1e-6)


def test_minibatches():
    lengths = [i % 7 for i in range(50)]
    found = minibatches(lengths, 4, "seed/1/0")
    assert sorted(i for batch in found for i in batch) == list(range(50))
    assert {len(batch) for batch in found} == {4, 2} and sum(map(len, found)) == 50
    assert found == minibatches(lengths, 4, "seed/1/0")
    assert sorted(map(sorted, found)) != sorted(map(sorted, minibatches(lengths, 4, "seed/1/1")))


def _weights(policy):
    return {name: weight.clone() for name, weight in policy.state_dict().items()}


def _changed(policy, before):
    return {
        name
        for name, weight in policy.state_dict().items()
        if not torch.equal(weight, before[name])
    }


def test_values_only_leaves_the_model_alone(policy):
    before = _weights(policy)
    Updater(policy, settings()).run(sampled(policy), "1", values_only=True)
    assert _changed(policy, before) == {"value_head.weight", "value_head.bias"}


def test_the_value_head_sends_no_gradient_into_the_model(policy):
    torch.nn.init.ones_(policy.value_head.weight)
    _, value_loss, _ = loss(policy, collate(policy, sampled(policy)), settings(), 1.0)
    value_loss.backward()
    assert all(weight.grad is None for weight in policy.model.parameters())
    assert policy.value_head.weight.grad.abs().sum() > 0


def test_values_come_to_the_returns(policy):
    samples = sampled(policy)
    samples = [sample._replace(returns=torch.full_like(sample.returns, 2.0)) for sample in samples]
    first, last = (
        Updater(policy, settings(epochs=epochs, value_learning_rate=0.05)).run(
            samples, "1", values_only=True
        )
        for epochs in (1, 30)
    )
    assert last["value_loss"] < 0.05 * first["value_loss"]


def test_a_frozen_encoder_stays_and_its_cached_states_serve(policy):
    frozen = settings(freeze_encoder=True)
    updater = Updater(policy, frozen)
    samples = sampled(policy, share=True)
    before = _weights(policy)
    cached, uncached = (
        loss(policy, collate(policy, chosen), frozen, 10.0)[0].item()
        for chosen in (samples, [sample._replace(states=None) for sample in samples])
    )
    assert cached == pytest.approx(uncached, rel=1e-4)
    assert updater.run(samples, "1")["ratio_error"] < 1e-4
    changed = _changed(policy, before)
    assert any(name.startswith("model.decoder.block") for name in changed)
    assert not any(name.startswith(("model.encoder", "model.shared")) for name in changed)


def test_the_supervised_part_makes_the_gold_likelier(policy):
    samples = sampled(policy)
    still = [s._replace(advantages=torch.zeros(len(s.tokens))) for s in samples]

    def gold():
        objective, _, _ = loss(policy, collate(policy, still), settings(sft_weight=1.0), 1.0)
        return objective.item()

    before = gold()
    Updater(policy, settings(epochs=20, sft_weight=0.5)).run(still, "1")
    assert gold() < 0.8 * before


def test_identical_models_have_no_kl(policy):
    samples = sampled(policy, Masker(make_policy(2)))
    for said, sample in zip(judge(policy, policy.frozen_copy(), samples, 4, share=False), samples):
        assert torch.equal(said.own, said.reference)
        assert torch.allclose(said.masked, sample.logprobs, atol=1e-5)
        # The mask lifts what is left.
        assert (said.own <= said.masked + 1e-5).all()
        assert said.states is None


def test_a_loss_that_is_not_finite_names_its_turns(policy):
    samples = sampled(policy)
    samples[4] = samples[4]._replace(advantages=samples[4].advantages * math.nan)
    before = _weights(policy)
    updater = Updater(policy, settings(minibatch_turns=6))
    with pytest.raises(TodflowError, match="turns .*d4/0.* is not finite; lower rl.learning_rate"):
        updater.run(samples, "1")
    assert not _changed(policy, before)


def test_a_ratio_beyond_all_bounds_is_no_nan(policy):
    sample = sampled(policy)[2]
    sample = sample._replace(logprobs=sample.logprobs - 500.0)
    found = Updater(policy, settings(epochs=1)).run([sample], "1")
    assert all(math.isfinite(value) for value in found.values())
    assert all(weight.isfinite().all() for weight in policy.parameters())


@pytest.mark.parametrize("mask", [False, True])
def test_a_bandit_is_solved(mask):
    """Whatever the context, one token earns 1: after 50 iterations the policy writes it."""
    policy, target = make_policy(3), 17
    masker = Masker(policy) if mask else None
    updater = Updater(policy, settings(epochs=4, minibatch_turns=8, learning_rate=3e-3))
    sampling = SAMPLING._replace(max_new_tokens=3, top_k=20, top_p=0.97, batch_turns=16)
    rates = []
    for iteration in range(50):
        if masker and iteration % 5 == 0:
            masker.refresh(policy)
        samples = sampled(policy, masker, SOURCES[:4] * 4, sampling=sampling, seed=iteration)
        judged = judge(policy, policy, samples, 16, share=False)
        paid = [(sample.tokens == target).double().numpy() / 3 for sample in samples]
        credits = [
            gae(rewards, said.values.double().numpy(), 1.0, 0.95)
            for rewards, said in zip(paid, judged)
        ]
        white = whiten([advantages for advantages, _ in credits])
        samples = [
            sample._replace(
                advantages=torch.from_numpy(advantages).float(),
                returns=torch.from_numpy(total).float(),
            )
            for sample, advantages, (_, total) in zip(samples, white, credits)
        ]
        assert updater.run(samples, str(iteration))["ratio_error"] < 1e-3
        rates.append(np.mean([rewards.sum() for rewards in paid]))
    assert rates[0] < 0.2
    assert np.mean(rates[-5:]) > 0.9
