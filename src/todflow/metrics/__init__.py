"""Metrics on (gold turns, predicted turns), as pure functions."""
