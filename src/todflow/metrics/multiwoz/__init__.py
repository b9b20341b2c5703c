"""MultiWOZ evaluators: the standard one, and the per-paper one of the years before it."""
