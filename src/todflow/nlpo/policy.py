"""A policy with a value head, the mask policy that restricts it, and log-probs over a stored mask.

NLPO (Ramamurthy et al., 2023) lets the policy write only what the mask policy, an older copy of it,
finds likely: the smallest set of tokens whose probabilities pass p.
"""

import copy
from typing import Self

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.cache_utils import EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from todflow.errors import TodflowError

# Most top-p sets are far smaller: a full sort is needed only where these are not enough.
_HEAD = 64


class Policy(nn.Module):
    """An encoder-decoder that says what comes next, and how much reward it still expects.

    The value head is linear on the decoder's last hidden state, starts at zero and sends no gradient
    into the model. There is never dropout: log-probs must be the same whenever they are computed.
    `precision` is fp32 or bf16 (autocast; weights, logits and values stay in fp32).
    """

    def __init__(self, model: PreTrainedModel, precision: str = "fp32"):
        super().__init__()
        if precision not in ("fp32", "bf16"):
            raise TodflowError(f"precision: {precision} is unknown; use fp32 or bf16")
        self.model, self.precision = model, precision
        self.value_head = nn.Linear(model.get_decoder().config.hidden_size, 1)
        nn.init.zeros_(self.value_head.weight)
        nn.init.zeros_(self.value_head.bias)
        self.to(next(model.parameters()).device)
        _without_dropout(model)
        self.eval()

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.value_head.weight.device

    def encode(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The encoder's states [batch, source, width] of ids and mask [batch, source]."""
        with self._autocast():
            encoder = self.model.get_encoder()
            return encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    def forward(
        self, states: torch.Tensor, attention_mask: torch.Tensor, decoder_input_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [batch, target, vocabulary] and values [batch, target], both fp32, teacher-forced.

        `decoder_input_ids` begin with the start token (seq2seq.batches.decoder_inputs): position t
        holds what comes before token t, so its logits are those that token t was drawn from, and
        its value is the reward expected from token t on. Padding on the right changes nothing.
        """
        with self._autocast():
            output = self.model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=attention_mask,
                decoder_input_ids=decoder_input_ids,
                use_cache=False,
                output_hidden_states=True,
            )
        hidden = output.decoder_hidden_states[-1].detach().float()
        return output.logits.float(), self.value_head(hidden)[..., 0]

    def next_logits(
        self,
        states: torch.Tensor,
        source_mask: torch.Tensor,
        last: torch.Tensor,
        cache: EncoderDecoderCache,
    ) -> torch.Tensor:
        """Logits [batch, vocabulary], fp32, of what follows the ids `last` [batch, 1].

        `cache` holds the ids before them, and grows. `source_mask` [batch, 1, 1, source] is added to
        attention scores (see `added_mask`): the library would make it anew at every step.
        """
        seen = cache.get_seq_length() + 1
        with self._autocast():
            output = self.model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=source_mask,
                decoder_input_ids=last,
                decoder_attention_mask=source_mask.new_zeros(len(last), 1, 1, seen),
                cache=cache,
                use_cache=True,
            )
        return output.logits[:, -1].float()

    def frozen_copy(self) -> Self:
        """A copy without gradients, for the reference and the mask policy."""
        return copy.deepcopy(self).requires_grad_(False)

    def _autocast(self) -> torch.autocast:
        bf16 = self.precision == "bf16"
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=bf16)


def added_mask(attention_mask: torch.Tensor) -> torch.Tensor:
    """[batch, 1, 1, source] of [batch, source]: 0 at tokens, the lowest number at padding."""
    padding = attention_mask[:, None, None] == 0
    return torch.zeros(padding.shape, device=padding.device).masked_fill(
        padding, torch.finfo(torch.float32).min
    )


class Masker:
    """The one owner of the mask policy: whoever masks asks here, so a refresh reaches everybody."""

    def __init__(self, policy: Policy):
        self.policy = policy.frozen_copy()

    @torch.no_grad()
    def refresh(self, policy: Policy) -> None:
        """Make the mask policy equal to `policy`, by copying the weights."""
        self.policy.load_state_dict(policy.state_dict())

    def equals(self, policy: Policy) -> bool:
        """Whether the model's weights are those of `policy`: then its logits serve for both."""
        mine, theirs = self.policy.model.parameters(), policy.model.parameters()
        return all(torch.equal(one, other) for one, other in zip(mine, theirs, strict=True))

    @staticmethod
    def allowed(
        logits: torch.Tensor, top_p: float, min_keep: int, always: torch.Tensor
    ) -> torch.Tensor:
        """What may be written, [batch, vocabulary] bool, by the mask policy's `logits`.

        The top-p set of each row, and the ids `always`.
        """
        result = top_p_set(logits, top_p, min_keep)
        result[:, always] = True
        return result


def top_p_set(logits: torch.Tensor, top_p: float, min_keep: int) -> torch.Tensor:
    """The likeliest tokens of each row that together pass `top_p` (0 < top_p < 1), as bool.

    The token that crosses `top_p` belongs to the set, so do those that tie with the last one, and
    `min_keep` tokens always do. Shapes [batch, vocabulary].
    """
    head = logits.topk(min(max(_HEAD, min_keep), logits.shape[-1])).values
    total = logits.logsumexp(-1, keepdim=True)
    lowest, passed = _lowest(head, total, top_p, min_keep)
    if not passed.all():
        more = ~passed
        ordered = logits[more].sort(descending=True).values
        lowest[more], _ = _lowest(ordered, total[more], top_p, min_keep)
    return logits >= lowest


def _lowest(
    ordered: torch.Tensor, total: torch.Tensor, top_p: float, min_keep: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The smallest logit of the set, [batch, 1], by `ordered` (descending) logits, whose own sum
    may not be all of `total`; and whether they were enough, [batch]."""
    short = (ordered - total).exp().cumsum(-1) < top_p
    count = (short.sum(-1, keepdim=True) + 1).clamp(min_keep, ordered.shape[-1])
    return ordered.gather(1, count - 1), ~short[:, -1]


def sequence_logprobs(
    logits: torch.Tensor,
    tokens: torch.Tensor,
    allowed_ids: torch.Tensor,
    allowed_valid: torch.Tensor,
) -> torch.Tensor:
    """Log-prob [batch, target] of each token among the ids that could be drawn in its place.

    `logits` are [batch, target, vocabulary]; `allowed_ids` and `allowed_valid` [batch, target, K] say
    which ids of the row may be written at the step (anything where invalid). A step without valid
    ids, which is padding, gets 0 and passes no gradient.
    """
    support = support_logits(logits, allowed_ids, allowed_valid)
    chosen = logits.gather(-1, tokens[..., None])[..., 0]
    result = chosen - support.logsumexp(-1)
    return result.masked_fill(~allowed_valid.any(-1), 0.0)


def support_logits(
    logits: torch.Tensor, allowed_ids: torch.Tensor, allowed_valid: torch.Tensor
) -> torch.Tensor:
    """Logits [batch, target, K] of the allowed ids, -inf where invalid; zeros in padding."""
    padding = ~allowed_valid.any(-1, keepdim=True)
    gathered = logits.gather(-1, allowed_ids).masked_fill(~allowed_valid, -torch.inf)
    return gathered.masked_fill(padding, 0.0)


def support_entropy(support: torch.Tensor) -> torch.Tensor:
    """Entropy [batch, target] in nats of the distribution over `support_logits`.

    Padding has one, too: leave it out.
    """
    logprobs = support.log_softmax(-1)
    # 0 x log 0 = 0, also in the gradient.
    return -(logprobs.exp() * logprobs.masked_fill(support == -torch.inf, 0.0)).sum(-1)


def unmasked_logprobs(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Log-prob [batch, target] of each token among all: the KL term must not see the mask."""
    return logits.gather(-1, tokens[..., None])[..., 0] - logits.logsumexp(-1)


def _without_dropout(model: PreTrainedModel) -> None:
    """Set every dropout to 0, in modules and in the attributes that attention layers read."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if "dropout" in name and isinstance(value, float):
                setattr(module, name, 0.0)
        if isinstance(module, nn.Dropout):
            module.p = 0.0
