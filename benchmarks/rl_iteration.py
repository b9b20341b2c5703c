"""Whole NLPO iterations: their cost by phase, and that of 20,000 episodes over model sizes.

    .venv/bin/python benchmarks/rl_iteration.py --model FOLDER --turns TABLE.parquet --dataset incar

Iterations of 64 turns as in the stage's default: sampling under a mask policy that has to run,
rewards, one pass of policy and reference, 5 epochs of updates; one thread, processor time, memory
at its highest. Then the same with random T5s of other shapes, every one in a process of its own;
these would never end a turn, so all of theirs have the mean length of the checkpoint's. A power law
of parameters through the measured costs gives those of Flan-T5's sizes, far outside of what was
measured: an order of magnitude, no more.
"""

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch
from transformers import T5Config, T5ForConditionalGeneration

from todflow.corpora.turns import read_turns
from todflow.nlpo import experience
from todflow.nlpo.experience import Collector, always_allowed, prompts
from todflow.nlpo.policy import Masker, Policy
from todflow.nlpo.update import Settings, Updater
from todflow.reward import sets
from todflow.reward.incremental import Reader
from todflow.seq2seq import backbone

RL = {
    "top_k": 50, "top_p": 0.9, "min_tokens_to_keep": 1, "rollout_turns": 64, "minibatch_turns": 8,
    "reward": "tod", "step": "delta", "gamma": 1.0, "lam": 0.95, "precision": "fp32",
}  # fmt: skip
REWARD = {
    "alpha": 1.0, "beta": 1.0, "informables": "cumulative", "requestables": "ontology",
    "fp_penalty": False,
}  # fmt: skip
SHAPES = {  # d_model, layers, heads, d_ff
    "d128 x 3": (128, 3, 4, 512),
    "d192 x 3": (192, 3, 6, 768),
    "d256 x 4": (256, 4, 8, 1024),
    "d384 x 4": (384, 4, 6, 1536),
}
EXTRAPOLATED = {"Flan-T5 base": 248e6, "Flan-T5 large": 783e6}
EPISODES = 20_000


def measure(args: argparse.Namespace) -> dict:
    """Mean seconds of an iteration by phase, and facts of the model."""
    torch.set_num_threads(1)
    model, tokenizer = backbone.load(args.model, torch.device("cpu"))
    facts, limit = model.config.todflow, model.config.todflow["max_target"]
    if args.shape:
        width, layers, heads, inner = SHAPES[args.shape]
        torch.manual_seed(1)
        shape = dict(
            d_model=width, num_layers=layers, num_heads=heads, d_ff=inner, d_kv=width // heads
        )
        config = dict(
            vocab_size=len(tokenizer), decoder_start_token_id=0, pad_token_id=0, eos_token_id=1
        )
        model, limit = T5ForConditionalGeneration(T5Config(**shape, **config)), args.length
    rows = prompts(read_turns(args.turns), tokenizer, facts, args.dataset, REWARD)
    reader = Reader(tokenizer, sets.schema(args.dataset))
    policy = Policy(model)
    masker, frozen = Masker(policy), args.freeze
    always = always_allowed(tokenizer, facts["acts"])
    rl = RL | {"freeze_encoder": frozen}
    collector = Collector(policy.frozen_copy(), reader, always, rl, REWARD, limit)
    updater = Updater(policy, Settings(5, 8, 1e-6, 1e-3, 1e-6, 0.5, 0.2, 0.5, 0.0, frozen))
    with torch.no_grad():
        masker.policy.model.get_input_embeddings().weight[1] *= 1.0001
    spent: dict[str, float] = {}

    def timed(name: str, function):
        def call(*values, **named):
            start = time.process_time()
            result = function(*values, **named)
            spent[name] = spent.get(name, 0.0) + time.process_time() - start
            return result

        return call

    experience.rollout.rollout = timed("sampling", experience.rollout.rollout)
    experience.judge = timed("judging", experience.judge)
    experience.reward_levels = timed("rewards", experience.reward_levels)
    update = timed("updates", updater.run)
    whole = timed("iteration", lambda chosen, number: iteration(chosen, number))
    lengths = []

    def iteration(chosen, number: int) -> None:
        generator = torch.Generator().manual_seed(number)
        samples, row = collector.collect(policy, masker, chosen, 0.01, generator)
        update(samples, str(number))
        lengths.append(row["length"])

    order = random.Random(1)
    for number in range(args.rounds + 1):
        whole(order.choices(rows, k=64), number)
        if number == 0:  # the first one warms up
            spent.clear()
            lengths.clear()
    return {
        "parameters": model.num_parameters(),
        "length": sum(lengths) / len(lengths),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        **{name: seconds / args.rounds for name, seconds in spent.items()},
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", type=Path, required=True, help="folder of a checkpoint")
    options.add_argument("--turns", type=Path, required=True, help="corpus table")
    options.add_argument("--dataset", default="incar", help="whose turns these are")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--shape", choices=SHAPES, help="(for its own subprocesses)")
    options.add_argument("--length", type=int, help="(the same)")
    options.add_argument("--freeze", action="store_true", help="(the same)")
    args = options.parse_args()
    if args.length:
        print(json.dumps(measure(args)))
        return

    def run(*words: str) -> dict:
        command = [sys.executable, __file__, *sys.argv[1:], *words]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    def line(name: str, found: dict) -> None:
        phases = ", ".join(
            f"{each} {found[each]:.2f} s" for each in ("sampling", "rewards", "judging", "updates")
        )
        print(
            f"{name}: {found['parameters'] / 1e6:.1f} M parameters, "
            f"{64 / found['iteration']:.1f} turns/s ({phases}), {found['length']:.1f} tokens a turn, "
            f"{found['memory']:.0f} MB"
        )

    own = run("--length", "1")
    line("checkpoint", own)
    print(f"rewards / sampling: {own['rewards'] / own['sampling']:.3f}")
    line("checkpoint, frozen encoder", run("--length", "1", "--freeze"))
    length = str(round(own["length"]))
    measured = {name: run("--shape", name, "--length", length) for name in SHAPES}
    for name, found in measured.items():
        line(name, found)
    points = [
        (math.log(each["parameters"]), math.log(each["iteration"] / 64))
        for each in measured.values()
    ]
    middle = [sum(axis) / len(points) for axis in zip(*points)]
    power = sum((x - middle[0]) * (y - middle[1]) for x, y in points) / sum(
        (x - middle[0]) ** 2 for x, _ in points
    )
    print(f"seconds a turn = parameters ^ {power:.2f}; hours of one core for {EPISODES} episodes:")
    print(f"checkpoint: {own['iteration'] / 64 * EPISODES / 3600:.1f}")
    for name, parameters in EXTRAPOLATED.items():
        seconds = math.exp(middle[1] + power * (math.log(parameters) - middle[0]))
        print(f"{name}: {seconds * EPISODES / 3600:.0f} (extrapolated)")


if __name__ == "__main__":
    main()
