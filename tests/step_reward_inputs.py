"""Made-up runs of the step-reward experiments: corpora, predictions, scores and curves."""

import argparse
import json
from pathlib import Path

import pandas as pd

from todflow import score
from todflow.corpora.turns import write_turns
from todflow.files import write_table
from todflow.seq2seq.sequences import Segments, target_text

FOOD = ("thai", "french", "sushi", "pizza")
EVALUATORS = {"incar": "incar-galaxy", "selfplay": "selfplay"}
ARMS = {"tod": {}, "u": {"reward": "u"}, "g": {"reward": "g"}, "sparse": {"step": "terminal"}}
ARMS |= {"nomask": {"mask": False}}


def corpus(dataset: str, dialogues: int = 20) -> pd.DataFrame:
    """Two-turn dialogues; the self-play corpus has acts, In-Car none."""
    rows = []
    for number in range(dialogues):
        food = FOOD[number % 4]
        turns = [
            (f"[navigate] poi_type {food}", "", "sure , [value_poi] is [value_distance] away ."),
            (f"[navigate] poi_type {food}", "", "it is at [value_address] ."),
        ]
        if dataset == "selfplay":
            state = f"[restaurant] area north food {food}"
            turns = [
                (state, "[restaurant] [inform] phone", "its phone is [value_phone] ."),
                (state, "[restaurant] [inform] phone address", "[value_phone] , [value_address] ."),
            ]
        for turn, (state, act, response) in enumerate(turns):
            domain, *words = state.split()
            slots = dict(zip(words[::2], words[1::2], strict=True))
            rows.append(
                {
                    "dataset": dataset,
                    "split": "test",
                    "dialogue_id": f"d{number}",
                    "turn": turn,
                    "user": f"i want {food}",
                    "response": response,
                    "response_delex": response,
                    "state_span": state,
                    "act_span": act,
                    "state": json.dumps({domain.strip("[]"): slots}),
                    "acts": "[]",
                    "domain": domain.strip("[]"),
                    "goal": "{}",
                }
            )
    return pd.DataFrame(rows).astype({"turn": "int32"})


def prepare(folder: Path, dataset: str, dialogues: int = 20) -> Path:
    """The test split below results/corpora/, and In-Car's entity map; returns the split."""
    home = folder / "results/corpora" / dataset
    home.mkdir(parents=True, exist_ok=True)
    write_turns(home / "test.parquet", corpus(dataset, dialogues))
    if dataset == "incar":
        (home / "entities.json").write_text(json.dumps({food: "poi_type" for food in FOOD}))
    return home / "test.parquet"


def run(
    folder: Path,
    dataset: str,
    seed: int,
    stage: str,
    right: int,
    part: str = "",
    stuffed: int = 0,
    episodes: int = 640,
) -> Path:
    """One run's predictions, score and (RL) curve; returns its folder.

    About `right` of ten dialogues are as gold, the others say nothing; `stuffed` placeholders are added to
    every response.
    """
    home = folder / f"results/{dataset}/scratch-small/seed{seed}{part}/{stage}"
    gold = folder / "results/corpora" / dataset / "test.parquet"
    table = pd.read_parquet(gold)
    number = table["dialogue_id"].str[1:].astype(int)
    good = (number * 7 + seed * 5) % 11 < right + 1
    more = " [value_poi_type]" * stuffed
    said = [
        Segments(state, act, response + more) if fine else Segments("", "", f"ok .{more}")
        for state, act, response, fine in zip(
            table["state_span"], table["act_span"], table["response_delex"], good, strict=True
        )
    ]
    answers = table[["dialogue_id", "turn"]].assign(
        state_span=[each.state for each in said],
        act_span=[each.act for each in said],
        response=[each.response for each in said],
        text=[target_text(each, dataset != "incar") for each in said],
    )
    write_table(home / "test-generated.parquet", answers)
    entities = gold.with_name("entities.json")
    evaluator = EVALUATORS[dataset]
    score.main(
        argparse.Namespace(
            config={"evaluator": evaluator, "samples": 10, "seed": 1},
            gold=gold,
            entities=entities if entities.exists() else None,
            predictions=home / "test-generated.parquet",
            out=home / f"test-generated.{evaluator}.score.json",
        )
    )
    if stage != "sft":
        curve(home / "curve.csv", episodes)
    return home


def curve(path: Path, episodes: int = 640, rates: tuple[str, str] = ("match", "succ_f1")) -> Path:
    """An RL curve of ten iterations, validated at the first, the fifth (best) and the last."""
    rows = []
    for iteration in range(11):
        done = iteration / 10
        row = {"iteration": iteration, "episodes": round(episodes * done)}
        if iteration:
            row |= {"reward_u": 0.6 + 0.1 * done, "reward_g": 0.5 + 0.2 * done}
            row |= {"reward_tod": 0.55 + 0.15 * done, "kl": 0.3 * done, "kl_k3": 0.25 * done}
            row |= {"kl_coef": 0.01 * 1.04**iteration, "entropy": 0.4 - 0.1 * done}
            row |= {"value_loss": 0.1 - 0.05 * done, "policy_loss": -0.01, "clip_share": 0.1 * done}
            row |= {"drift": 0.1, "ratio_error": 1e-6, "length": 24 + 3 * done, "pairs": 2.1}
            row |= {"requests": 1.2 + done, "support": 4.0, "removed": 0.3}
        if iteration in (0, 5, 10):
            best = 100.0 + (2.0 if iteration == 5 else done)
            row |= {rates[0]: 80.0, rates[1]: 78.0 + done, "bleu": 20.0 - done, "combined": best}
        rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def files(homes: list[Path], pattern: str) -> list[Path]:
    """The files of runs that match, in order."""
    return [path for home in homes for path in sorted(home.glob(pattern))]


def study(folder: Path, gain: int = 2, seeds: tuple[int, ...] = (1, 2, 3)) -> list[Path]:
    """In-Car runs of SFT, four arms and two shares; RL is right in `gain` of ten dialogues more."""
    prepare(folder, "incar")
    homes = []
    for seed in seeds:
        homes += [
            run(folder, "incar", seed, "sft", 6),
            run(folder, "incar", seed, "rl-tod", 6 + gain, stuffed=2),
            run(folder, "incar", seed, "rl-u", 6),
            run(folder, "incar", seed, "rl-g", 7),
            run(folder, "incar", seed, "rl-nomask", 8),
        ]
        for share, base in (("05", 1), ("20", 3)):
            homes += [
                run(folder, "incar", seed, "sft", base, f"-share{share}"),
                run(folder, "incar", seed, "rl-tod", base + 2 * gain, f"-share{share}"),
            ]
    return homes
