"""What a dialogue contributes to the figures: counts that add up over dialogues."""

from dataclasses import dataclass, field

import numpy as np

from todflow.metrics import bleu


@dataclass
class Tally:
    """The counts of one dialogue."""

    match: int = 0
    match_counted: int = 0  # 1 if the dialogue is in the denominator of Match
    requests: tuple[int, int, int] = (0, 0, 0)  # true positives, false positives, false negatives
    bleu: np.ndarray = field(default_factory=lambda: np.zeros(bleu.WIDTH))
    bleu_without_markers: np.ndarray = field(default_factory=lambda: np.zeros(bleu.WIDTH))
    joint_goal_accuracy: int = 0
    turns: int = 0
    acts: tuple[int, int, int] = (0, 0, 0)

    def row(self) -> np.ndarray:
        """All counts in one row of numbers, which `figures` takes apart."""
        return np.concatenate(
            [
                (self.match, self.match_counted, self.joint_goal_accuracy, self.turns),
                self.requests,
                self.acts,
                self.bleu,
                self.bleu_without_markers,
            ]
        )


def overlap(gold: set, predicted: set) -> tuple[int, int, int]:
    """True positives, false positives, false negatives of two sets."""
    return len(gold & predicted), len(predicted - gold), len(gold - predicted)


def f1(hits: np.ndarray) -> np.ndarray:
    """F1 in 0..1 of (..., 3) true positives, false positives, false negatives, LABES' way."""
    hit, extra, missed = (hits[..., column] for column in range(3))
    precision, recall = hit / (hit + extra + 1e-8), hit / (hit + missed + 1e-8)
    return 2 * precision * recall / (precision + recall + 1e-8)


def figures(totals: np.ndarray, epsilon: float = 1e-7) -> dict[str, np.ndarray]:
    """All figures, x100, of summed rows of shape (..., columns); each figure has shape (...).

    Combined = (Match + SuccF1) / 2 + BLEU. `epsilon` is BLEU's. A rate over nothing is 0.
    """
    match, counted, joint, turns = (totals[..., column] for column in range(4))
    result = {
        "match": match / np.maximum(counted, 1),
        "succ_f1": f1(totals[..., 4:7]),
        "bleu": bleu.score(totals[..., 10 : 10 + bleu.WIDTH], epsilon),
        "bleu_without_markers": bleu.score(totals[..., 10 + bleu.WIDTH :], epsilon),
    }
    result["combined"] = (result["match"] + result["succ_f1"]) / 2 + result["bleu"]
    result["joint_goal_accuracy"] = joint / np.maximum(turns, 1)
    result["act_f1"] = f1(totals[..., 7:10])
    return {name: 100 * value for name, value in result.items()}
