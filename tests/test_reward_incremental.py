"""Rewards token by token: the same as from the whole text, and what they must not pay for."""

import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

import seq2seq_tiny
from reward_texts import OPTIONS, TURNS, in_car_rows, markers, multiwoz_rows, spoilt, text
from reward_texts import tokenizers
from todflow.errors import TodflowError
from todflow.reward.incremental import Reader, Scorer, levels, score_prefix
from todflow.reward.sets import Wanted, schema, wanted
from todflow.seq2seq.sequences import Segments, has_acts, labels, parse_target, target_text, turns
from todflow.seq2seq.tokenizer import encode_targets, train_tokenizer

STRICT = OPTIONS | {"fp_penalty": True, "requestables": "all_placeholders"}
KINDS = ("bpe", "flan")
READERS = {
    (kind, dataset): Reader(tokenizers()[kind], schema(dataset))
    for kind in KINDS
    for dataset in ("incar", "selfplay", "multiwoz20", "multiwoz21")
}


def ids_of(kind, said):
    return tokenizers()[kind].encode(said)


def agree(tokenizer, reader, sets, options, ids):
    """The scorer's rewards of every prefix are those of its whole text, and within 0 and 1."""
    scorer = Scorer(reader, sets, options)
    for end, index in enumerate(ids, 1):
        got = scorer.feed(index)
        assert got == score_prefix(tokenizer, reader.schema, sets, options, ids[:end])
        assert 0 <= min(got) and max(got) <= 1
    return scorer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [OPTIONS, STRICT])
