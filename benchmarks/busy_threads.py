"""Two torch threads beside another busy process: waiting asleep against waiting in a spin.

    .venv/bin/python benchmarks/busy_threads.py

Measures updates of a small T5, for both ways in turn while one process keeps a core busy, and prints the
ratio. Claim in docs/sft.md: asleep was 2.1 times faster on a machine of two cores.
"""

import os
import subprocess
import sys
import time

BUSY = "while True: pass"
SECONDS = 20.0


def updates() -> int:
    """Updates of a small T5 in SECONDS, after a warm-up."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.set_num_threads(2)
    torch.manual_seed(0)
    shape = dict(d_model=128, d_kv=32, d_ff=512, num_layers=2, num_heads=4, vocab_size=1200)
    model = T5ForConditionalGeneration(T5Config(decoder_start_token_id=0, **shape))
    ids = torch.randint(2, 1200, (12, 60))
    done, start = -3, time.monotonic()
    while time.monotonic() < start + SECONDS:
        model(input_ids=ids, labels=ids).loss.backward()
        done += 1
        if done == 0:
            start = time.monotonic()
    return done


def main() -> None:
    rates = {}
    other = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        for policy in ("passive", "active"):
            environment = {**os.environ, "OMP_WAIT_POLICY": policy}
            done = subprocess.run(
                [sys.executable, __file__, "--measure"], env=environment, check=True, stdout=subprocess.PIPE
            )
            rates[policy] = int(done.stdout) / SECONDS
            print(f"{policy}: {rates[policy]:.2f} updates/s")
    finally:
        other.kill()
    print(f"passive / active: {rates['passive'] / max(rates['active'], 1e-9):.1f}")


if __name__ == "__main__":
    print(updates()) if "--measure" in sys.argv else main()
