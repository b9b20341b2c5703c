"""An epoch of PPO against an epoch of supervised fine-tuning, on the same turns.

    .venv/bin/python benchmarks/ppo_epoch.py --model FOLDER --turns TABLE.parquet

The model samples a turn for each of 64 contexts of a corpus table. In every round all ways go once
over these turns, in the same minibatches of 8, in a new order: forward, backward, clipping, AdamW;
one thread, processor time, nobody has dropout. "sft" learns to write the sampled turns; "ppo" is
todflow's update with the mask's supports, "ppo, no mask" the same with top-k 50 alone, "ppo,
frozen" with a frozen encoder whose states are cached, "ppo + sft" with the supervised part. "naive"
renormalises a masked softmax over the whole vocabulary, for comparison. Claims in docs/nlpo.md: ppo
below 1.2 times sft, frozen below 0.7.
"""

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path

import torch

from todflow.corpora.turns import read_turns
from todflow.nlpo import update
from todflow.nlpo.experience import always_allowed, judge
from todflow.nlpo.policy import Masker, Policy, sequence_logprobs
from todflow.nlpo.rollout import Sampling, rollout
from todflow.nlpo.update import Sample, Settings, Updater, allowed_table, minibatches
from todflow.seq2seq import backbone, train
from todflow.seq2seq.batches import Example
from todflow.seq2seq.sequences import turns

SETTINGS = Settings(1, 8, 1e-6, 1e-3, 0.0, 0.5, 0.2, 0.5, 0.0, False)


def samples(policy: Policy, masker: Masker, examples: list[Example], limit: int, always: list[int]):
    """Sampled turns with made-up advantages, and the encoder's states."""
    sources = [example.source for example in examples]
    sampling = Sampling(50, 0.9, 1, limit, len(sources))
    drawn = rollout(policy, masker, sources, sampling, torch.Generator().manual_seed(1), always)
    result = []
    for number, (episode, example) in enumerate(zip(drawn, examples)):
        credit = torch.linspace(-1, 1, len(episode.tokens))
        tokens, old = torch.tensor(episode.tokens), torch.tensor(episode.logprobs)
        supports = allowed_table(episode.allowed)
        result.append(
            Sample(
                f"{number}/0",
                episode.source,
                tokens,
                supports,
                old,
                credit,
                credit,
                example.target,
                None,
            )
        )
    states = [said.states for said in judge(policy, policy, result, 8, share=True)]
    return result, [sample._replace(states=kept) for sample, kept in zip(result, states)]


def sft(model, data: list[Sample]) -> Callable[[], None]:
    """An epoch of supervised training on the sampled turns."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    lengths = [len(sample.source) + len(sample.tokens) for sample in data]
    turns_ = [Example(sample.source, sample.tokens.tolist()) for sample in data]

    def epoch() -> None:
        for chosen in minibatches(lengths, 8, "1"):
            loss, tokens = train.token_loss(
                model, [turns_[i] for i in chosen], model.config.pad_token_id, "fp32"
            )
            (loss / tokens).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return epoch


def full_softmax(logits, tokens, allowed_ids, allowed_valid):
    """`sequence_logprobs` over a mask as wide as the vocabulary."""
    mask = torch.zeros(logits.shape, dtype=torch.bool)
    mask.scatter_(-1, allowed_ids, allowed_valid)
    mask[..., 0] |= ~allowed_valid.any(-1)
    logprobs = logits.masked_fill(~mask, -1e9).log_softmax(-1)
    return logprobs.gather(-1, tokens[..., None])[..., 0]


def unmasked(sample: Sample, vocabulary: int) -> torch.Tensor:
    """Supports as large as top-k 50 leaves them without a mask; the clock cares for no more."""
    allowed = torch.randint(
        vocabulary, (len(sample.tokens), 50), generator=torch.Generator().manual_seed(1)
    )
    allowed[:, 0] = sample.tokens
    return allowed


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", type=Path, required=True, help="folder of a checkpoint")
    options.add_argument("--turns", type=Path, required=True, help="corpus table")
    options.add_argument("--rounds", type=int, default=5)
    args = options.parse_args()
    torch.set_num_threads(1)

    def load() -> Policy:
        return Policy(backbone.load(args.model, torch.device("cpu"))[0])

    model, tokenizer = backbone.load(args.model, torch.device("cpu"))
    facts, policy = model.config.todflow, Policy(model)
    masker = Masker(policy)
    with torch.no_grad():
        masker.policy.model.get_input_embeddings().weight[tokenizer.eos_token_id] *= 1.0001
    rows = turns(read_turns(args.turns))
    found = train.examples(rows, tokenizer, facts["acts"], facts["max_source"], facts["max_target"])
    chosen = random.Random(1).sample(found, 64)
    always = always_allowed(tokenizer, facts["acts"])
    masked, cached = samples(policy, masker, chosen, facts["max_target"], always)
    free = [sample._replace(allowed=unmasked(sample, len(tokenizer))) for sample in masked]

    def ppo(data: list[Sample], **changes) -> Callable[[], None]:
        updater = Updater(load(), SETTINGS._replace(**changes))
        return lambda: updater.run(data, "1")

    def naive() -> Callable[[], None]:
        epoch = ppo(masked)

        def run() -> None:
            update.sequence_logprobs = full_softmax
            epoch()
            update.sequence_logprobs = sequence_logprobs

        return run

    ways = {
        "sft": sft(load().model, masked),
        "ppo": ppo(masked),
        "ppo, no mask": ppo(free),
        "ppo, frozen": ppo(cached, freeze_encoder=True),
        "ppo + sft": ppo(masked, sft_weight=0.1),
        "ppo, naive": naive(),
    }
    seconds, order = dict.fromkeys(ways, 0.0), random.Random(1)
    for number in range(args.rounds + 1):
        for name in order.sample(list(ways), len(ways)):
            start = time.process_time()
            ways[name]()
            if number:  # the first round warms up
                seconds[name] += time.process_time() - start
    tokens = sum(len(sample.tokens) for sample in masked)
    parameters = policy.model.num_parameters()
    print(f"{len(masked)} turns, {tokens} written tokens; {parameters:,} parameters")
    for name in ways:
        rate = len(masked) * args.rounds / seconds[name]
        print(f"{name}: {rate:.1f} turns/s, {seconds[name] / seconds['sft']:.2f} of sft")


if __name__ == "__main__":
    main()
