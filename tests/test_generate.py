"""Greedy decoding equals the library's; generated context equals a loop over single turns."""

import pytest
import torch

import seq2seq_tiny
from todflow.errors import TodflowError
from todflow.progress import Progress
from todflow.seq2seq import backbone, batches
from todflow.seq2seq.decode import greedy
from todflow.seq2seq.generate import predict, predictions, writer
from todflow.seq2seq.sequences import Segments, context_text, parse_target, target_text, turns
from todflow.seq2seq.tokenizer import encode_inputs, token_id

QUIET = Progress("test", 40, "turns", every=1000)
CPU = torch.device("cpu")
TABLE = seq2seq_tiny.corpus()
ROWS = turns(TABLE)


@pytest.fixture(scope="module")
def restless():
    """An untrained model whose rows end at many different steps; a marker is its end token."""
    model, tokenizer = backbone.build(seq2seq_tiny.backbone(layers=2), ROWS, 1)
    model.config.todflow = {"acts": True, "max_source": 64, "max_target": 24}
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
    model.config.eos_token_id = token_id(tokenizer, "<eos_b>")
    return model.eval(), tokenizer


def _texts():
    words = [word for row in ROWS for word in row.user.split()]
    return [" ".join(words[i : i + 2 + i % 9]) for i in range(40)]


def test_greedy_equals_the_library(restless):
    model, tokenizer = restless
    rows = encode_inputs(tokenizer, _texts(), 64)
    inputs = batches.sources(rows, tokenizer.pad_token_id, CPU)
    ours = greedy(model, **inputs, max_new_tokens=24)
    theirs = model.generate(
        **inputs,
        max_new_tokens=24,
        do_sample=False,
        num_beams=1,
        eos_token_id=model.config.eos_token_id,
    )[:, 1:]
    for mine, row in zip(ours, theirs.tolist()):
        assert row[: len(mine)] == mine
        assert set(row[len(mine) :]) <= {tokenizer.pad_token_id}
    # Otherwise compaction would not have been tried.
    assert len({len(row) for row in ours}) > 4


def test_batching_does_not_change_texts(restless):
    contexts = [f"<sos_u> {text} <eos_u>" for text in _texts()]
    together = writer(*restless, 24, 40, QUIET)(contexts)
    assert together == writer(*restless, 24, 1, QUIET)(contexts)
    assert together == writer(*restless, 24, 7, QUIET)(contexts)


def test_generated_context_equals_a_loop(restless):
    write = writer(*restless, 24, 16, QUIET)
    texts = predict(ROWS, write, "generated", acts=True)
    before = None
    for row, text in zip(ROWS, texts):
        if row.turn == 0:
            before = None
        assert write([context_text(row.user, before, True)]) == [text]
        before = row.user, parse_target(text)


def test_gold_context(restless):
    seen = []

    def write(contexts):
        seen.extend(contexts)
        return [""] * len(contexts)

    predict(ROWS, write, "gold", acts=True)
    assert seen[1] == context_text(ROWS[1].user, (ROWS[0].user, ROWS[0].gold), True)
    assert seen[2] == context_text(ROWS[2].user, None, True)
    with pytest.raises(TodflowError, match="gold or generated"):
        predict(ROWS, write, "none", acts=True)


def test_predictions_table():
    texts = [target_text(row.gold, True) for row in ROWS]
    table = predictions(ROWS, texts)
    assert list(table["state_span"]) == list(TABLE["state_span"])
    assert list(table["response"]) == list(TABLE["response_delex"])
    assert list(table["act_span"]) == list(TABLE["act_span"])
    assert table["turn"].dtype == "int32"
    broken = predictions(ROWS[:1], ["<sos_b> [navigate"])
    assert Segments(*broken.loc[0, ["state_span", "act_span", "response"]]) == Segments("[navigate")
