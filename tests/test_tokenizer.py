"""The corpus' own tokenizer, and what is asked of every tokenizer."""

import pytest
from transformers import AutoTokenizer

from todflow.seq2seq.sequences import MARKERS, PREFIX
from todflow.seq2seq.tokenizer import decode, encode_inputs, encode_targets, token_id
from todflow.seq2seq.tokenizer import train_tokenizer

TEXTS = [
    "[navigate] poi_type gas station",
    "the nearest one is [value_poi] , [value_distance] away. set the gps !",
    "it is at 7:30 pm . anything else ?",
    "don 't worry , it 's 2 mile away.",
] * 5
LABELS = ["[navigate]", "[value_distance]", "[value_poi]"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    train_tokenizer(TEXTS, LABELS, 400).save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS[:4],
        "<sos_b> [navigate] poi_type gas station <eos_b> <sos_r> [value_poi] . <eos_r>",
        "never seen words , zq#x . and so on...",
        "[value_poi]. 12[value_poi] [value_poi][value_poi] [value_unknown]",
        "two  spaces",
        f"{PREFIX} <sos_u> hi <eos_u>",
        "",
    ],
)
def test_round_trip_is_exact(tokenizer, text):
    ids = tokenizer.encode(text)
    assert ids[-1] == tokenizer.eos_token_id
    assert decode(tokenizer, ids) == text


@pytest.mark.parametrize("word", [*MARKERS, *LABELS])
def test_markers_and_labels_are_single_tokens(tokenizer, word):
    index = token_id(tokenizer, word)
    text = f"poi_type {word} {word} mile"
    assert tokenizer.encode(text).count(index) == 2


def test_words_in_pieces_are_refused(tokenizer):
    with pytest.raises(ValueError, match="tokens"):
        token_id(tokenizer, "[unknown]")


def test_unseen_characters_are_unknown(tokenizer):
    assert tokenizer.unk_token_id in tokenizer.encode("caf\u00e9")


def test_size_and_determinism():
    first, second = (train_tokenizer(TEXTS, LABELS, 150) for _ in range(2))
    assert len(first) <= 150
    shuffled = train_tokenizer(TEXTS[::-1], LABELS, 150)
    assert first.get_vocab() == second.get_vocab() == shuffled.get_vocab()


def test_inputs_lose_their_left(tokenizer):
    full = encode_inputs(tokenizer, ["gas station " * 20], 512)[0]
    cut = encode_inputs(tokenizer, ["gas station " * 20], 10)[0]
    assert len(cut) == 10
    assert cut[0] == full[0] and decode(tokenizer, cut[:1]) == PREFIX
    assert cut[1:] == full[-9:]


def test_targets_lose_their_right(tokenizer):
    full = encode_targets(tokenizer, ["gas station"], 40)[0]
    assert full[-1] == tokenizer.eos_token_id
    assert encode_targets(tokenizer, ["gas station"], 2)[0] == full[:2]


def test_decoding_stops_at_the_end(tokenizer):
    ids = tokenizer.encode("gas station")
    assert decode(tokenizer, [tokenizer.pad_token_id, *ids, *ids]) == "gas station"
