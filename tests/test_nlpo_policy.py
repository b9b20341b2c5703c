"""The policy's log-probs don't depend on padding or mode; the mask is what its definition says."""

import pytest
import torch

import nlpo_policies
from todflow.errors import TodflowError
from todflow.nlpo.policy import Masker, Policy, sequence_logprobs, support_entropy
from todflow.nlpo.policy import support_logits, top_p_set, unmasked_logprobs
from todflow.seq2seq import batches

CPU = torch.device("cpu")
READ = torch.tensor([[0, 7, 8, 9, 10], [0, 11, 12, 0, 0]])
INPUTS = batches.sources([[5, 6, 7, 1], [8, 1]], 0, CPU)


@pytest.mark.parametrize("make", [nlpo_policies.policy, nlpo_policies.bart])
def test_there_is_no_dropout_even_in_training_mode(make):
    policy = make()
    nlpo_policies.wake_value_head(policy)
    mask = INPUTS["attention_mask"]
    before = policy(policy.encode(**INPUTS), mask, READ)
    assert not policy.training
    policy.train()
    after = policy(policy.encode(**INPUTS), mask, READ)
    assert torch.equal(before[0], after[0])
    assert torch.equal(before[1], after[1])
    assert before[1].unique().numel() > 2


def test_the_value_head_starts_at_zero_and_leaves_the_model_alone():
    policy = nlpo_policies.policy()
    states = policy.encode(**INPUTS)
    assert not policy(states, INPUTS["attention_mask"], READ)[1].any()
    nlpo_policies.wake_value_head(policy)
    values = policy(states, INPUTS["attention_mask"], READ)[1]
    decoded = policy.model.get_decoder()(
        input_ids=READ, encoder_hidden_states=states, encoder_attention_mask=INPUTS["attention_mask"]
    )
    expected = policy.value_head(decoded.last_hidden_state)[..., 0]
    torch.testing.assert_close(values, expected)
    values.sum().backward()
    assert policy.value_head.weight.grad.any()
    assert all(weight.grad is None for weight in policy.model.parameters())


def test_padding_changes_neither_logits_nor_values():
    policy = nlpo_policies.policy()
    nlpo_policies.wake_value_head(policy)
    mask = INPUTS["attention_mask"]
    logits, values = policy(policy.encode(**INPUTS), mask, READ)
    ids = INPUTS["input_ids"].clone()
    ids[1, 2:] = 33
    read = READ.clone()
    read[1, 3:] = 44
    other, other_values = policy(policy.encode(ids, mask), mask, read)
    torch.testing.assert_close(other[0], logits[0])
    torch.testing.assert_close(other[1, :3], logits[1, :3])
    torch.testing.assert_close(other_values[1, :3], values[1, :3])
    alone, _ = policy(policy.encode(ids[1:, :2], mask[1:, :2]), mask[1:, :2], READ[1:, :3])
    torch.testing.assert_close(alone[0], logits[1, :3])
    # Content that isn't padding does change them.
    read[1, 2] = 44
    assert not torch.allclose(policy(policy.encode(ids, mask), mask, read)[0][1, 2], logits[1, 2])


def test_logits_belong_to_the_token_that_the_library_scores_there():
    policy = nlpo_policies.policy()
    out = policy.model.generate(
        **INPUTS, do_sample=False, max_new_tokens=6, output_scores=True, return_dict_in_generate=True
    )
    start = policy.model.config.decoder_start_token_id
    read = batches.decoder_inputs(out.sequences[:, 1:], start, 0)
    logits, _ = policy(policy.encode(**INPUTS), INPUTS["attention_mask"], read)
    row = out.sequences[0, 1:].tolist()
    length = row.index(nlpo_policies.END) + 1 if nlpo_policies.END in row else len(row)
    assert length > 2
    for step in range(length):
        torch.testing.assert_close(logits[:1, step], out.scores[step][:1], atol=1e-4, rtol=1e-4)
        assert logits[0, step].argmax() == row[step]


@torch.no_grad()
def test_identical_models_have_no_divergence():
    policy = nlpo_policies.policy()
    reference = policy.frozen_copy()
    assert not any(weight.requires_grad for weight in reference.parameters())
    tokens = torch.tensor([[7, 8, 9, 10, 1], [11, 12, 1, 0, 0]])
    mask = INPUTS["attention_mask"]
    ours, theirs = (
        unmasked_logprobs(each(each.encode(**INPUTS), mask, READ)[0], tokens)
        for each in (policy, reference)
    )
    assert torch.equal(ours, theirs)
    policy.model.shared.weight.mul_(1.1)
    changed = unmasked_logprobs(policy(policy.encode(**INPUTS), mask, READ)[0], tokens)
    assert (changed - theirs).abs().max() > 1e-3


