"""The course of a training run, known before it starts."""

from bisect import bisect_right
from itertools import accumulate

from todflow.seq2seq import batches


class Plan:
    """Which batch and which learning rate belong to which update.

    `config` is the stage's; `lengths` has the source and target length of every training turn.
    """

    def __init__(self, config: dict, lengths: list[tuple[int, int]]):
        self.config, self.lengths = config, lengths
        self.sizes = [len(self._batches(epoch)) for epoch in range(config["epochs"])]
        self.starts = [0, *accumulate(self.sizes)]
        self.total = self.starts[-1]
        self._cached: tuple[int, list[list[int]]] = (-1, [])

    def _batches(self, epoch: int) -> list[list[int]]:
        config = self.config
        return batches.epoch_batches(
            self.lengths, config["batch_turns"], config["batch_tokens"], config["seed"], epoch
        )

    def batch(self, step: int) -> list[int]:
        """Indices of the examples of update `step` (0-based)."""
        epoch = bisect_right(self.starts, step) - 1
        if self._cached[0] != epoch:
            self._cached = (epoch, self._batches(epoch))
        return self._cached[1][step - self.starts[epoch]]

    def evaluated_epoch(self, step: int) -> int | None:
        """The number of finished epochs if an evaluation is due after `step` updates."""
        if step == 0 or step not in self.starts:
            return None
        epoch = self.starts.index(step)
        first, every = self.config["evaluate_from"], self.config["evaluate_every"]
        due = epoch >= first and (epoch - first) % every == 0
        return epoch if due or step == self.total else None

    def rate(self, step: int) -> float:
        """The learning rate of update `step`: linear warm-up, then constant or linear to zero."""
        config = self.config
        warm = config["warmup_steps"]
        if step < warm:
            return config["learning_rate"] * (step + 1) / warm
        if config["schedule"] == "constant":
            return config["learning_rate"]
        return config["learning_rate"] * (self.total - step) / max(self.total - warm, 1)
