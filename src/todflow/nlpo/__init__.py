"""NLPO (Ramamurthy et al., 2023): PPO for encoder-decoder policies with a learned top-p mask.

policy and rollout need nothing but a transformers encoder-decoder and lists of token ids.
"""