def test_top_p_set():
    logits = torch.tensor([[0.05, 0.5, 0.3, 0.15], [0.25, 0.25, 0.2, 0.3]]).log()
    assert top_p_set(logits, 0.49, 1)[0].tolist() == [False, True, False, False]
    assert top_p_set(logits, 0.51, 1)[0].tolist() == [False, True, True, False]
    assert top_p_set(logits, 0.99, 1)[0].all()
    assert top_p_set(logits, 0.1, 3)[0].tolist() == [False, True, True, True]
    assert top_p_set(logits, 0.1, 100).all()
    # The first two of the second row tie: both or none.
    assert top_p_set(logits, 0.4, 1)[1].tolist() == [True, True, False, True]


def test_top_p_set_of_flat_and_steep_rows():
    generator = torch.Generator().manual_seed(1)
    scale = torch.linspace(0.1, 6, 30)[:, None]
    logits = scale * torch.randn(30, 400, generator=generator)
    found = top_p_set(logits, 0.9, 2)
    for row, mine in zip(logits, found):
        mass, expected = 0.0, set()
        for index in row.argsort(descending=True).tolist():
            if mass >= 0.9 and len(expected) >= 2:
                break
            mass += row.double().softmax(-1)[index].item()
            expected.add(index)
        assert set(mine.nonzero()[:, 0].tolist()) == expected
    sizes = found.sum(-1)
    assert sizes.min() == 2 and sizes.max() > 200


def test_only_a_refresh_changes_the_mask():
    policy = nlpo_policies.policy()
    masker = Masker(policy)
    always = torch.tensor([nlpo_policies.END, 77])

    def mask():
        states = masker.policy.encode(**INPUTS)
        logits, _ = masker.policy(states, INPUTS["attention_mask"], READ)
        return masker.allowed(logits[:, -1], 0.5, 1, always)

    before = mask()
    assert before[:, always].all() and not before.all()
    assert masker.equals(policy)
    with torch.no_grad():
        for weight in policy.model.decoder.parameters():
            weight.mul_(-1.2)
    assert not masker.equals(policy)
    assert torch.equal(mask(), before)
    masker.refresh(policy)
    assert masker.equals(policy)
    assert not torch.equal(mask(), before)


def test_log_probs_over_the_support_are_those_of_a_masked_softmax():
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(1, 3, 9, generator=generator, requires_grad=True)
    ids = torch.tensor([[[2, 4, 7], [1, 8, 0], [0, 0, 0]]])
    valid = torch.tensor([[[True, True, True], [True, True, False], [False, False, False]]])
    found = sequence_logprobs(logits, torch.tensor([[4, 8, 0]]), ids, valid)
    first = torch.full((9,), -torch.inf)
    first[[2, 4, 7]] = logits[0, 0, [2, 4, 7]].detach()
    second = torch.full((9,), -torch.inf)
    second[[1, 8]] = logits[0, 1, [1, 8]].detach()
    expected = [first.log_softmax(-1)[4], second.log_softmax(-1)[8], 0.0]
    torch.testing.assert_close(found[0], torch.tensor(expected))
    entropy = support_entropy(support_logits(logits, ids, valid))[0]
    for got, row in zip(entropy, (first, second)):
        weights = row.softmax(-1)
        torch.testing.assert_close(got, -(weights * (weights + 1e-30).log()).sum())
    (found.sum() + entropy[:2].sum()).backward()
    assert logits.grad.isfinite().all() and not logits.grad[0, 2].any()
    assert set(logits.grad[0, 1].nonzero()[:, 0].tolist()) == {1, 8}


def test_precision():
    policy = nlpo_policies.policy()
    low = Policy(policy.model, "bf16")
    mask = INPUTS["attention_mask"]
    exact = policy(policy.encode(**INPUTS), mask, READ)[0]
    rough, values = low(low.encode(**INPUTS), mask, READ)
    assert rough.dtype == values.dtype == torch.float32
    assert 0 < (exact - rough)[0].abs().max() < 0.3 * exact.std()
    with pytest.raises(TodflowError, match="fp32 or bf16"):
        Policy(policy.model, "fp16")
