"""The one exception that a user is meant to read."""


class TodflowError(Exception):
    """Bad input or a missing resource. The message is one line: what, where, and the remedy."""
