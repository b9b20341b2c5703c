"""Sampling turns for NLPO: todflow's decode loop against transformers' `generate`, and the mask's share.

    .venv/bin/python benchmarks/rollout.py --model FOLDER --turns TABLE.parquet

The model is a fine-tuned checkpoint, the turns those of a corpus table, so lengths are real ones. In
every round all ways get the same batch of turns, in a new order; one thread, processor time, no mask
but for "masked", whose mask policy differs from the policy so that it has to run. Ways draw other
tokens, therefore times are per written token. Claims in docs/nlpo.md: at least 2 times `generate`, and
8 times `generate` without a cache.
"""

import argparse
import random
import time
from pathlib import Path

import torch

from todflow.corpora.turns import read_turns
from todflow.nlpo.policy import Masker, Policy
from todflow.nlpo.rollout import Sampling, rollout
from todflow.seq2seq import backbone, batches
from todflow.seq2seq.sequences import MARKERS, context_text, previous, turns
from todflow.seq2seq.tokenizer import encode_inputs, token_id


def contexts(table: Path, acts: bool) -> list[str]:
    """What the model reads of every turn, with the gold previous turn."""
    return [
        context_text(row.user, before and (before.user, before.gold), acts)
        for before, row in previous(turns(read_turns(table)))
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", type=Path, required=True, help="folder of a checkpoint")
    options.add_argument("--turns", type=Path, required=True, help="corpus table")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--batch", type=int, default=64, help="turns at once")
    args = options.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = backbone.load(args.model, torch.device("cpu"))
    known, end = model.config.todflow, tokenizer.eos_token_id
    policy = Policy(model)
    masker = Masker(policy)
    with torch.no_grad():
        masker.policy.model.get_input_embeddings().weight[end] *= 1.0001
    sampling = Sampling(50, 0.9, 1, known["max_target"], args.batch)
    always = [end, *(token_id(tokenizer, word) for word in MARKERS)]
    texts = contexts(args.turns, known["acts"])

    def own(sources: list[list[int]], with_mask: Masker | None) -> list[list[int]]:
        generator = torch.Generator().manual_seed(1)
        drawn = rollout(policy, with_mask, sources, sampling, generator, always)
        supports.extend(map(len, (ids for each in drawn for ids in each.allowed if with_mask)))
        return [each.tokens for each in drawn]

    def library(sources: list[list[int]], cached: bool) -> list[list[int]]:
        torch.manual_seed(1)
        inputs = batches.sources(sources, tokenizer.pad_token_id, model.device)
        written = model.generate(
            **inputs,
            do_sample=True,
            top_k=sampling.top_k,
            max_new_tokens=sampling.max_new_tokens,
            use_cache=cached,
        )
        rows = written[:, 1:].tolist()
        return [row[: row.index(end) + 1] if end in row else row for row in rows]

    ways = {
        "own": lambda sources: own(sources, None),
        "masked": lambda sources: own(sources, masker),
        "generate": lambda sources: library(sources, True),
        "uncached": lambda sources: library(sources, False),
    }
    supports: list[int] = []
    seconds, lengths = dict.fromkeys(ways, 0.0), {name: [] for name in ways}
    order = random.Random(1)
    for number in range(args.rounds + 1):
        chosen = order.sample(texts, args.batch)
        sources = encode_inputs(tokenizer, chosen, known["max_source"])
        for name in order.sample(list(ways), len(ways)):
            start = time.process_time()
            written = ways[name](sources)
            if number:  # the first round warms up
                seconds[name] += time.process_time() - start
                lengths[name] += map(len, written)
    cost = {name: seconds[name] / sum(lengths[name]) for name in ways}
    for name in ways:
        mean, longest = sum(lengths[name]) / len(lengths[name]), max(lengths[name])
        print(
            f"{name}: {1e6 * cost[name]:.0f} us a token, {len(lengths[name]) / seconds[name]:.1f} "
            f"turns/s, {mean:.1f} tokens a turn, at most {longest}"
        )
    print(f"generate / own: {cost['generate'] / cost['own']:.2f}")
    print(f"uncached / own: {cost['uncached'] / cost['own']:.2f}")
    print(f"share of the mask: {1 - cost['own'] / cost['masked']:.2f}")
    print(f"tokens to choose from under the mask: {sum(supports) / len(supports):.1f}")


if __name__ == "__main__":
    main()
