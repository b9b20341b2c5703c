"""A small tokenizer of the corpus' own, and what all tokenizers must do here.

A vocabulary of 2,000 to 4,000 pieces instead of 32,000 is what makes a model of ten million
parameters fast: most of its time would go into the output layer.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from tokenizers import processors, trainers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from todflow.seq2seq.sequences import LABEL, MARKERS, PREFIX

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
_ASCII = [chr(code) for code in range(33, 127)]
_SINGLE = re.compile(rf"{LABEL.pattern}|<[se]os_[a-z]>")


def train_tokenizer(texts: Iterable[str], labels: list[str], size: int) -> PreTrainedTokenizerFast:
    """A byte-pair tokenizer of at most `size` tokens, learnt from `texts` (training split only).

    Markers, `labels` (bracketed) and the whole PREFIX are one token each; so is every word that
    the merges reached. The space before a word is part of its token, hence decoding an encoded
    text gives it back exactly, as long as its characters are ASCII or were seen (else `<unk>`).
    """
    words = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always"),
            pre_tokenizers.Split(Regex(rf"▁({_SINGLE.pattern})"), "isolated"),
            # "way." is a word and a stop, "7:30" is not cut, " ." keeps its space.
            pre_tokenizers.Split(Regex(r"(?<=[^▁])[.,!?]"), "isolated"),
        ]
    )
    counts = Counter(
        piece
        for text in texts
        for piece, _ in words.pre_tokenize_str(text)
        if not _SINGLE.fullmatch(piece.removeprefix("▁"))
    )
    fixed = [PAD, END, UNKNOWN]
    single = [f"▁{word}" for word in (*MARKERS, *labels)]
    trainer = trainers.BpeTrainer(
        vocab_size=max(size - len(fixed) - len(single) - 1, len(_ASCII) + 2),
        min_frequency=2,
        initial_alphabet=["▁", *_ASCII],
        show_progress=False,
    )
    # Sorted, and each piece as often as it occurs: equal counts must not depend on hash order.
    learner = Tokenizer(models.BPE())
    learner.train_from_iterator(
        (piece for piece in sorted(counts) for _ in range(counts[piece])), trainer
    )
    learnt = learner.get_vocab()
    merges = _merges(learner)
    order = [*fixed, *single, *sorted(learnt, key=learnt.get)]
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(order))}
    result = Tokenizer(models.BPE(vocabulary, merges, unk_token=UNKNOWN, ignore_merges=True))
    result.pre_tokenizer = words
    result.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    result.add_special_tokens([AddedToken(token, normalized=False) for token in fixed])
    result.add_tokens([AddedToken(PREFIX, normalized=False)])
    result.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, vocabulary[END])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=result,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        clean_up_tokenization_spaces=False,
    )


def _merges(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """The merge rules of a trained byte-pair tokenizer, in order."""
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def add_labels(tokenizer: PreTrainedTokenizerBase, labels: list[str]) -> None:
    """Register markers and `labels` as single tokens of a pretrained tokenizer.

    T5's own vocabulary has no `<`, so an unregistered marker would come back as garbage. They are
    ordinary added tokens: special ones would vanish from decoded text.
    """
    tokenizer.add_tokens(
        [AddedToken(word, lstrip=True, normalized=False) for word in (*MARKERS, *labels)]
    )


def token_id(tokenizer: PreTrainedTokenizerBase, word: str) -> int:
    """The id of a marker or label; ValueError if the tokenizer would cut it into pieces."""
    ids = tokenizer.encode(word, add_special_tokens=False)
    if len(ids) != 1:
        raise ValueError(f"{word} is {len(ids)} tokens")
    return ids[0]


def encode_inputs(
    tokenizer: PreTrainedTokenizerBase, contexts: list[str], limit: int
) -> list[list[int]]:
    """Ids of PREFIX, context, end; a context that is too long for `limit` ids loses its left."""
    head = tokenizer.encode(PREFIX, add_special_tokens=False)
    room = limit - len(head) - 1
    bodies = tokenizer(contexts, add_special_tokens=False)["input_ids"]
    return [[*head, *body[max(len(body) - room, 0) :], tokenizer.eos_token_id] for body in bodies]


def encode_targets(
    tokenizer: PreTrainedTokenizerBase, texts: list[str], limit: int
) -> list[list[int]]:
    """Ids of each text and the end, cut to `limit` ids since no more are ever generated."""
    bodies = tokenizer(texts, add_special_tokens=False)["input_ids"]
    return [[*body, tokenizer.eos_token_id][:limit] for body in bodies]


def decode(tokenizer: PreTrainedTokenizerBase, ids: Iterable[int]) -> str:
    """The text of `ids` up to the first end token, markers kept, padding dropped.

    Added tokens swallow the space before them, which comes back here; the library's own decoding
    would glue them to the word before.
    """
    added = tokenizer.added_tokens_decoder
    text, run = "", []

    def flush() -> None:
        nonlocal text
        if run:
            first = tokenizer.convert_ids_to_tokens(run[0])
            text += (" " if first.startswith("▁") else "") + tokenizer.decode(run).lstrip(" ")
            run.clear()

    for index in ids:
        if index == tokenizer.eos_token_id:
            break
        if index == tokenizer.pad_token_id:
            continue
        if index in added:
            flush()
            text += f" {added[index].content}"
        else:
            run.append(index)
    flush()
    return text.strip(" ")
