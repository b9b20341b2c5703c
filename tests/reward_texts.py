"""Tokenizers of both kinds, turns of every corpus and spoilt outputs, to try rewards on."""

import random
from functools import cache
from pathlib import Path

from transformers import PreTrainedTokenizerBase, T5Tokenizer

from todflow.corpora.incar import prepare as incar
from todflow.corpora.incar.entities import entity_map
from todflow.corpora.incar.release import read_entities
from todflow.corpora.multiwoz import prepare as multiwoz
from todflow.seq2seq.sequences import LABEL, MARKERS, Segments, target_text
from todflow.seq2seq.tokenizer import add_labels, train_tokenizer

OPTIONS = {
    "alpha": 1.0,
    "beta": 1.0,
    "informables": "cumulative",
    "requestables": "ontology",
    "fp_penalty": False,
}

# Dataset, domains and gold segments of a few turns, with all that is odd in a span.
TURNS = [
    (
        "multiwoz20",
        ["hotel"],
        Segments(
            "[hotel] area north type guest house pricerange do n't care",
            "[hotel] [inform] choice area [request] pricerange",
            "there are [value_choice] in the [value_area] , [value_address]. what price ?",
        ),
    ),
    (
        "multiwoz21",
        ["attraction", "train"],
        Segments(
            "[attraction] name people 's portraits area west [train] people 3 day monday "
            "leave 9:00",
            "[train] [offerbooked] id reference [general] [reqmore]",
            "booked , [value_id] is [value_reference]. anything else ?",
        ),
    ),
    ("multiwoz20", ["general"], Segments("", "[general] [greet] [bye]", "hello , bye .")),
    (
        "selfplay",
        ["restaurant"],
        Segments(
            "[hotel] stay 4 people 8 [restaurant] food thai pricerange cheap",
            "[restaurant] [inform] area name pricerange",
            "how about [value_name] in the [value_area] ? it 's [value_pricerange]",
        ),
    ),
    (
        "incar",
        ["navigate"],
        Segments(
            "[navigate] poi_type gas station distance 3 mile",
            "",
            "[value_poi] is [value_distance] away, at [value_address].",
        ),
    ),
    ("incar", ["weather"], Segments("", "", "it 's [value_temperature] .")),
]


def text(dataset: str, gold: Segments) -> str:
    return target_text(gold, acts=dataset != "incar")


@cache
def tokenizers() -> dict[str, PreTrainedTokenizerBase]:
    """Our own one, with many words in pieces, and one like Flan-T5's, with no `<`."""
    said = [part for _, _, gold in TURNS for part in gold if part]
    found = sorted({label for part in said for label in LABEL.findall(part)})
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -2.0)]
    pieces += [(character, -3.0) for character in "abcdefghijklmnopqrstuvwxyz0123456789,.?:'[]_"]
    words = ("price", "range", "people", "area", "car", "north", "id", "type", "'s", "is", "poi")
    pieces += [(f"\u2581{word}", -1.0) for word in words]
    flan = T5Tokenizer(pieces, extra_ids=2)
    add_labels(flan, found)
    return {"bpe": train_tokenizer(said * 2, found, 230), "flan": flan}


def spoilt(random_: random.Random, ids: list[int], size: int) -> list[int]:
    """The ids with one to six of them dropped, doubled, swapped, moved or drawn from `size`, or a
    few said twice: all that a policy may do wrong, markers not excepted."""
    ids = list(ids)
    for _ in range(random_.randint(1, 6)):
        place, other = random_.randrange(len(ids)), random_.randrange(len(ids))
        kind = random_.randrange(6)
        if kind == 0 and len(ids) > 1:
            del ids[place]
        elif kind == 1:
            ids.insert(place, ids[place])
        elif kind == 2:
            ids[place], ids[other] = ids[other], ids[place]
        elif kind == 3:
            ids.insert(place, random_.randrange(size))
        elif kind == 4:
            ids.insert(place, ids[other])
        else:
            ids[place:place] = ids[place : place + random_.randint(1, 5)]
    return ids


def markers(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    return [tokenizer.encode(marker, add_special_tokens=False)[0] for marker in MARKERS]


@cache
def in_car_rows(mirror: Path, split: str) -> list[dict]:
    archive = mirror / "kvret" / "kvret_dataset_public.zip"
    return incar.split_rows(archive, split, entity_map(read_entities(archive)))


@cache
def multiwoz_rows(mirror: Path) -> list[dict]:
    """The test split of 2.0."""
    return multiwoz.split_rows(mirror / "multiwoz/official-layout/MULTIWOZ2.0.zip", "test")
