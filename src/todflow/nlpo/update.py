"""PPO on whole turns: one teacher-forced pass gives the log-probs and values of all their tokens.

Knows nothing of dialogues or rewards, only of samples with advantages.
"""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch.nn.utils.rnn import pad_sequence

from todflow.errors import TodflowError
from todflow.nlpo.policy import Policy, sequence_logprobs
from todflow.seq2seq import batches

# Minibatches are cut from pools of this many minibatches' turns, sorted by length: little padding,
# and still other neighbours in every epoch.
_POOL = 4
# Keeps exp() of a log-ratio finite; far beyond where clipping ends all learning.
_MOST = 20.0


class Settings(NamedTuple):
    """How to update. minibatch_turns counts turns, not tokens.

    The rest: step-reward paper, Appendix A; Schulman et al. (2017), eq. 7, for `clip`. The value
    head has a learning rate of its own: it begins at zero, where the model is nearly done.
    sft_weight is that of the mean negative log-likelihood of the gold targets, 0 for none.
    """

    epochs: int
    minibatch_turns: int
    learning_rate: float
    value_learning_rate: float
    weight_decay: float
    gradient_clip: float
    clip: float
    value_weight: float
    sft_weight: float
    freeze_encoder: bool


class Sample(NamedTuple):
    """A sampled turn; tensors have an item per token.

    allowed: [tokens, K] ids of the support that each token was drawn from, -1 beyond its size.
    logprobs: of the tokens among these ids, under the policy that drew them.
    gold: the target's ids, for the supervised loss.
    states: [source, width] of the encoder, where that is frozen.
    """

    name: str
    source: list[int]
    tokens: torch.Tensor
    allowed: torch.Tensor
    logprobs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    gold: list[int]
    states: torch.Tensor | None


class Minibatch(NamedTuple):
    """Samples, padded on the right; that of `allowed` is -1, and whatever lies there is ignored."""

    names: list[str]
    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    states: torch.Tensor | None
    read: torch.Tensor
    tokens: torch.Tensor
    allowed: torch.Tensor
    old: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    gold: torch.Tensor


def allowed_table(allowed: list[list[int]]) -> torch.Tensor:
    """The lists as rows of a matrix, filled up with -1."""
    return batches.pad(allowed, -1, torch.device("cpu"))


def collate(policy: Policy, samples: Sequence[Sample]) -> Minibatch:
    """One minibatch on the policy's device."""
    config, device = policy.model.config, policy.device
    tokens = _pad([sample.tokens for sample in samples], config.pad_token_id)
    width = max(sample.allowed.shape[1] for sample in samples)
    allowed = [
        torch.nn.functional.pad(sample.allowed, (0, width - sample.allowed.shape[1]), value=-1)
        for sample in samples
    ]
    states = None
    if samples[0].states is not None:
        states = _pad([sample.states for sample in samples], 0.0)
    padding = config.pad_token_id
    return Minibatch(
        [sample.name for sample in samples],
        **batches.sources([sample.source for sample in samples], padding, device),
        states=states,
        read=batches.decoder_inputs(tokens, config.decoder_start_token_id, padding).to(device),
        tokens=tokens.to(device),
        allowed=_pad(allowed, -1).to(device),
        old=_pad([sample.logprobs for sample in samples], 0.0).to(device),
        advantages=_pad([sample.advantages for sample in samples], 0.0).to(device),
        returns=_pad([sample.returns for sample in samples], 0.0).to(device),
        gold=batches.pad([sample.gold for sample in samples], batches.IGNORED, device),
    )


def _pad(rows: list[torch.Tensor], value: float) -> torch.Tensor:
    return pad_sequence(rows, batch_first=True, padding_value=value)


def minibatches(lengths: Sequence[int], size: int, seed: str) -> list[list[int]]:
    """Indices of `lengths`, each once, `size` to a minibatch; the order comes from `seed` alone."""
    generator = random.Random(seed)
    order = list(range(len(lengths)))
    generator.shuffle(order)
    result = []
    for start in range(0, len(order), size * _POOL):
        pool = sorted(order[start : start + size * _POOL], key=lambda i: (lengths[i], i))
        result += [pool[first : first + size] for first in range(0, len(pool), size)]
    generator.shuffle(result)
    return result


