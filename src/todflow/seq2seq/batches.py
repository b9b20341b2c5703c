"""Which turns make up a batch, and their padding."""

import random
from collections.abc import Iterator
from typing import NamedTuple

import torch

IGNORED = -100
# Within a pool, sources whose lengths differ by less are sorted by their targets: sorted by one of the
# two alone, or by the sum, batches have the other one in all lengths.
_ALIKE = 8


class Example(NamedTuple):
    """Token ids of one turn."""

    source: list[int]
    target: list[int]


def epoch_batches(
    lengths: list[tuple[int, int]], turns: int, tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """The batches of one epoch, as indices into `lengths` (source and target length of each turn).

    Turns are shuffled, sorted by both lengths within pools of 50 batches' worth, and cut into batches
    of at most `turns` turns and at most `tokens` padded tokens; then the batches are shuffled. The
    order comes from (seed, epoch) alone, so a resumed run sees the same. A single turn that is
    longer than `tokens` is a batch by itself.
    """
    generator = random.Random(f"{seed}/{epoch}")
    order = list(range(len(lengths)))
    generator.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), turns * 50):
        pool = sorted(
            order[start : start + turns * 50],
            key=lambda i: (lengths[i][0] // _ALIKE, lengths[i][1], i),
        )
        batch: list[int] = []
        longest = (0, 0)
        for index in pool:
            grown = tuple(map(max, longest, lengths[index]))
            full = len(batch) == turns or sum(grown) * (len(batch) + 1) > tokens
            if batch and full:
                batches.append(batch)
                batch, grown = [], lengths[index]
            batch.append(index)
            longest = grown
        batches.append(batch)
    generator.shuffle(batches)
    return batches


def by_length(sources: list[list[int]], size: int) -> Iterator[list[int]]:
    """Indices of `sources`, longest first, `size` at a time: little padding when generating."""
    order = sorted(range(len(sources)), key=lambda i: (-len(sources[i]), i))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def pad(rows: list[list[int]], value: int, device: torch.device) -> torch.Tensor:
    """The rows as one matrix, filled up on the right with `value`."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows], device=device)


def sources(rows: list[list[int]], padding: int, device: torch.device) -> dict[str, torch.Tensor]:
    """`input_ids` and `attention_mask` of the rows."""
    mask = pad([[1] * len(row) for row in rows], 0, device)
    return {"input_ids": pad(rows, padding, device), "attention_mask": mask}


def decoder_inputs(labels: torch.Tensor, start: int, padding: int) -> torch.Tensor:
    """What the decoder reads to write `labels`: the start token, then all labels but the last."""
    shifted = torch.full_like(labels, start)
    shifted[:, 1:] = labels[:, :-1]
    return shifted.masked_fill(shifted == IGNORED, padding)
