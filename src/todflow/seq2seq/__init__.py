"""Encoder-decoder policies: text sequences, tokenizers, supervised fine-tuning and generation."""
