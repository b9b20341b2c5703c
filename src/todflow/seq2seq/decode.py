"""Greedy decoding with a key-value cache that drops finished rows.

Most turns of a batch end long before the longest one. Without compaction two thirds of the
decoder's work goes into rows that have ended.
"""

import torch
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

_KEEP = 0.75


@torch.inference_mode()
def greedy(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    max_new_tokens: int,
) -> list[list[int]]:
    """The most likely next token, again and again, until the end token or `max_new_tokens`.

    Takes [batch, source] ids and mask; returns each row's new ids, the end token included. The
    tokens are those of the library's `generate` with `num_beams=1, do_sample=False`.
    """
    end = model.config.eos_token_id
    written: list[list[int]] = [[] for _ in range(len(input_ids))]
    rows = torch.arange(len(input_ids), device=input_ids.device)
    mask = attention_mask
    states = model.get_encoder()(input_ids=input_ids, attention_mask=mask).last_hidden_state
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    last = torch.full_like(input_ids[:, :1], model.config.decoder_start_token_id)
    open_rows = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    for _ in range(max_new_tokens):
        output = model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=mask,
            decoder_input_ids=last,
            cache=cache,
            use_cache=True,
        )
        last = output.logits[:, -1].argmax(-1, keepdim=True)
        for row, token, alive in zip(rows.tolist(), last[:, 0].tolist(), open_rows.tolist()):
            if alive:
                written[row].append(token)
        open_rows &= last[:, 0] != end
        left = int(open_rows.sum())
        if left == 0:
            break
        if left <= _KEEP * len(rows):
            kept = open_rows.nonzero()[:, 0]
            cache.batch_select_indices(kept)
            rows, mask, states, last = rows[kept], mask[kept], states[kept], last[kept]
            open_rows = open_rows[kept]
    return written
