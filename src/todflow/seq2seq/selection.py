"""What every training stage does to choose among its checkpoints: generate, score, keep a curve."""

import logging
from collections.abc import Mapping

import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from todflow.progress import Progress
from todflow.seq2seq.generate import predict, predictions, writer
from todflow.seq2seq.sequences import Turn
from todflow.seq2seq.validate import Scorer

log = logging.getLogger(__name__)


def first_dialogues(table: pd.DataFrame, count: int | None) -> pd.DataFrame:
    """The rows of the first `count` dialogues; all for None."""
    if count is None:
        return table
    chosen = table["dialogue_id"].drop_duplicates().head(count)
    return table[table["dialogue_id"].isin(chosen)].reset_index(drop=True)


def greedy_scores(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: list[Turn],
    score: Scorer,
    settings: Mapping,
    label: str,
) -> dict[str, float]:
    """The evaluator's scores of the greedy output for `rows`.

    `settings` has max_new_tokens, valid_batch_turns and valid_context; the model is left in
    evaluation mode.
    """
    model.eval()
    progress = Progress(f"{label}, validation", len(rows), "turns")
    limits = settings["max_new_tokens"], settings["valid_batch_turns"]
    write = writer(model, tokenizer, *limits, progress)
    texts = predict(rows, write, settings["valid_context"], model.config.todflow["acts"])
    return score(predictions(rows, texts))


def curve_text(rows: list[dict]) -> str:
    """One row a line as CSV; what a row hasn't is empty."""
    return pd.DataFrame(rows).to_csv(index=False, float_format="%.6g", lineterminator="\n")


def check_precision(precision: str, device: torch.device) -> None:
    """Warn where bf16 only costs time."""
    found = torch.cpu.get_capabilities()
    able = found.get("avx512_bf16") or found.get("amx_bf16")
    if precision == "bf16" and device.type == "cpu" and not able:
        log.warning("precision bf16: this processor has no such instructions; fp32 is faster here")