@pytest.mark.parametrize(("dataset", "domains", "gold"), TURNS)
def test_gold_earns_all(kind, options, dataset, domains, gold):
    sets = wanted(dataset, gold, None, domains, options)
    ids = ids_of(kind, text(dataset, gold))
    agree(tokenizers()[kind], READERS[kind, dataset], sets, options, ids)
    got = levels(READERS[kind, dataset], sets, options, ids)
    assert got.shape == (len(ids), 3) and got.dtype == np.float64
    assert list(got[0]) == [0, 0, 0]
    assert list(got[-1]) == [
        bool(sets.pairs), bool(sets.requests), bool(sets.pairs or sets.requests),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_spoilt_gold_is_scored_as_its_text(kind, data):
    dataset, domains, gold = data.draw(st.sampled_from(TURNS))
    options = data.draw(st.sampled_from([OPTIONS, STRICT]))
    tokenizer = tokenizers()[kind]
    generator = random.Random(data.draw(st.integers(0, 2**32)))
    ids = spoilt(generator, ids_of(kind, text(dataset, gold)), len(tokenizer))
    sets = wanted(dataset, gold, None, domains, options)
    agree(tokenizer, READERS[kind, dataset], sets, options, ids)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_tokens_are_scored_as_their_text(kind, data):
    """Words that are slots or parts of them, brackets, markers and any other token in any order."""
    dataset, domains, gold = data.draw(st.sampled_from(TURNS))
    tokenizer = tokenizers()[kind]
    known = sorted({*ids_of(kind, text(dataset, gold)), *markers(tokenizer)})
    said = st.lists(st.sampled_from(known) | st.integers(0, len(tokenizer) - 1), max_size=25)
    ids = [markers(tokenizer)[data.draw(st.sampled_from([2, 4, 6]))], *data.draw(said)]
    sets = wanted(dataset, gold, None, domains, STRICT)
    agree(tokenizer, READERS[kind, dataset], sets, STRICT, ids)


STATE = "[hotel] area north type guest house"
SETS = wanted("multiwoz20", Segments(STATE), None, ["hotel"], OPTIONS)


def final(said, sets=SETS, kind="bpe", dataset="multiwoz20", options=OPTIONS):
    ids = [index for index in ids_of(kind, said) if index != tokenizers()[kind].eos_token_id]
    return agree(tokenizers()[kind], READERS[kind, dataset], sets, options, ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_counts_once_it_is_closed(kind):
    """Token by token: not while its value is written, then from what closes it on."""
    after = {
        said: final(said, kind=kind).found_pairs
        for said in (
            "<sos_b> [hotel] area north",
            "<sos_b> [hotel] area north east type",
            "<sos_b> [hotel] area north type",
            "<sos_b> [hotel] area north [train]",
            "<sos_b> [hotel] area north <eos_b>",
            "<sos_b> [hotel] area north type guest",
            "<sos_b> [hotel] area north type guest <eos_b>",
            "<sos_b> [hotel] area north type guest house",
            f"<sos_b> {STATE} <eos_b>",
        )
    }
    assert list(after.values()) == [0, 0, 1, 1, 1, 1, 1, 1, 2]


@pytest.mark.parametrize("ending", ["", "<sos_r>", "<sos_b>", "<eos_r>", "<sos_u> hi"])
def test_a_value_that_nothing_closes_does_not_count(ending):
    assert final(f"<sos_b> {STATE} {ending}").found_pairs == 1


def test_a_repeated_slot_overwrites_so_rewards_may_fall():
    scorer = final("<sos_b> [hotel] area north type guest house area south <eos_b>")
    assert (scorer.found_pairs, scorer.n_pairs) == (1, 2)
    assert final("<sos_b> [hotel] area south area north <eos_b>").found_pairs == 1
    assert final("<sos_b> [hotel] area north [train] [hotel] area <eos_b>").n_pairs == 0


def test_saying_a_pair_twice_pays_once():
    once = final("<sos_b> [hotel] area north <eos_b>")
    twice = final("<sos_b> [hotel] area north area north [hotel] area north <eos_b>")
    assert (once.found_pairs, once.n_pairs) == (twice.found_pairs, twice.n_pairs) == (1, 1)


@pytest.mark.parametrize(
    "said",
    [
        STATE,
        f"<eos_b> {STATE} <eos_b>",
        f"<sos_u> {STATE} <eos_u>",
        f"<sos_r> {STATE} <eos_r>",
        f"<sos_a> {STATE} <eos_a>",
        f"<sos_b> <eos_b> {STATE} [train]",
        f"<sos_b> <eos_b> <sos_b> {STATE} <eos_b>",
        f"<sos_b> <sos_r> <sos_b> {STATE} <eos_b> <eos_r>",
    ],
)
def test_a_state_outside_its_segment_earns_nothing(said):
    assert final(said).n_pairs == 0


def test_acts_and_responses_outside_their_segments_earn_nothing():
    gold = Segments("", "[hotel] [inform] area", "it is [value_area]")
    sets = wanted("multiwoz20", gold, None, ["hotel"], OPTIONS)
    assert final("<sos_a> [hotel] [inform] area <eos_a>", sets).found_requests == 1
    assert final("<sos_r> [value_area] <eos_r>", sets).found_requests == 1
    for said in (
        "[hotel] [inform] area it is [value_area]",
        "<sos_r> [hotel] [inform] area <eos_r> [value_area]",
        "<sos_a> area [value_area] <eos_a> area",
        "<sos_b> [hotel] [inform] area [value_area] <eos_b>",
        "<sos_r> <eos_r> <sos_a> <eos_a> <sos_r> [value_area] <sos_a> [hotel] [inform] area",
    ):
        assert final(said, sets).n_requests == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_placeholder_counts_when_its_bracket_closes(kind):
    sets = wanted("multiwoz20", Segments("", "", "[value_car]."), None, ["taxi"], OPTIONS)
    ids = ids_of(kind, "<sos_r> x[value_car]. [value_car]")
    token_by_token = levels(READERS[kind, "multiwoz20"], sets, OPTIONS, ids)[:, 1]
    pieces = tokenizers()[kind].convert_ids_to_tokens(ids)
    first = next(place for place, piece in enumerate(pieces) if "]" in piece)
    assert first > 4  # it is not a token of its own
    assert not token_by_token[:first].any() and token_by_token[first:].all()


def test_nothing_counts_after_the_end():
    tokenizer = tokenizers()["bpe"]
    ids = ids_of("bpe", f"<sos_b> {STATE}") + ids_of("bpe", "<eos_b>")
    assert levels(READERS["bpe", "multiwoz20"], SETS, OPTIONS, ids)[-1, 0] < 1
    padded = [tokenizer.pad_token_id, *ids_of("bpe", f"<sos_b> {STATE} <eos_b>"), 0, 0]
    assert levels(READERS["bpe", "multiwoz20"], SETS, OPTIONS, padded)[-1, 0] == 1


def test_people_before_s_is_a_name():
    state = "[attraction] name people 's portraits area west"
    sets = wanted("multiwoz20", Segments(state), None, [], OPTIONS)
    assert ("attraction", "name", "people 's portraits") in sets.pairs
    for kind in KINDS:
        assert final(f"<sos_b> {state} <eos_b>", sets, kind).found_pairs == 2


def test_words_that_come_in_pieces_are_read_whole():
    """What a piece seemed to be is taken back: here a slot's name, and "'s" after "people"."""
    flan = tokenizers()["flan"]
    assert flan.convert_ids_to_tokens(ids_of("flan", "areas"))[:2] == ["\u2581area", "s"]
    said = "<sos_b> [hotel] area north stars 4 areas type guest house <eos_b>"
    scorer = final(said, kind="flan")
    assert (scorer.found_pairs, scorer.n_pairs) == (2, 3)
    state = "[attraction] name the people 'sx area west"
    sets = wanted("multiwoz20", Segments(state), None, [], OPTIONS)
    assert final(f"<sos_b> {state} <eos_b>", sets, "flan").found_pairs == 2


def test_a_stray_marker_parts_words():
    reader, flan = READERS["flan", "multiwoz20"], tokenizers()["flan"]
    stray = flan.convert_tokens_to_ids("<eos_r>")
    sets = wanted("multiwoz20", Segments("[hotel] area s"), None, [], OPTIONS)
    area, rest = ids_of("flan", "areas")[:2]
    start = ids_of("flan", "<sos_b> [hotel]")[:-1]
    for between, found in (([stray], 1), ([flan.unk_token_id], 1), ([flan.pad_token_id], 0)):
        ids = [*start, area, *between, rest, *ids_of("flan", "[train]")]
        assert agree(flan, reader, sets, OPTIONS, ids).found_pairs == found


def test_listing_everything_is_unpunished_unless_asked():
    said = f"<sos_b> {STATE} stars 4 parking yes <eos_b>"
    for penalty, expected in ((False, 1.0), (True, 0.5)):
        ids = ids_of("bpe", said)
        options = OPTIONS | {"fp_penalty": penalty}
        assert levels(READERS["bpe", "multiwoz20"], SETS, options, ids)[-1, 0] == expected


def test_the_parts_of_the_reward_by_task():
    """Figure 5 leaves out act or response: their elements are apart in the set."""
    dataset, domains, gold = TURNS[0]
    sets = wanted(dataset, gold, None, domains, OPTIONS)
    act = sets._replace(requests=frozenset(one for one in sets.requests if one[0] == "a"))
    said = text(dataset, gold._replace(response=""))
    assert Scorer(READERS["bpe", dataset], act, OPTIONS).feed(0).tod == 0
    assert levels(READERS["bpe", dataset], act, OPTIONS, ids_of("bpe", said))[-1, 2] == 1
    assert levels(READERS["bpe", dataset], sets, OPTIONS, ids_of("bpe", said))[-1, 2] < 1


def test_no_tokens_and_tokens_that_the_tokenizer_has_not():
    reader = READERS["flan", "multiwoz20"]
    assert levels(reader, SETS, OPTIONS, []).shape == (0, 3)
    ids = ids_of("flan", f"<sos_b> {STATE} <eos_b>")
    ids.insert(3, len(tokenizers()["flan"]) + 27)
    assert levels(reader, SETS, OPTIONS, ids)[-1, 0] == 1


def test_a_tokenizer_without_markers_is_refused():
    plain = seq2seq_tiny.corpus()["user"].tolist()
    tokenizer: PreTrainedTokenizerFast = train_tokenizer(plain, [], 200)
    vocabulary = tokenizer.get_vocab()
    assert "\u2581<sos_a>" in vocabulary
    renamed = tokenizer.backend_tokenizer.to_str().replace("\u2581<sos_a>", "\u2581<start>")
    tokenizer._tokenizer = tokenizer.backend_tokenizer.from_str(renamed)
    with pytest.raises(TodflowError, match="<sos_a> or <eos_a> is not one token") as raised:
        Reader(tokenizer, schema("incar"))
    assert "\n" not in str(raised.value)


class _Corpus:
    """Turns of a real split; the tokenizer, unless one is given, has seen half of them."""

    def __init__(self, rows, tokenizer=None):
        table = pd.DataFrame(rows)
        self.dataset, self.turns = rows[0]["dataset"], turns(table)
        seen = self.turns[: len(self.turns) // 2]
        said = [part for turn in seen for part in (turn.user, *turn.gold) if part]
        self.tokenizer = tokenizer or train_tokenizer(said, labels(self.turns), 1500)
        self.reader = Reader(self.tokenizer, schema(self.dataset))
        self.sets = {
            name: [
                wanted(self.dataset, turn.gold, None, domain.split(), options)
                for turn, domain in zip(self.turns, table["domain"], strict=True)
            ]
            for name, options in (("plain", OPTIONS), ("strict", STRICT))
        }
        texts = [target_text(turn.gold, has_acts(self.turns)) for turn in self.turns]
        self.ids = encode_targets(self.tokenizer, texts, 10_000)

    def gold_is_right(self):
        """Gold earns exactly 1 where there is anything to earn, and never falls on the way."""
        for sets, ids in zip(self.sets["plain"], self.ids, strict=True):
            got = levels(self.reader, sets, OPTIONS, ids)
            assert list(got[-1]) == [
                bool(sets.pairs), bool(sets.requests), bool(sets.pairs or sets.requests),
            ]  # fmt: skip
            assert (np.diff(got, axis=0) >= 0).all() and got.max() <= 1

    def every_prefix(self, places):
        for place in places:
            agree(self.tokenizer, self.reader, self.sets["plain"][place], OPTIONS, self.ids[place])

    def spoilt(self, count):
        generator = random.Random(4)
        for number in range(count):
            name, options = (("plain", OPTIONS), ("strict", STRICT))[number % 2]
            place = generator.randrange(len(self.ids))
            ids = spoilt(generator, self.ids[place], len(self.tokenizer))
            agree(self.tokenizer, self.reader, self.sets[name][place], options, ids)


@pytest.fixture(scope="module")
def in_car(mirror):
    train = _Corpus(in_car_rows(mirror, "train"))
    others = {
        name: _Corpus(in_car_rows(mirror, name), train.tokenizer) for name in ("valid", "test")
    }
    return {"train": train, **others}


@pytest.fixture(scope="module")
def woz(mirror):
    return _Corpus(multiwoz_rows(mirror))


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_in_car_gold(in_car, split):
    corpus = in_car[split]
    corpus.gold_is_right()
    corpus.every_prefix(range(len(corpus.ids)))


def test_in_car_spoilt(in_car):
    in_car["test"].spoilt(1000)


def test_multiwoz_gold(woz):
    woz.gold_is_right()
    woz.every_prefix(range(0, len(woz.ids), 10))


def test_multiwoz_spoilt(woz):
    woz.spoilt(1000)
