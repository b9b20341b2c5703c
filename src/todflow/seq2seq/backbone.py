"""Models: a small T5 trained from scratch, or a pretrained encoder-decoder, both as checkpoints.

A checkpoint is an ordinary transformers folder of five named files, so that any other tool can
load it. What todflow has to know besides (does the corpus have acts, how long may texts be) is
the entry `todflow` of its config.json.
"""

import logging
import os
import shutil
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedModel
from transformers import PreTrainedTokenizerBase, T5Config, T5ForConditionalGeneration
from transformers.utils import logging as transformers_logging

from todflow import gpu
from todflow.errors import TodflowError
from todflow.seq2seq import sequences
from todflow.seq2seq.sequences import Turn
from todflow.seq2seq.tokenizer import add_labels, train_tokenizer

FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
)

# Added to a score: enough to outweigh a sentence of other tokens together (e^6 = 403).
_NEIGHBOUR = 6.0

transformers_logging.disable_progress_bar()
log = logging.getLogger(__name__)


def prepare(device: str, threads: int) -> torch.device:
    """Fix what could change results between machines' settings, and check the device.

    The number of `threads` changes how sums are split, hence their last bits: it comes from the
    config and not from the number of cores that a workflow was given. TodflowError if CUDA is asked
    for and absent: training on a CPU instead would take weeks without a word.
    """
    torch.set_num_threads(threads)
    if device == "cuda":
        # Look through NVML: CUDA itself would fix the visible devices before one is claimed.
        os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
        if not torch.cuda.is_available():
            raise TodflowError("device: cuda, but torch sees no CUDA device; set device: cpu")
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        gpu.claim(visible.split(",") if visible else list(map(str, range(torch.cuda.device_count()))))
        log.info("device: %s", torch.cuda.get_device_name())
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
    elif device != "cpu":
        raise TodflowError(f"device: {device} is unknown; use cpu or cuda")
    return torch.device(device)


def build(
    backbone: dict, rows: list[Turn], seed: int
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A fresh model and its tokenizer for the words and labels of `rows`.

    `backbone` is {"kind": "scratch", "vocabulary", "d_model", "layers", "heads", "d_kv", "d_ff",
    "dropout"} (T5 with its own tokenizer, `layers` in the encoder and in the decoder, tied
    embeddings) or {"kind": "pretrained", "name": hub name or folder, "dropout"} (the checkpoint's
    weights and tokenizer; markers and labels are added, with the mean of all rows as embedding).
    """
    torch.manual_seed(seed)
    found = sequences.labels(rows)
    if backbone["kind"] == "scratch":
        model, tokenizer = _scratch(backbone, rows, found)
    elif backbone["kind"] == "pretrained":
        model, tokenizer = _pretrained(backbone, found)
    else:
        raise TodflowError(f"backbone kind {backbone['kind']} is unknown; scratch or pretrained")
    return model, tokenizer


def _scratch(
    backbone: dict, rows: list[Turn], found: list[str]
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    texts = [text for row in rows for text in (row.user, *row.gold) if text]
    tokenizer = train_tokenizer(texts, found, backbone["vocabulary"])
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=backbone["d_model"],
        d_kv=backbone["d_kv"],
        d_ff=backbone["d_ff"],
        num_layers=backbone["layers"],
        num_decoder_layers=backbone["layers"],
        num_heads=backbone["heads"],
        dropout_rate=backbone["dropout"],
        feed_forward_proj="relu",
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    model = T5ForConditionalGeneration(config)
    _ready_to_copy(model)
    return model, tokenizer


@torch.no_grad()
def _ready_to_copy(model: T5ForConditionalGeneration) -> None:
    """Start a model where copying from its input is easy.

    Most of a belief state is copied from the previous one, which takes two abilities that gradients
    find late: knowing a word's neighbour ("the word after `area`") and passing on the word that one
    looks at. So a few heads begin by attending to the neighbours, through T5's relative positions,
    and cross-attention begins by handing on what it sees (output = transposed values), which tied
    embeddings turn into the same word. All of it stays trainable.
    """
    # Buckets of relative positions: 1 is the token before, 2 the one before that; in the encoder,
    # which also looks ahead, the second half of the buckets is for the tokens after.
    after = model.config.relative_attention_num_buckets // 2 + 1
    for stack, buckets in ((model.encoder, (1, after, 2)), (model.decoder, (1, 2))):
        bias = stack.block[0].layer[0].SelfAttention.relative_attention_bias.weight
        for head, bucket in zip(range(model.config.num_heads), buckets):
            bias[bucket, head] += _NEIGHBOUR
    for block in model.decoder.block:
        attention = block.layer[1].EncDecAttention
        torch.nn.init.orthogonal_(attention.v.weight)
        attention.o.weight.copy_(attention.v.weight.T)


def _pretrained(
    backbone: dict, found: list[str]
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    name = backbone["name"]
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForSeq2SeqLM.from_pretrained(
            name, dtype=torch.float32, dropout_rate=backbone["dropout"]
        )
    except (OSError, ValueError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise TodflowError(
            f"backbone {name} can't be loaded ({first}); give a hub name that this machine can "
            "download, or the path of a folder with config.json, weights and tokenizer.json"
        ) from error
    add_labels(tokenizer, found)
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    _mean_rows(model, [tokenizer.convert_tokens_to_ids(w) for w in (*sequences.MARKERS, *found)])
    return model, tokenizer


@torch.no_grad()
def _mean_rows(model: PreTrainedModel, ids: list[int]) -> None:
    """Start the new tokens at the mean embedding: a plain choice without random draws."""
    layers = model.get_input_embeddings(), model.get_output_embeddings()
    tables = {id(layer.weight): layer.weight for layer in layers}
    for weight in tables.values():
        old = torch.ones(len(weight), dtype=torch.bool)
        old[ids] = False
        weight[ids] = weight[old].mean(0)


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write the checkpoint FILES into `folder`, each atomically, the weights last."""
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob(".partial-*"):  # of a run that was killed right here
        shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as temporary:
        model.save_pretrained(temporary, max_shard_size="100GB")
        tokenizer.save_pretrained(temporary)
        for name in FILES:
            Path(temporary, name).chmod(0o644)  # the weights come readable for their owner alone
            os.replace(Path(temporary, name), folder / name)


def load(folder: Path, device: torch.device) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A checkpoint's model, in evaluation mode on `device`, and its tokenizer."""
    for name in FILES:
        if not Path(folder, name).is_file():
            raise TodflowError(f"{folder}: no {name}; it is no checkpoint that todflow wrote")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32)
    if not isinstance(getattr(model.config, "todflow", None), dict):
        raise TodflowError(f"{folder}/config.json: no entry todflow; fine-tune the model first")
    return model.to(device).eval(), tokenizer
