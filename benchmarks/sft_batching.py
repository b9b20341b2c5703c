"""Supervised training by how turns are put into batches.

    .venv/bin/python benchmarks/sft_batching.py --model FOLDER --turns TABLE.parquet

Three ways to put 3,200 turns of a corpus table, a pool, into batches: "budget", todflow's batches of
turns alike in length under a budget of padded tokens; "dynamic", 16 shuffled turns padded to the
longest; "fixed", the same padded to --source and --target tokens. The budget is chosen so that its
batches have 16 turns on average as well. Every round trains on the first 40 batches of each, which
are in random order: forward, backward, clipping, AdamW; one thread, processor time. Claims in
docs/sft.md: budget at least 1.4 times as fast as dynamic, and 3 times as fast as fixed.
"""

import argparse
import random
import resource
import time
from pathlib import Path

import torch

from todflow.corpora.turns import read_turns
from todflow.seq2seq import backbone, train
from todflow.seq2seq.batches import Example, epoch_batches
from todflow.seq2seq.sequences import turns

TURNS, BATCH, TRAINED = 3200, 16, 40


def budget(examples: list[Example], tokens: int) -> list[list[int]]:
    """todflow's batches of an epoch."""
    lengths = [(len(example.source), len(example.target)) for example in examples]
    return epoch_batches(lengths, 4 * BATCH, tokens, 1, 0)


def fitting(examples: list[Example]) -> int:
    """The budget with which an epoch has as many batches as with BATCH turns each, or hardly less."""
    tokens = 500
    while len(budget(examples, tokens)) > len(examples) / BATCH:
        tokens += 20
    return tokens


def padded(examples: list[Example], batch: list[int], fixed: tuple[int, int] | None) -> int:
    """Tokens of a batch, padding included."""
    if fixed:
        return len(batch) * sum(fixed)
    sizes = [(len(examples[i].source), len(examples[i].target)) for i in batch]
    return len(batch) * (max(s for s, _ in sizes) + max(t for _, t in sizes))


def step(model, optimizer, chosen: list[Example], fixed: tuple[int, int] | None) -> None:
    """One update, as the training stage does it; with `fixed`, padding is added to both sides."""
    padding = model.config.pad_token_id
    if fixed:
        source, target = fixed
        ids = torch.full((len(chosen), source), padding)
        mask = torch.zeros_like(ids)
        labels = torch.full((len(chosen), target), train.batches.IGNORED)
        for row, example in enumerate(chosen):
            ids[row, : len(example.source)] = torch.tensor(example.source)
            mask[row, : len(example.source)] = 1
            labels[row, : len(example.target)] = torch.tensor(example.target)
        start = model.config.decoder_start_token_id
        read = train.batches.decoder_inputs(labels, start, padding)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=read).logits
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1),
            labels.flatten(),
            ignore_index=train.batches.IGNORED,
            reduction="sum",
        )
        tokens = sum(len(example.target) for example in chosen)
    else:
        loss, tokens = train.token_loss(model, chosen, padding, "fp32")
    (loss / tokens).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", type=Path, required=True, help="folder of a checkpoint")
    options.add_argument("--turns", type=Path, required=True, help="corpus table")
    options.add_argument("--source", type=int, default=256, help="fixed source length")
    options.add_argument("--target", type=int, default=256, help="fixed target length")
    options.add_argument("--rounds", type=int, default=3)
    args = options.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = backbone.load(args.model, torch.device("cpu"))
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    facts = model.config.todflow
    fixed = args.source, args.target
    rows = turns(read_turns(args.turns))
    found = train.examples(rows, tokenizer, facts["acts"], *fixed)
    generator = random.Random(1)
    examples = generator.sample(found, TURNS)
    order = generator.sample(range(TURNS), TURNS)
    shuffled = [order[start : start + BATCH] for start in range(0, TURNS, BATCH)]
    tokens = fitting(examples)
    ways = {
        "budget": (budget(examples, tokens), None),
        "dynamic": (shuffled, None),
        "fixed": (shuffled, fixed),
    }
    seconds = dict.fromkeys(ways, 0.0)
    for number in range(args.rounds + 1):
        for name in generator.sample(list(ways), len(ways)):
            made, size = ways[name]
            # The first round warms up.
            chosen = made[:TRAINED] if number else made[:3]
            start = time.process_time()
            for batch in chosen:
                step(model, optimizer, [examples[i] for i in batch], size)
            if number:
                seconds[name] += time.process_time() - start
    real = sum(len(example.source) + len(example.target) for example in examples)
    print(
        f"{TURNS} turns, {real / TURNS:.0f} tokens each; {model.num_parameters():,} parameters; "
        f"budget of {tokens} padded tokens, fixed {fixed[0]} + {fixed[1]}"
    )
    rates = {
        name: args.rounds * sum(map(len, made[:TRAINED])) / seconds[name]
        for name, (made, _) in ways.items()
    }
    for name, (made, size) in ways.items():
        total = sum(padded(examples, batch, size) for batch in made)
        print(
            f"{name}: {len(made)} batches, {total / real:.2f} padded for a real token, "
            f"{rates[name]:.1f} turns/s, budget is {rates['budget'] / rates[name]:.2f} times as fast"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
