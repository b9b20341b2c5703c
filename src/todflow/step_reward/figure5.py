"""Figure 5: the rewards after every token of a real turn that an RL model wrote.

One turn of the test split is shown three times: state and act (DST+DPL), state and response (DST+RG),
all of it; what is wanted is what the shown segments can give. The tokens are those of the written text.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.reward.incremental import Reader, levels
from todflow.reward.sets import Wanted, check, schema, wanted
from todflow.seq2seq.sequences import ACT, RESPONSE, has_acts, previous, turns
from todflow.seq2seq.tokenizer import token_id
from todflow.tables.places import place_of

COLUMNS = (
    "panel",
    "position",
    "token",
    "reward_u",
    "reward_g",
    "reward_tod",
    "dataset",
    "backbone",
    "seed",
    "stage",
    "dialogue_id",
    "turn",
    "pairs_wanted",
    "requests_wanted",
    "note",
)
LONGEST = 80  # tokens; a longer turn can't be read on an axis
# What a panel shows, by the segment that it leaves out, and the part of the wanted slots that is left.
PANELS = {"DST+DPL": (RESPONSE, "a"), "DST+RG": (ACT, "r"), "DST+DPL+RG": (None, "ar")}
NO_ACTS = "This corpus has no dialogue acts, so there is no DPL part."


class Shown(NamedTuple):
    """The chosen turn: where it is, its ids, and what it was to say."""

    dialogue: str
    turn: int
    ids: list[int]
    sets: Wanted


def choose(
    table: pd.DataFrame,
    texts: Iterable[str],
    dataset: str,
    tokenizer: PreTrainedTokenizerBase,
    reader: Reader,
    options: Mapping,
) -> Shown | None:
    """The first test turn, in order, with the most wanted elements, of those that found them all.

    Every part that the corpus has (pairs, slots of the act, of the response) must be wanted. If no
    turn found all, the one that found most, by its final R_tod. None without any turn of at most
    LONGEST tokens.
    """
    rows = turns(table)
    acts = has_acts(rows)
    best, chosen = None, None
    domains = table["domain"].str.split()
    for (before, row), about, text in zip(previous(rows), domains, texts, strict=True):
        sets = wanted(dataset, row.gold, before and before.gold, about, options)
        parts = {part for part, _ in sets.requests}
        if not sets.pairs or parts != ({"a", "r"} if acts else {"r"}):
            continue
        ids = tokenizer.encode(text, add_special_tokens=False)
        if not 0 < len(ids) <= LONGEST:
            continue
        final = float(levels(reader, sets, options, ids)[-1, 2])
        whole = final >= 1 - 1e-9
        rank = (whole, len(sets.pairs) + len(sets.requests) if whole else final)
        if best is None or rank > best:
            best, chosen = rank, Shown(row.dialogue_id, row.turn, ids, sets)
    return chosen


def without(ids: list[int], segment: tuple[str, str] | None, tokenizer) -> list[int]:
    """The ids without a segment, its markers included, as far as it is there."""
    if segment is None:
        return ids
    start, stop = (token_id(tokenizer, marker) for marker in segment)
    if start not in ids:
        return ids
    first = ids.index(start)
    last = ids.index(stop, first) + 1 if stop in ids[first:] else len(ids)
    return ids[:first] + ids[last:]


def trace(gold: Path, predictions: Path, model: Path, options: Mapping) -> pd.DataFrame:
    """The table behind the figure: a row a token of each panel; of a run's test predictions.

    `model` is the folder of its checkpoint, `options` the reward's settings. A corpus without acts has
    one row for each panel with a DPL part, which says so.
    """
    check(options)
    place = place_of(predictions)
    table = read_turns(gold)
    texts = pd.read_parquet(predictions, columns=["text"])["text"]
    if len(texts) != len(table):
        raise TodflowError(f"{predictions}: {len(texts)} turns of {len(table)}; predict again")
    tokenizer = AutoTokenizer.from_pretrained(model)
    known = schema(place.dataset)
    reader = Reader(tokenizer, known)
    shown = choose(table, texts, place.dataset, tokenizer, reader, options)
    if shown is None:
        return empty(
            f"{place.dataset}, {place.backbone}, seed {place.seed}, {place.stage}: no answer of at most"
            f" {LONGEST} tokens to a turn that wants a pair and a slot."
        )
    acts = has_acts(turns(table))
    rows = []
    for panel, (left_out, parts) in PANELS.items():
        about = {"panel": panel, "dataset": place.dataset, "backbone": place.backbone}
        about |= {"seed": place.seed, "stage": place.stage}
        about |= {"dialogue_id": shown.dialogue, "turn": shown.turn}
        if "a" in parts and not acts:
            rows.append(about | {"note": NO_ACTS})
            continue
        sets = shown.sets._replace(
            requests=frozenset(each for each in shown.sets.requests if each[0] in parts)
        )
        ids = without(shown.ids, left_out, tokenizer)
        about |= {"pairs_wanted": len(sets.pairs), "requests_wanted": len(sets.requests)}
        for position, (index, level) in enumerate(
            zip(ids, levels(reader, sets, options, ids), strict=True)
        ):
            rewards = dict(zip(("reward_u", "reward_g", "reward_tod"), level, strict=True))
            token = tokenizer.convert_ids_to_tokens(index)
            rows.append(about | {"position": position, "token": token} | rewards)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def empty(note: str) -> pd.DataFrame:
    """The table where there is no run: a row a panel with the reason."""
    return pd.DataFrame([{"panel": panel, "note": note} for panel in PANELS], columns=list(COLUMNS))


def to_csv(table: pd.DataFrame) -> str:
    """The table as CSV text: counts whole, rewards with six decimals."""
    text = table.copy()
    for name in ("position", "seed", "turn", "pairs_wanted", "requests_wanted"):
        text[name] = ["" if pd.isna(value) else str(int(value)) for value in table[name]]
    for name in ("reward_u", "reward_g", "reward_tod"):
        text[name] = ["" if pd.isna(value) else f"{float(value):.6f}" for value in table[name]]
    return text.to_csv(index=False, lineterminator="\n")
