"""The curve file of one RL run, and which iteration was kept."""

from pathlib import Path

import pandas as pd

from todflow.errors import TodflowError

COLUMNS = (
    "iteration episodes reward_u reward_g reward_tod kl kl_k3 kl_coef entropy value_loss clip_share"
    " length pairs requests bleu combined"
).split()


def read_curve(path: str | Path) -> pd.DataFrame:
    """The curve file of an RL run; cells without a value are NaN. Raises TodflowError."""
    table = pd.read_csv(path)
    problem = next((f"no column '{name}'" for name in COLUMNS if name not in table.columns), "")
    if not problem and not len(table):
        problem = "no line"
    for name in table.columns:
        if not problem and not pd.api.types.is_numeric_dtype(table[name]):
            problem = f"column '{name}' holds a word"
    if problem:
        raise TodflowError(f"{path}: {problem}; delete the file and train again")
    return table


def chosen(curve: pd.DataFrame) -> int:
    """The iteration whose weights were kept: the first with the best validation Combined.

    0 is the SFT model itself.
    """
    best = curve["combined"].dropna()
    return int(curve["iteration"][best.idxmax()]) if len(best) else 0
