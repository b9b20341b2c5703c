"""Turns sampled from the policy under the mask, with what an update has to know of every step.

Finished rows are dropped, as in seq2seq.decode. The mask policy decodes the same tokens in lockstep,
with its own encoder states and its own cache; while it equals the policy there is nothing to run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from todflow.errors import TodflowError
from todflow.nlpo.policy import Masker, Policy, added_mask
from todflow.seq2seq import batches

# Rows are dropped as soon as no more than this share of them is unfinished.
_KEEP = 0.9
# Rows that are encoded together: few, so that short sources aren't padded to the longest of a batch.
_ENCODED = 16


class Sampling(NamedTuple):
    """How turns are sampled, always at temperature 1.

    The mask keeps the top-p set of the mask policy (top_p, min_tokens_to_keep); of what is left, the
    top_k likeliest tokens can be drawn. batch_turns are decoded at once.
    """

    top_k: int
    top_p: float
    min_tokens_to_keep: int
    max_new_tokens: int
    batch_turns: int


class Episode(NamedTuple):
    """One sampled turn; the lists after `source` have one item per step.

    tokens: what was written, the end token included if it was reached.
    allowed: the ids that could be drawn, ascending: those left by mask and top-k.
    logprobs: of the token among the allowed ones, under the policy that wrote it.
    removed: share of the policy's top-k tokens that the mask took away.
    """

    source: list[int]
    tokens: list[int]
    allowed: list[list[int]]
    logprobs: list[float]
    removed: list[float]


@torch.inference_mode()
def rollout(
    policy: Policy,
    masker: Masker | None,
    sources: list[list[int]],
    sampling: Sampling,
    generator: torch.Generator,
    always: list[int],
) -> list[Episode]:
    """One sampled turn for each of `sources`, in order.

    `masker` None means no mask; `always` are ids that no mask takes away (end token and markers).
    `generator` (on the CPU) gives every row its own draws, so that what a row says doesn't depend on
    the rows beside it. TodflowError if the policy's output is not finite.
    """
    draws = torch.rand(
        len(sources), sampling.max_new_tokens, generator=generator, dtype=torch.float64
    )
    mask_policy = None if masker is None or masker.equals(policy) else masker.policy
    episodes: dict[int, Episode] = {}
    with _quick_attention(policy), _quick_attention(mask_policy):
        for batch in batches.by_length(sources, sampling.batch_turns):
            chosen = [sources[i] for i in batch]
            record = _decode(policy, masker, mask_policy, chosen, sampling, draws[batch], always)
            episodes.update(zip(batch, record.episodes(chosen)))
    return [episodes[i] for i in range(len(sources))]


@contextmanager
def _quick_attention(policy: Policy | None) -> Iterator[None]:
    """On a CPU, attention by plain products within the block: the fused kernel, made for many
    positions at once, is a tenth slower for the one of a decoding step."""
    if policy is None or policy.device.type != "cpu":
        yield
        return
    usual = policy.model.config._attn_implementation
    policy.model.set_attn_implementation("eager")
    try:
        yield
    finally:
        policy.model.set_attn_implementation(usual)


class _Stream:
    """One model's view of the rows that are still in the batch."""

    def __init__(self, policy: Policy, input_ids: torch.Tensor, attention_mask: torch.Tensor):
        self.policy, self.mask = policy, added_mask(attention_mask)
        self.states = _encode(policy, input_ids, attention_mask)
        self.cache = EncoderDecoderCache(DynamicCache(), DynamicCache())

    def next_logits(self, last: torch.Tensor) -> torch.Tensor:
        return self.policy.next_logits(self.states, self.mask, last, self.cache)

    def keep(self, rows: torch.Tensor) -> None:
        self.cache.batch_select_indices(rows)
        self.states, self.mask = self.states[rows], self.mask[rows]


