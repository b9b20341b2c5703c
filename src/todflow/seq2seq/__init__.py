"""Encoder-decoder policies: text sequences, tokenizers, supervised fine-tuning and generation."""

import os

# Before torch is imported anywhere: its threads then sleep while they wait for each other. By default they
# spin, which slows them down by a factor of two and more on a machine with anything else to do
# (benchmarks/busy_threads.py).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
