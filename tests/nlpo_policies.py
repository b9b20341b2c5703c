"""Small untrained policies whose turns end at many different steps."""

import random

import torch
from transformers import BartConfig, BartForConditionalGeneration, T5Config
from transformers import T5ForConditionalGeneration

from todflow.nlpo.policy import Policy
from todflow.nlpo.rollout import Sampling

VOCABULARY, END = 150, 1
SAMPLING = Sampling(top_k=20, top_p=0.8, min_tokens_to_keep=1, max_new_tokens=16, batch_turns=12)


def policy(seed: int = 1) -> Policy:
    """A T5 with dropout in its config and uneven next-token distributions."""
    torch.manual_seed(seed)
    shape = dict(d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=VOCABULARY)
    model = T5ForConditionalGeneration(
        T5Config(decoder_start_token_id=0, pad_token_id=0, eos_token_id=END, **shape)
    )
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
        model.shared.weight *= 6  # peaked, so that masks differ in size
        model.shared.weight[END] *= 1.5
    return Policy(model)


def bart() -> Policy:
    """The same of another family, whose dropout hides in other places."""
    torch.manual_seed(2)
    config = BartConfig(
        vocab_size=VOCABULARY, d_model=16, encoder_layers=1, decoder_layers=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, encoder_attention_heads=2, decoder_attention_heads=2, dropout=0.3,
        attention_dropout=0.3, activation_dropout=0.3, init_std=0.7, pad_token_id=0, bos_token_id=2,
        eos_token_id=END, decoder_start_token_id=0, forced_eos_token_id=None,
    )  # fmt: skip
    return Policy(BartForConditionalGeneration(config))


def sources(count: int = 24) -> list[list[int]]:
    """Sources of 3 to 20 ids."""
    draw = random.Random(1)
    return [[draw.randrange(2, VOCABULARY) for _ in range(3 + i % 18)] + [END] for i in range(count)]


def generator() -> torch.Generator:
    """The same draws every time."""
    return torch.Generator().manual_seed(3)


def wake_value_head(policy: Policy) -> None:
    """Give the value head weights, so that its values can differ."""
    with torch.no_grad():
        policy.value_head.weight.normal_(generator=torch.Generator().manual_seed(1))
