"""What a dialogue contributes to MultiWOZ's figures, and the figures of many dialogues.

Both evaluators give one `Outcome` a dialogue. All of it adds up over dialogues, so that a resampled
corpus is a product of two matrices.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from todflow.metrics import bleu
from todflow.metrics.bootstrap import percentiles
from todflow.metrics.tally import f1

RATES = ("inform", "success")
FIGURES = (*RATES, "bleu", "combined", "joint_goal_accuracy", "act_f1")
_HEAD = 8  # columns before BLEU's: dialogues, inform, success, turns, joint, and three of acts
_TAIL = _HEAD + bleu.WIDTH

# Summed counts of shape (..., bleu.WIDTH) -> BLEU in 0..1, shape (...).
Bleu = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Outcome:
    """The verdicts and counts of one dialogue.

    domains: goal domain -> (inform, success), where success needs the whole dialogue's inform.
    bleu: counts as in `todflow.metrics.bleu`, (bleu.WIDTH,). joint: turns whose whole state is
    right; None where no states were predicted. acts: true positives, false positives, false
    negatives over the turns; None where no acts were predicted.
    """

    inform: bool
    success: bool
    domains: dict[str, tuple[bool, bool]]
    bleu: np.ndarray
    turns: int
    joint: int | None = None
    acts: tuple[int, int, int] | None = None


def report(
    outcomes: Mapping[str, Outcome],
    score: Bleu,
    samples: int,
    seed: int,
    decimals: int | None = None,
) -> dict:
    """Figures (x100) of all dialogues, and their 95 % intervals over resampled dialogues.

    Combined = (Inform + Success) / 2 + BLEU. Rates are rounded to `decimals` where it is given, as
    the evaluator in question does, before they enter Combined; intervals are not rounded. A
    domain's rates are over the dialogues that have it in their goal (`n`).

    {inform, success, bleu, combined, joint_goal_accuracy or None, act_f1 or None, per_domain:
    {domain: {inform, success, n}}, ci: {figure: [low, high], per_domain: {domain: {figure: [low,
    high]}}}, n_dialogues, n_turns, samples, seed}. Needs at least one outcome.
    """
    domains, rows = _table(outcomes)
    totals = rows.sum(axis=0)
    known = {
        "joint_goal_accuracy": all(outcome.joint is not None for outcome in outcomes.values()),
        "act_f1": all(outcome.acts is not None for outcome in outcomes.values()),
    }
    point = {
        name: float(value)
        for name, value in _figures(totals, domains, score, decimals).items()
        if known.get(name, True)
    }
    ranges = percentiles(rows, samples, seed, lambda drawn: _figures(drawn, domains, score))
    ci = {name: list(ranges[name]) if name in point else None for name in FIGURES}
    ci["per_domain"] = {
        domain: {rate: list(ranges[f"{domain}.{rate}"]) for rate in RATES} for domain in domains
    }
    return {
        "n_dialogues": len(outcomes),
        "n_turns": int(totals[3]),
        **{name: point.get(name) for name in FIGURES},
        "per_domain": {
            domain: {
                **{rate: point[f"{domain}.{rate}"] for rate in RATES},
                "n": int(totals[_TAIL + 3 * number]),
            }
            for number, domain in enumerate(domains)
        },
        "ci": ci,
        "samples": samples,
        "seed": seed,
    }


def whole(outcomes: Mapping[str, Outcome], score: Bleu) -> dict[str, float]:
    """inform, success, bleu and combined (x100) of all dialogues, as in `report`, not rounded."""
    domains, rows = _table(outcomes)
    figures = _figures(rows.sum(axis=0), domains, score)
    return {name: float(figures[name]) for name in (*RATES, "bleu", "combined")}


def rows(outcomes: Mapping[str, Outcome]) -> np.ndarray:
    """One row of counts a dialogue, which add up: (dialogues, columns)."""
    return _table(outcomes)[1]


def figures(totals: np.ndarray, score: Bleu) -> dict[str, np.ndarray]:
    """The figures (x100, not rounded) of summed `rows` (..., columns), each of shape (...)."""
    return _figures(totals, [], score)


def _table(outcomes: Mapping[str, Outcome]) -> tuple[list[str], np.ndarray]:
    """The domains of all goals, and one row of counts a dialogue."""
    domains = sorted({domain for outcome in outcomes.values() for domain in outcome.domains})
    return domains, np.stack([_row(outcome, domains) for outcome in outcomes.values()])


def _row(outcome: Outcome, domains: list[str]) -> np.ndarray:
    parts = [
        (1, outcome.inform, outcome.success, outcome.turns, outcome.joint or 0),
        outcome.acts or (0, 0, 0),
        outcome.bleu,
    ]
    for domain in domains:
        parts.append((domain in outcome.domains, *outcome.domains.get(domain, (False, False))))
    return np.concatenate(parts, dtype=float)


def _figures(
    totals: np.ndarray, domains: list[str], score: Bleu, decimals: int | None = None
) -> dict[str, np.ndarray]:
    """All figures, x100, of summed rows (..., columns), or of one row with `decimals`; those of a
    domain are called domain.figure."""

    def rate(hits: int, n: int) -> np.ndarray:
        value = 100 * totals[..., hits] / np.maximum(totals[..., n], 1)
        # Not as numpy rounds, which goes by the product with ten: 15.35 is a little less.
        return value if decimals is None else round(float(value), decimals)

    result = {"inform": rate(1, 0), "success": rate(2, 0)}
    result["bleu"] = 100 * score(totals[..., _HEAD:_TAIL])
    result["combined"] = (result["inform"] + result["success"]) / 2 + result["bleu"]
    result["joint_goal_accuracy"] = 100 * totals[..., 4] / np.maximum(totals[..., 3], 1)
    result["act_f1"] = 100 * f1(totals[..., 5:_HEAD])
    for number, domain in enumerate(domains):
        first = _TAIL + 3 * number
        result[f"{domain}.inform"] = rate(first + 1, first)
        result[f"{domain}.success"] = rate(first + 2, first)
    return result
