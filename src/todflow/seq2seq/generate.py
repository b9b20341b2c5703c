"""Stage: a model's state, act and response for every turn of a split.

With the context `gold` the model sees the corpus' previous turn, with `generated` what itself
made of it, as in use. Predictions have one row per corpus turn, in the same order.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from todflow import stage
from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.files import write_table
from todflow.progress import Progress
from todflow.seq2seq import backbone, batches
from todflow.seq2seq.decode import greedy
from todflow.seq2seq.sequences import Segments, Turn, context_text, parse_target, previous, turns
from todflow.seq2seq.settings import require
from todflow.seq2seq.tokenizer import decode, encode_inputs

SETTINGS = ("context", "max_new_tokens", "batch_size", "device", "threads")

Writer = Callable[[list[str]], list[str]]


def writer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    max_new_tokens: int,
    batch_size: int,
    progress: Progress | None = None,
) -> Writer:
    """A function from contexts (without PREFIX) to decoded texts with markers, greedy, in order.

    `progress` counts contexts over all calls.
    """
    device = next(model.parameters()).device
    done = 0

    def write(contexts: list[str]) -> list[str]:
        nonlocal done
        sources = encode_inputs(tokenizer, contexts, model.config.todflow["max_source"])
        texts = [""] * len(contexts)
        for batch in batches.by_length(sources, batch_size):
            inputs = batches.sources([sources[i] for i in batch], tokenizer.pad_token_id, device)
            for index, ids in zip(batch, greedy(model, **inputs, max_new_tokens=max_new_tokens)):
                texts[index] = decode(tokenizer, ids)
            done += len(batch)
            if progress:
                progress.update(done)
        return texts

    return write


def predict(rows: list[Turn], write: Writer, context: str, acts: bool) -> list[str]:
    """The decoded text of every row, with `context` gold or generated.

    For `generated`, the first turns of all dialogues are written together, then the second turns,
    and so on, since each needs the text of the one before it.
    """
    pairs = list(previous(rows))
    if context == "gold":
        return write(
            [
                context_text(row.user, before and (before.user, before.gold), acts)
                for before, row in pairs
            ]
        )
    if context != "generated":
        raise TodflowError(f"context: {context} is unknown; use gold or generated")
    texts = [""] * len(rows)
    made: dict[str, Segments] = {}
    for number in sorted({row.turn for row in rows}):
        now = [i for i, row in enumerate(rows) if row.turn == number]
        written = write(
            [
                context_text(
                    rows[i].user,
                    (pairs[i][0].user, made[rows[i].dialogue_id]) if pairs[i][0] else None,
                    acts,
                )
                for i in now
            ]
        )
        for i, text in zip(now, written):
            texts[i] = text
            made[rows[i].dialogue_id] = parse_target(text)
    return texts


def predictions(rows: list[Turn], texts: list[str]) -> pd.DataFrame:
    """The predictions table: dialogue_id, turn, state_span, act_span, response, text."""
    segments = [parse_target(text) for text in texts]
    table = pd.DataFrame(
        {
            "dialogue_id": [row.dialogue_id for row in rows],
            "turn": [row.turn for row in rows],
            "state_span": [segment.state for segment in segments],
            "act_span": [segment.act for segment in segments],
            "response": [segment.response for segment in segments],
            "text": texts,
        }
    )
    return table.astype({"turn": "int32"})


def main(args: argparse.Namespace) -> None:
    """Load the model, write all turns, save the table."""
    config = args.config
    require(config, SETTINGS)
    device = backbone.prepare(config["device"], config["threads"])
    rows = turns(read_turns(args.turns))
    model, tokenizer = backbone.load(args.model, device)
    progress = Progress(f"generate {args.out}", len(rows), "turns")
    write = writer(model, tokenizer, config["max_new_tokens"], config["batch_size"], progress)
    texts = predict(rows, write, config["context"], model.config.todflow["acts"])
    progress.close()
    write_table(args.out, predictions(rows, texts))


def _options() -> argparse.ArgumentParser:
    options = stage.parser(__doc__.splitlines()[0])
    options.add_argument("--model", type=Path, required=True, help="folder of the checkpoint")
    options.add_argument("--turns", type=Path, required=True, help="corpus table of the split")
    options.add_argument("--out", type=Path, required=True, help="predictions, parquet")
    return options


if __name__ == "__main__":
    stage.run(_options(), main)
