"""One line of progress now and then, for people who wait."""

import sys
import time


class Progress:
    """Prints `label: done/total unit, rate, time left` to standard error, at most every `every` seconds.

    Whole lines, not a bar that redraws itself: several stages write to one terminal at a time.
    """

    def __init__(self, label: str, total: int, unit: str, done: int = 0, every: float = 10.0):
        self.label, self.total, self.unit = label, total, unit
        self.first = done
        self.every = every
        self.start = self.last = time.monotonic()

    def update(self, done: int, note: str = "") -> None:
        """Report that `done` of `total` are finished; `note` (a loss, say) is appended."""
        now = time.monotonic()
        if now - self.last < self.every:
            return
        self.last = now
        rate = (done - self.first) / (now - self.start)
        left = f", {clock((self.total - done) / rate)} left" if rate > 0 else ""
        self._print(f"{done}/{self.total} {self.unit}, {rate:.1f}/s{left}", note)

    def close(self, note: str = "") -> None:
        """Report the end, with the time that it took."""
        self._print(f"{self.total} {self.unit} in {clock(time.monotonic() - self.start)}", note)

    def _print(self, text: str, note: str) -> None:
        tail = f" ({note})" if note else ""
        # The real standard error: stages redirect the other streams into their log.
        print(f"{self.label}: {text}{tail}", file=sys.__stderr__, flush=True)


def clock(seconds: float) -> str:
    """A duration for people: `42 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
