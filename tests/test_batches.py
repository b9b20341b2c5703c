"""Batches: every turn once, within the limits, always the same."""

import random

import torch

from todflow.seq2seq.batches import IGNORED, by_length, decoder_inputs, epoch_batches, pad, sources

LENGTHS = [(5 + 7 * i % 40, 3 + 5 * i % 20) for i in range(500)]


def _batches(**changes):
    settings = {"turns": 16, "tokens": 400, "seed": 1, "epoch": 2} | changes
    return epoch_batches(LENGTHS, **settings)


def test_every_turn_once():
    assert sorted(index for batch in _batches() for index in batch) == list(range(500))


def test_limits():
    for batch in _batches():
        width = sum(max(LENGTHS[i][side] for i in batch) for side in (0, 1))
        assert len(batch) <= 16
        assert width * len(batch) <= 400
    assert max(map(len, _batches(tokens=10000))) == 16


def test_a_turn_beyond_the_limit_is_alone():
    batches = epoch_batches([(900, 9), (5, 5), (6, 6)], 4, 100, 0, 0)
    assert [0] in batches and sorted(map(len, batches)) == [1, 2]


def test_order_depends_on_seed_and_epoch_only():
    assert _batches() == _batches()
    assert _batches() != _batches(epoch=3)
    assert _batches() != _batches(seed=2)


def test_buckets_waste_little():
    """Also where a source's length says nothing about its target's."""
    generator = random.Random(1)
    lengths = [(generator.randint(5, 80), generator.randint(5, 40)) for _ in range(2000)]
    padded = 0
    for batch in epoch_batches(lengths, 32, 1000, 1, 2):
        padded += len(batch) * sum(max(lengths[i][side] for i in batch) for side in (0, 1))
    assert padded / sum(map(sum, lengths)) < 1.2


def test_by_length():
    rows = [[0] * n for n in (3, 9, 1, 9, 5)]
    assert list(by_length(rows, 2)) == [[1, 3], [4, 0], [2]]


def test_padding():
    device = torch.device("cpu")
    assert pad([[1, 2], [3]], 9, device).tolist() == [[1, 2], [3, 9]]
    assert sources([[1, 0], [3]], 0, device)["attention_mask"].tolist() == [[1, 1], [1, 0]]


def test_decoder_inputs():
    labels = torch.tensor([[4, 5, 1], [6, 1, IGNORED], [1, IGNORED, IGNORED]])
    assert decoder_inputs(labels, 9, 0).tolist() == [[9, 4, 5], [9, 6, 1], [9, 1, 0]]
