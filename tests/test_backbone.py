"""Checkpoints: from scratch, from a pretrained folder, and what goes wrong."""

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

import seq2seq_tiny
from todflow.errors import TodflowError
from todflow.seq2seq import backbone, batches
from todflow.seq2seq.sequences import MARKERS, PREFIX, labels, target_text, turns
from todflow.seq2seq.tokenizer import decode, encode_inputs, encode_targets, token_id

CPU = torch.device("cpu")
ROWS = turns(seq2seq_tiny.corpus())


@pytest.fixture(scope="module")
def scratch():
    model, tokenizer = backbone.build(seq2seq_tiny.backbone(), ROWS, 1)
    model.config.todflow = {"acts": True, "max_source": 64, "max_target": 40}
    return model, tokenizer


@pytest.fixture(scope="module")
def flan(tmp_path_factory):
    """Like flan-t5-base's folder, small and random: untied, gated, unigram pieces without `<`."""
    folder = tmp_path_factory.mktemp("flan")
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -2.0)]
    pieces += [(character, -3.0) for character in "abcdefghijklmnopqrstuvwxyz,.?[]_:"]
    pieces += [(f"\u2581{word}", -1.0) for word in ("i", "want", "address", "is", "it")]
    pieces += [(f"<extra_id_{number}>", 0.0) for number in reversed(range(10))]
    T5Tokenizer(pieces, extra_ids=10).save_pretrained(folder)
    config = T5Config(
        vocab_size=len(pieces) + 3,  # flan-t5 has 28 rows more than its tokenizer, too
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )
    torch.manual_seed(0)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def _pretrained(folder, rows=ROWS):
    settings = {"kind": "pretrained", "name": str(folder), "dropout": 0.2}
    model, tokenizer = backbone.build(settings, rows, 1)
    model.config.todflow = {}
    return model, tokenizer


def test_scratch_is_small_and_tied(scratch):
    model, tokenizer = scratch
    assert model.get_input_embeddings().weight is model.lm_head.weight
    assert model.config.vocab_size == len(tokenizer) <= 300


def test_same_seed_same_weights(scratch):
    again, _ = backbone.build(seq2seq_tiny.backbone(), ROWS, 1)
    other, _ = backbone.build(seq2seq_tiny.backbone(), ROWS, 2)
    weight = scratch[0].shared.weight
    assert torch.equal(weight, again.shared.weight)
    assert not torch.equal(weight, other.shared.weight)


def test_scratch_begins_by_copying():
    """Cross-attention hands on what it sees; some heads see their neighbours."""
    model, _ = backbone.build(seq2seq_tiny.backbone(heads=4, d_kv=8), ROWS, 1)
    attention = model.decoder.block[0].layer[1].EncDecAttention
    identity = attention.o.weight @ attention.v.weight
    assert torch.allclose(identity, torch.eye(32), atol=1e-5)
    attention = model.encoder.block[0].layer[0].SelfAttention
    bias = attention.compute_bias(9, 9)[0]
    assert [int(bias[head, 4].argmax()) for head in range(3)] == [3, 5, 2]
    bias = model.decoder.block[0].layer[0].SelfAttention.compute_bias(9, 9)[0]
    assert [int(bias[head, 4, :5].argmax()) for head in range(2)] == [3, 2]


def test_checkpoint_folder(scratch, tmp_path):
    model, tokenizer = scratch
    backbone.save(model, tokenizer, tmp_path / "sft")
    assert sorted(path.name for path in (tmp_path / "sft").iterdir()) == sorted(backbone.FILES)
    loaded, loaded_tokenizer = backbone.load(tmp_path / "sft", CPU)
    assert loaded.config.todflow == model.config.todflow
    texts = [target_text(row.gold, True) for row in ROWS]
    ids = encode_targets(tokenizer, texts, 40)
    assert encode_targets(loaded_tokenizer, texts, 40) == ids
    assert [decode(loaded_tokenizer, row) for row in ids] == texts
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, loaded.state_dict()[name])


