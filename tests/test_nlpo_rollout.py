"""Rollouts draw what the mask and the draws say, however rows are batched, cached and dropped."""

import pytest
import torch

import nlpo_policies
from nlpo_policies import END, SAMPLING
from todflow.errors import TodflowError
from todflow.nlpo import rollout as module
from todflow.nlpo.policy import Masker, Policy, sequence_logprobs
from todflow.nlpo.rollout import draw, rollout, support
from todflow.seq2seq import batches
from todflow.seq2seq.decode import greedy

CPU = torch.device("cpu")
SOURCES = nlpo_policies.sources()
ALWAYS = [END, 140]


@pytest.fixture(scope="module")
def policy():
    return nlpo_policies.policy()


@pytest.fixture(scope="module")
def masker(policy):
    """A mask policy near the policy, but with an encoder and a decoder of its own."""
    result = Masker(policy)
    noise = torch.Generator().manual_seed(8)
    with torch.no_grad():
        for weight in result.policy.model.parameters():
            weight.add_(0.03 * torch.randn(weight.shape, generator=noise))
    return result


def _sample(policy, masker, sources=SOURCES, **changes):
    sampling = SAMPLING._replace(**changes)
    return rollout(policy, masker, sources, sampling, nlpo_policies.generator(), ALWAYS)


def _said(episodes):
    return [(each.source, each.tokens, each.allowed) for each in episodes]


def _teacher_forced(policy, episodes):
    """Masked log-probs [row, step] under the stored ids, and which are real."""
    inputs = batches.sources([each.source for each in episodes], 0, CPU)
    tokens = batches.pad([each.tokens for each in episodes], 0, CPU)
    steps, widest = tokens.shape[1], SAMPLING.top_k
    ids = torch.zeros(len(episodes), steps, widest, dtype=torch.long)
    valid = torch.zeros(len(episodes), steps, widest, dtype=torch.bool)
    for row, each in enumerate(episodes):
        for step, allowed in enumerate(each.allowed):
            ids[row, step, : len(allowed)] = torch.tensor(allowed)
            valid[row, step, : len(allowed)] = True
    read = batches.decoder_inputs(tokens, 0, 0)
    logits, _ = policy(policy.encode(**inputs), inputs["attention_mask"], read)
    return sequence_logprobs(logits, tokens, ids, valid), valid.any(-1)


@pytest.mark.parametrize("masked", [True, False])
def test_log_probs_are_those_of_a_teacher_forced_pass(policy, masker, masked):
    episodes = _sample(policy, masker if masked else None)
    now, real = _teacher_forced(policy, episodes)
    stored = batches.pad([each.logprobs for each in episodes], 0.0, CPU)
    assert stored.isfinite().all() and (stored[real] <= 0).all() and stored[real].min() < -1
    assert (now - stored)[real].abs().max() < 1e-4
    assert ((now - stored).exp() - 1)[real].abs().max() < 1e-3
    for each in episodes:
        assert len({*map(len, (each.tokens, each.allowed, each.logprobs, each.removed))}) == 1
        for token, ids in zip(each.tokens, each.allowed):
            assert token in ids and ids == sorted(set(ids)) and len(ids) <= SAMPLING.top_k
        assert END not in each.tokens[:-1]
        assert each.tokens[-1] == END or len(each.tokens) == SAMPLING.max_new_tokens
    # Otherwise compaction would not have been tried.
    assert len({len(each.tokens) for each in episodes}) > 6


def test_other_families():
    bart = nlpo_policies.bart()
    near = Masker(bart)
    with torch.no_grad():
        near.policy.model.get_input_embeddings().weight.mul_(1.2)
    episodes = _sample(bart, near)
    now, real = _teacher_forced(bart, episodes)
    stored = batches.pad([each.logprobs for each in episodes], 0.0, CPU)
    assert (now - stored)[real].abs().max() < 1e-4
    assert len({len(each.tokens) for each in episodes}) > 3
    assert bart.model.config._attn_implementation == "sdpa"


def test_bf16(policy, masker):
    low = Policy(policy.model, "bf16")
    episodes = _sample(low, masker)
    now, real = _teacher_forced(low, episodes)
    stored = batches.pad([each.logprobs for each in episodes], 0.0, CPU)
    assert 1e-4 < (now - stored)[real].abs().max() < 0.5


def _plainly(policy, masker, row, uniform):
    """One row, decoded without cache, batch or compaction, straight from the definition."""
    inputs = batches.sources([SOURCES[row]], 0, CPU)
    tokens, supports, removed = [], [], []
    for step in range(SAMPLING.max_new_tokens):
        read = torch.tensor([[0, *tokens]])
        logits, mask_logits = (
            each(each.encode(**inputs), inputs["attention_mask"], read)[0][0, -1]
            for each in (policy, masker.policy)
        )
        mass, allowed = 0.0, set()
        for index in mask_logits.argsort(descending=True).tolist():
            allowed.add(index)
            mass += mask_logits.softmax(-1)[index].item()
            if mass >= SAMPLING.top_p:
                break
        allowed |= set(ALWAYS)
        ranked = logits.argsort(descending=True).tolist()
        removed.append(len(set(ranked[: SAMPLING.top_k]) - allowed) / SAMPLING.top_k)
        ids = sorted([index for index in ranked if index in allowed][: SAMPLING.top_k])
        supports.append(ids)
        bounds = logits[ids].double().softmax(-1).cumsum(-1)
        tokens.append(ids[int((bounds <= uniform[step]).sum())])
        if tokens[-1] == END:
            break
    return tokens, supports, removed


