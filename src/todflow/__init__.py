"""todflow: a reproducible workflow for research on task-oriented dialogue."""

__version__ = "0.1.0"