def loss(
    policy: Policy, batch: Minibatch, settings: Settings, tokens: float
) -> tuple[torch.Tensor, torch.Tensor, dict[str, float]]:
    """Losses of the policy and of the value head, and sums over the minibatch's tokens.

    Clipped surrogate (Schulman et al., 2017, eq. 7) over the stored supports, squared error of the
    values to the returns times value_weight, and the supervised loss. The first two are sums over
    tokens, divided by `tokens`, the mean of a minibatch: so every token of an iteration weighs the
    same. The sums: `policy_loss`, `value_loss`, `clipped` (1 where the ratio is beyond the clip),
    `drift` (k3 estimate of the KL to the policy that sampled), `tokens`; besides `ratio_error`, the
    largest |ratio - 1|.
    """
    states = batch.states
    if states is None:
        states = policy.encode(batch.input_ids, batch.attention_mask)
    logits, values = policy(states, batch.attention_mask, batch.read)
    allowed_valid = batch.allowed >= 0
    valid = allowed_valid.any(-1)
    new = sequence_logprobs(logits, batch.tokens, batch.allowed.clamp(min=0), allowed_valid)
    moved = (new - batch.old).masked_fill(~valid, 0.0).clamp(-_MOST, _MOST)
    ratio = moved.exp()
    advantages = batch.advantages.masked_fill(~valid, 0.0)
    clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
    policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).sum()
    value_loss = (values - batch.returns).masked_fill(~valid, 0.0).square().sum()
    with torch.no_grad():
        sums = torch.stack(
            [
                policy_loss,
                value_loss,
                (ratio != clipped).sum(),
                (ratio - 1 - moved).sum(),
                valid.sum(),
                (ratio - 1).abs().max(),
            ]
        ).tolist()
    objective = policy_loss / tokens
    if settings.sft_weight:
        objective = objective + settings.sft_weight * _supervised(policy, batch, states)
    names = ("policy_loss", "value_loss", "clipped", "drift", "tokens", "ratio_error")
    return objective, settings.value_weight * value_loss / tokens, dict(zip(names, sums))


def _supervised(policy: Policy, batch: Minibatch, states: torch.Tensor) -> torch.Tensor:
    config = policy.model.config
    read = batches.decoder_inputs(batch.gold, config.decoder_start_token_id, config.pad_token_id)
    logits, _ = policy(states, batch.attention_mask, read)
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), batch.gold.flatten(), ignore_index=batches.IGNORED
    )


class Updater:
    """A policy with its optimiser (AdamW, constant learning rates).

    With freeze_encoder whatever the encoder is made of stays as it is, the embeddings among it; so
    its states can be computed once for all epochs.
    """

    def __init__(self, policy: Policy, settings: Settings):
        self.policy, self.settings = policy, settings
        if settings.freeze_encoder:
            policy.model.get_encoder().requires_grad_(False)
        self._weights = [weight for weight in policy.model.parameters() if weight.requires_grad]
        self._head = list(policy.value_head.parameters())
        self.optimizer = torch.optim.AdamW(
            [
                {"params": self._weights},
                {"params": self._head, "lr": settings.value_learning_rate},
            ],
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )

    def run(
        self, samples: Sequence[Sample], seed: str, values_only: bool = False
    ) -> dict[str, float]:
        """All epochs over an iteration's samples; `seed` says in which order.

        Returns means per token: `policy_loss`, `value_loss`, `clip_share`, `drift` of the last
        epoch, and `ratio_error` of the first minibatch, before any step. With `values_only` the
        model stays as it is. TodflowError, which names the minibatch, before a step with a loss or
        gradient that isn't finite.
        """
        size = self.settings.minibatch_turns
        lengths = [len(sample.source) + len(sample.tokens) for sample in samples]
        tokens = sum(len(sample.tokens) for sample in samples) / math.ceil(len(samples) / size)
        total: dict[str, float] = {}
        ratio_error = None
        for epoch in range(self.settings.epochs):
            total = dict.fromkeys(("policy_loss", "value_loss", "clipped", "drift", "tokens"), 0.0)
            for chosen in minibatches(lengths, size, f"{seed}/{epoch}"):
                batch = collate(self.policy, [samples[index] for index in chosen])
                sums = self._step(batch, tokens, values_only)
                if ratio_error is None:
                    ratio_error = sums["ratio_error"]
                for name in total:
                    total[name] += sums[name]
        return {
            "policy_loss": total["policy_loss"] / total["tokens"],
            "value_loss": total["value_loss"] / total["tokens"],
            "clip_share": total["clipped"] / total["tokens"],
            "drift": total["drift"] / total["tokens"],
            "ratio_error": ratio_error,
        }

    def _step(self, batch: Minibatch, tokens: float, values_only: bool) -> dict[str, float]:
        objective, value_loss, sums = loss(self.policy, batch, self.settings, tokens)
        # The two share no weight: the value head's input is detached.
        (value_loss if values_only else objective + value_loss).backward()
        limit = self.settings.gradient_clip
        # Apart, or the value head's large gradients would shrink the model's.
        norms = [
            torch.nn.utils.clip_grad_norm_(part, limit) for part in (self._weights, self._head)
        ]
        if not all(torch.isfinite(x) for x in (objective.detach(), value_loss.detach(), *norms)):
            self.optimizer.zero_grad(set_to_none=True)
            raise TodflowError(
                f"update: the loss of turns {', '.join(batch.names)} is not finite; lower "
                "rl.learning_rate or raise rl.kl_coef"
            )
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return sums
