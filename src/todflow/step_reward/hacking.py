"""Does RL buy reward with length or by naming everything? Sizes and precision of what is said.

The rewards of the paper (eq. 2, 3) only see what is missed, so longer answers and more slots cost
nothing. Here they are counted on the test split, gold beside them.
"""

import statistics
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.predictions import Answer, read_predictions, shown
from todflow.reward.sets import PLACEHOLDER, Schema, schema
from todflow.seq2seq.sequences import RESPONSE
from todflow.step_reward.gather import stage_name
from todflow.tables.places import MAIN, SFT, WHOLE, place_of

# Means over turns, precision and recall over all turns together (x100), share of texts cut off (x100).
FIGURES = {
    "response_words": "words in a response",
    "pairs": "state pairs of a turn",
    "placeholders": "placeholders of a turn, repeated ones too",
    "act_slots": "slots named in a turn's act",
    "pair_precision": "precision of state pairs",
    "pair_recall": "recall of state pairs",
    "placeholder_precision": "precision of placeholders",
    "placeholder_recall": "recall of placeholders",
    "cut_off": "turns that end without the response's end marker",
}
COLUMNS = ("dataset", "backbone", "share", "stage", "seed", "context", "turns", *FIGURES)
GOLD = "gold"


def measure(known: Schema, gold: list[Answer], said: list[Answer]) -> dict[str, float]:
    """The figures of all turns but `cut_off`; both lists have one answer a turn, in one order.

    State pairs are (domain, slot, canonical value), placeholders the slots of a turn's response.
    """
    counts = dict.fromkeys(("words", "placeholders", "act_slots"), 0)
    sets = {"pair": [0, 0, 0], "placeholder": [0, 0, 0]}  # right, said, wanted
    for right, given in zip(gold, said, strict=True):
        counts["words"] += len(given.response.split())
        counts["placeholders"] += len(PLACEHOLDER.findall(given.response))
        named = known.named(given.act_span, given.response)
        counts["act_slots"] += sum(part == "a" for part, _ in named)
        both = {
            "pair": tuple(known.pairs(known.parse(each.state)) for each in (right, given)),
            "placeholder": tuple(
                {slot for part, slot in known.named("", each.response)} for each in (right, given)
            ),
        }
        for name, (wanted, found) in both.items():
            for place, part in enumerate((wanted & found, found, wanted)):
                sets[name][place] += len(part)
    turns = len(gold)
    result = {
        "response_words": counts["words"] / turns,
        "pairs": sets["pair"][1] / turns,
        "placeholders": counts["placeholders"] / turns,
        "act_slots": counts["act_slots"] / turns,
    }
    for name, (right, found, wanted) in sets.items():
        result[f"{name}_precision"] = 100 * right / found if found else 0.0
        result[f"{name}_recall"] = 100 * right / wanted if wanted else 0.0
    return result


def build(
    golds: dict[str, Path], predictions: Iterable[Path], context: str = "generated"
) -> pd.DataFrame:
    """One row per corpus' gold side, and one per run; figures are numbers.

    `golds` has the test table of every corpus. Raises TodflowError for predictions of other turns.
    """
    sides, rows = {}, []
    predictions = [(place_of(path), path) for path in predictions]
    for dataset in dict.fromkeys(place.dataset for place, _ in predictions):
        table = read_turns(golds[dataset])
        columns = ("state_span", "act_span", "response_delex")
        answers = [Answer(*texts) for texts in zip(*(table[name] for name in columns), strict=True)]
        sides[dataset] = table, answers
        rows.append(
            {"dataset": dataset, "stage": GOLD, "turns": len(table), "cut_off": 0.0}
            | measure(schema(dataset), answers, answers)
        )
    for place, path in predictions:
        table, gold = sides[place.dataset]
        said = _aligned(table, path)
        texts = pd.read_parquet(path, columns=["text"])["text"]
        rows.append(
            place._asdict()
            | {"context": context, "turns": len(gold)}
            | {"cut_off": 100 * float((~texts.str.contains(RESPONSE[1], regex=False)).mean())}
            | measure(schema(place.dataset), gold, said)
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _aligned(table: pd.DataFrame, path: Path) -> list[Answer]:
    """The predicted answers in the order of the split's turns."""
    answers = read_predictions(path)
    result = []
    for dialogue, turn in zip(table["dialogue_id"], table["turn"], strict=True):
        if turn >= len(answers.get(dialogue, ())):
            raise TodflowError(
                f"{path}, dialogue {shown(dialogue)}: no turn {turn}; predict the split again"
            )
        result.append(answers[dialogue][turn])
    return result


def to_csv(table: pd.DataFrame) -> str:
    """The table as CSV text, figures with three decimals, ids without any."""
    text = table.copy()
    for name in FIGURES:
        text[name] = [f"{value:.3f}" for value in text[name]]
    for name in ("share", "seed", "turns"):
        text[name] = ["" if pd.isna(value) else str(int(value)) for value in text[name]]
    return text.to_csv(index=False, lineterminator="\n")


def read(path: str | Path) -> pd.DataFrame:
    """Read what `to_csv` wrote; share and seed of the gold side are NaN."""
    return pd.read_csv(path)


def section(table: pd.DataFrame, arms: dict[str, dict]) -> list[str]:
    """Lines of Markdown: gold, SFT, RL and its arms on all data, means over seeds."""
    whole = table[(table["share"] == WHOLE) | (table["stage"] == GOLD)]
    lines = []
    for dataset in dict.fromkeys(whole["dataset"]):
        part = whole[whole["dataset"] == dataset]
        runs = part[part["stage"] != GOLD]
        for backbone in dict.fromkeys(runs["backbone"]):
            shown_stages = runs[runs["backbone"] == backbone]
            order = sorted(
                dict.fromkeys(shown_stages["stage"]),
                key=lambda stage: (stage != SFT, stage != MAIN),
            )
            heads = ["gold", *(stage_name(stage, arms) for stage in order)]
            turns = int(part["turns"].iloc[0])
            lines += [
                f"{dataset}, {backbone}: {turns:,} test turns, the model's own previous turn in the"
                " input, means over seeds (seeds: "
                + "; ".join(f"{stage} {_seeds(shown_stages, stage)}" for stage in order)
                + ").",
                "",
                "| per turn | " + " | ".join(heads) + " |",
                "|---|" + "---|" * len(heads),
            ]
            gold = part[part["stage"] == GOLD].iloc[0]
            for name, label in FIGURES.items():
                cells = [f"{gold[name]:.2f}"]
                for stage in order:
                    values = shown_stages[shown_stages["stage"] == stage][name]
                    cells.append(f"{statistics.fmean(values):.2f}")
                lines.append(f"| {label} | " + " | ".join(cells) + " |")
            lines.append("")
    return lines


def _seeds(runs: pd.DataFrame, stage: str) -> str:
    return " ".join(str(int(seed)) for seed in sorted(runs[runs["stage"] == stage]["seed"]))