def test_any_tool_can_load_it(scratch, tmp_path):
    backbone.save(*scratch, tmp_path)
    assert AutoModelForSeq2SeqLM.from_pretrained(tmp_path).config.model_type == "t5"
    assert AutoTokenizer.from_pretrained(tmp_path).eos_token == "</s>"


def test_padding_does_not_change_logits(scratch):
    model, tokenizer = scratch
    model.eval()
    rows = encode_inputs(tokenizer, ["<sos_u> i want thai . <eos_u>", "<sos_u> i <eos_u>"], 64)
    start = torch.zeros((1, 1), dtype=torch.long)
    alone = model(**batches.sources(rows[1:], 0, CPU), decoder_input_ids=start).logits
    padded = batches.sources(rows, 0, CPU)
    together = model(**padded, decoder_input_ids=start.repeat(2, 1)).logits[1:]
    padded["input_ids"][padded["attention_mask"] == 0] = 7
    changed = model(**padded, decoder_input_ids=start.repeat(2, 1)).logits[1:]
    assert torch.allclose(alone, together, atol=1e-5)
    assert torch.equal(changed, together)


def test_pretrained_gets_markers_and_labels(flan):
    model, tokenizer = _pretrained(flan)
    words = [*MARKERS, *labels(ROWS)]
    ids = [token_id(tokenizer, word) for word in words]
    assert len(set(ids)) == len(words)
    assert max(ids) < model.get_input_embeddings().num_embeddings == model.lm_head.out_features
    assert model.config.dropout_rate == 0.2
    old = AutoModelForSeq2SeqLM.from_pretrained(flan)
    kept = len(AutoTokenizer.from_pretrained(flan))
    assert torch.equal(model.shared.weight[:kept], old.shared.weight[:kept])
    assert torch.equal(model.lm_head.weight[:kept], old.lm_head.weight[:kept])
    assert torch.equal(model.lm_head.weight[ids[0]], model.lm_head.weight[ids[-1]])


def test_pretrained_round_trip(flan, tmp_path):
    model, tokenizer = _pretrained(flan)
    backbone.save(model, tokenizer, tmp_path)
    _, loaded = backbone.load(tmp_path, CPU)
    for row in ROWS:
        text = target_text(row.gold, True)
        (ids,) = encode_targets(loaded, [text], 100)
        assert loaded.unk_token_id not in ids
        assert decode(loaded, ids) == text
    (ids,) = encode_inputs(loaded, ["<sos_u> i want <eos_u>"], 200)
    assert decode(loaded, ids) == f"{PREFIX} <sos_u> i want <eos_u>"


def test_pretrained_that_is_absent(tmp_path):
    with pytest.raises(TodflowError, match="can't be loaded.*path of a folder"):
        _pretrained(tmp_path / "nothing")


def test_unknown_kind():
    with pytest.raises(TodflowError, match="scratch or pretrained"):
        backbone.build({"kind": "rnn"}, ROWS, 1)


def test_incomplete_folder(scratch, tmp_path):
    backbone.save(*scratch, tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(TodflowError, match="no tokenizer.json"):
        backbone.load(tmp_path, CPU)


def test_foreign_folder(flan):
    with pytest.raises(TodflowError, match="no entry todflow"):
        backbone.load(flan, CPU)


def test_devices():
    assert backbone.prepare("cpu", 1) == CPU
    with pytest.raises(TodflowError, match="cpu or cuda"):
        backbone.prepare("tpu", 1)
    if not torch.cuda.is_available():
        with pytest.raises(TodflowError, match="no CUDA device"):
            backbone.prepare("cuda", 1)


def test_one_gpu_is_claimed_for_the_process(monkeypatch):
    claimed = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "pretend")
    monkeypatch.setattr(torch, "use_deterministic_algorithms", lambda *_, **__: None)
    monkeypatch.setattr(backbone.gpu, "claim", claimed.append)
    for name in ("PYTORCH_NVML_BASED_CUDA_CHECK", "CUBLAS_WORKSPACE_CONFIG"):
        monkeypatch.setenv(name, "")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert backbone.prepare("cuda", 1) == torch.device("cuda")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    backbone.prepare("cuda", 1)
    assert claimed == [["0", "1"], ["2", "5"]]
