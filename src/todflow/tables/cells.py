"""Parts of rows that all kinds of measurements share."""

from todflow.tables.measurements import Figure, Score


def empty(paper: str, system: str, dataset: str, metric: str, note: str) -> dict:
    """A cell of ours that wasn't measured; `note` says why."""
    row = {"paper": paper, "system": system, "dataset": dataset, "metric": metric}
    return row | {"status": "not_run", "note": note}


def measured(figure: Figure, status: str, scale: str) -> dict:
    """A figure with its interval, rounded."""
    return {
        "reproduced": two_decimals(figure.value),
        "ci_low": two_decimals(figure.low),
        "ci_high": two_decimals(figure.high),
        "n": str(figure.n),
        "status": status,
        "scale": scale,
    }


def setting(score: Score) -> dict:
    """Which evaluator a score is of, how it was set, and how many dialogues it was given."""
    return {
        "evaluator": score.evaluator,
        "vintage": score.vintage,
        "state": score.state,
        "dialogues": score.dialogues,
    }


def two_decimals(value: float | None) -> str:
    """The value as tables print it; "" if there is none."""
    return "" if value is None else f"{value:.2f}"


def join(notes: list[str]) -> str:
    """The notes as one text."""
    return " ".join(note for note in notes if note)