@torch.inference_mode()
def test_equals_decoding_from_the_definition(policy, masker):
    episodes = _sample(policy, masker)
    shape = len(SOURCES), SAMPLING.max_new_tokens
    uniform = torch.rand(shape, generator=nlpo_policies.generator(), dtype=torch.float64)
    for row in range(0, len(SOURCES), 4):
        tokens, supports, removed = _plainly(policy, masker, row, uniform[row])
        assert episodes[row].source == SOURCES[row]
        assert episodes[row].tokens == tokens
        assert episodes[row].allowed == supports
        assert episodes[row].removed == pytest.approx(removed)


@pytest.mark.parametrize("size", [1, 7, 24])
def test_batching_does_not_change_what_a_row_says(policy, masker, size):
    assert _said(_sample(policy, masker, batch_turns=size)) == _said(_sample(policy, masker))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_dropping_rows_does_not_change_what_is_said(policy, masker, share, monkeypatch):
    expected = _said(_sample(policy, masker))
    monkeypatch.setattr(module, "_KEEP", share)
    assert _said(_sample(policy, masker)) == expected


def test_a_mask_policy_that_equals_the_policy_need_not_run(policy, monkeypatch):
    masker = Masker(policy)
    monkeypatch.setattr(masker.policy, "next_logits", None)
    skipped = _said(_sample(policy, masker))
    monkeypatch.undo()
    monkeypatch.setattr(masker, "equals", lambda _: False)
    assert _said(_sample(policy, masker)) == skipped
    assert skipped != _said(_sample(policy, None))


def test_a_refresh_reaches_the_rollout(policy, masker):
    old = Masker(masker.policy)
    before = _said(_sample(policy, old))
    old.refresh(policy)
    refreshed = _said(_sample(policy, old))
    assert refreshed != before
    assert refreshed == _said(_sample(policy, Masker(policy)))


def test_end_and_markers_are_never_masked(policy, masker):
    narrow = _sample(policy, masker, top_p=1e-6)
    for each in narrow:
        for ids in each.allowed:
            assert set(ALWAYS) <= set(ids) and len(ids) <= 3
    assert min(share for each in narrow for share in each.removed) > 0.7


def test_without_a_mask_it_is_top_k(policy):
    episodes = _sample(policy, None)
    assert {len(ids) for each in episodes for ids in each.allowed} == {SAMPLING.top_k}
    assert not any(share for each in episodes for share in each.removed)
    likeliest = _sample(policy, None, top_k=1)
    for each in likeliest:
        inputs = batches.sources([each.source], 0, CPU)
        assert [each.tokens] == greedy(policy.model, **inputs, max_new_tokens=SAMPLING.max_new_tokens)
    wide = _sample(policy, None, SOURCES[:2], top_k=10**4)
    assert len(wide[0].allowed[0]) == nlpo_policies.VOCABULARY


def test_other_draws_other_turns(policy):
    first = _said(_sample(policy, None))
    assert first == _said(_sample(policy, None))
    other = torch.Generator().manual_seed(4)
    assert first != _said(rollout(policy, None, SOURCES, SAMPLING, other, ALWAYS))


def test_support():
    logits = torch.tensor([[1.0, 5.0, 4.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    allowed = torch.tensor([[True, False, True, True, True], [False, True, False, False, False]])
    ids, values, sizes, removed = support(logits, allowed, 3)
    assert ids[0].tolist() == [2, 3, 4] and values[0].tolist() == [4.0, 3.0, 2.0]
    assert ids[1, 0] == 1 and values[1].tolist() == [2.0, -torch.inf, -torch.inf]
    assert sizes.tolist() == [[3], [1]]
    torch.testing.assert_close(removed, torch.tensor([1 / 3, 1.0]))


def test_draw():
    logits = torch.tensor([0.2, 0.5, 0.3, 0.0]).log().expand(6, 4)
    uniform = torch.tensor([0.0, 0.19, 0.21, 0.69, 0.71, 1 - 2**-53], dtype=torch.float64)
    places, logprobs = draw(logits, torch.full((6, 1), 3), uniform)
    assert places[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    expected = torch.tensor([0.2, 0.2, 0.5, 0.5, 0.3, 0.3]).log()
    torch.testing.assert_close(logprobs, expected)


def test_non_finite_output_is_a_diagnosis(policy, masker):
    broken = policy.frozen_copy()
    with torch.no_grad():
        broken.model.shared.weight[0] = torch.nan
    for each in (None, masker):
        with pytest.raises(TodflowError, match="not finite; lower rl.learning_rate"):
            _sample(broken, each, SOURCES[:3])