def _encode(policy: Policy, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The states of all rows, encoded a few at a time without their common padding."""
    states = []
    for rows, valid in zip(ids.split(_ENCODED), mask.split(_ENCODED)):
        width = int(valid.sum(-1).max())
        part = policy.encode(rows[:, :width], valid[:, :width])
        states.append(torch.nn.functional.pad(part, (0, 0, 0, ids.shape[1] - width)))
    return torch.cat(states)


class _Record:
    """What was drawn, by row of the batch and step."""

    def __init__(self, rows: int, sampling: Sampling, device: torch.device):
        steps, top_k = sampling.max_new_tokens, sampling.top_k
        self.tokens = torch.zeros(rows, steps, dtype=torch.long, device=device)
        self.allowed = torch.zeros(rows, steps, top_k, dtype=torch.int32, device=device)
        self.sizes = torch.zeros(rows, steps, dtype=torch.long, device=device)
        self.logprobs = torch.zeros(rows, steps, device=device)
        self.removed = torch.zeros(rows, steps, device=device)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=device)

    def episodes(self, sources: list[list[int]]) -> list[Episode]:
        """The rows' episodes, cut to their lengths."""
        result = []
        for row, (source, length) in enumerate(zip(sources, self.lengths.tolist())):
            logprobs = self.logprobs[row, :length]
            if not logprobs.isfinite().all():
                raise TodflowError(
                    "rollout: the policy's log-probs are not finite; lower rl.learning_rate or raise "
                    "rl.kl_coef, and start from the last good checkpoint"
                )
            ids, sizes = self.allowed[row, :length].tolist(), self.sizes[row, :length].tolist()
            result.append(
                Episode(
                    source,
                    self.tokens[row, :length].tolist(),
                    [step[:size] for step, size in zip(ids, sizes)],
                    logprobs.tolist(),
                    self.removed[row, :length].tolist(),
                )
            )
        return result


def _decode(
    policy: Policy,
    masker: Masker | None,
    mask_policy: Policy | None,
    sources: list[list[int]],
    sampling: Sampling,
    draws: torch.Tensor,
    always: list[int],
) -> _Record:
    config, device = policy.model.config, policy.device
    inputs = batches.sources(sources, config.pad_token_id, device)
    streams = [_Stream(each, **inputs) for each in (policy, mask_policy) if each]
    draws, kept_ids = draws.to(device), torch.tensor(always, dtype=torch.long, device=device)
    record = _Record(len(sources), sampling, device)
    rows = torch.arange(len(sources), device=device)
    last = torch.full_like(rows[:, None], config.decoder_start_token_id)
    open_rows = torch.ones_like(rows, dtype=torch.bool)
    for step in range(sampling.max_new_tokens):
        logits = [stream.next_logits(last) for stream in streams]
        allowed = None
        if masker:
            allowed = masker.allowed(
                logits[-1], sampling.top_p, sampling.min_tokens_to_keep, kept_ids
            )
        ids, values, sizes, removed = support(logits[0], allowed, sampling.top_k)
        drawn, logprobs = draw(values, sizes, draws[rows, step])
        last = ids.gather(1, drawn)
        record.tokens[rows, step] = last[:, 0]
        record.allowed[rows, step, : ids.shape[1]] = ids.int()
        record.sizes[rows, step] = sizes[:, 0]
        record.logprobs[rows, step] = logprobs
        record.removed[rows, step] = removed
        record.lengths[rows] += open_rows
        open_rows &= last[:, 0] != config.eos_token_id
        left = int(open_rows.sum())
        if left == 0:
            break
        if left <= _KEEP * len(rows):
            kept = open_rows.nonzero()[:, 0]
            for stream in streams:
                stream.keep(kept)
            rows, last, open_rows = rows[kept], last[kept], open_rows[kept]
    return record


def support(
    logits: torch.Tensor, allowed: torch.Tensor | None, top_k: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """What can be drawn by the policy's `logits` [batch, vocabulary] under the mask `allowed`.

    Returns ids [batch, K], ascending so that nearly equal logits can't swap places, and their logits;
    beyond a row's size [batch, 1] the logits are -inf and the ids meaningless. The last result is the
    share of the policy's own top-k that the mask took away [batch].
    """
    count = min(top_k, logits.shape[-1])
    top = logits.topk(count)
    removed = logits.new_zeros(len(logits))
    if allowed is not None:
        removed = 1 - allowed.gather(1, top.indices).float().mean(-1)
        top = logits.masked_fill(~allowed, -torch.inf).topk(count)
    valid = top.values > -torch.inf
    order = top.indices.masked_fill(~valid, logits.shape[-1]).argsort(-1)
    sizes = valid.sum(-1, keepdim=True)
    return top.indices.gather(1, order), top.values.gather(1, order), sizes, removed


def draw(
    logits: torch.Tensor, sizes: torch.Tensor, uniform: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the cumulated probabilities of `logits` [batch, K] pass the draws `uniform` [batch].

    Returns the places [batch, 1], and the log-prob of each [batch], fp32.
    """
    logprobs = logits.double().log_softmax(-1)
    cumulated = logprobs.exp().cumsum(-1)
    # The last sum may be a little less than 1.
    wanted = uniform[:, None] * cumulated[:, -1:]
    places = torch.searchsorted(cumulated, wanted, right=True)
    places = torch.minimum(places, (sizes - 1).clamp(min=0))
    return places, logprobs.gather(1, places)[:, 0].float()
