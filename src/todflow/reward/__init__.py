"""Step rewards of a system turn, token by token (step-reward paper, section 4.2)."""
