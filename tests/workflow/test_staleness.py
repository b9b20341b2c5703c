"""A change re-runs exactly the rules that depend on it, seen from the command line."""

import os
from pathlib import Path

import pytest
import yaml

from todflow.config import keys

pytestmark = pytest.mark.workflow
ROOT = Path(__file__).resolve().parent.parent.parent

# Who reads whose output. Written by hand: it is what the rule files are meant to say.
READERS = {
    "assemble_convlab": {"play_selfplay", "simulate_dialogues"},
    "play_selfplay": {"split_selfplay"},
    "split_selfplay": {"train_sft", "generate_responses", "score_responses", "write_provenance"},
    "train_sft": {"generate_responses", "plot_curve", "write_provenance"},
    "generate_responses": {"score_responses", "write_provenance"},
    "score_responses": {"tabulate_results"},
    "simulate_dialogues": {"measure_simulation", "write_provenance"},
    "measure_simulation": {"tabulate_results"},
    "tabulate_results": {"plot_results"},
    "plot_results": set(),
    "plot_curve": set(),
    "write_provenance": set(),
}


def after(*rules: str) -> set[str]:
    """The rules themselves and all that stand below them."""
    found, waiting = set(), list(rules)
    while waiting:
        rule = waiting.pop()
        if rule not in found:
            found.add(rule)
            waiting += READERS[rule]
    return found


# Config key -> (another value, the rules that read it). write_provenance stores the whole config.
MODELS = ["train_sft", "generate_responses"]
FLIPS = {
    "scale": ("other", ["tabulate_results"]),
    "device": ("cuda", MODELS),
    "seeds": ([2], MODELS + ["score_responses"]),
    "corpora": (["incar"], ["fetch_incar", "prepare_incar"] + MODELS),
    "backbones": (["scratch-small"], MODELS),
    "selfplay.dialogues.train": (25, ["play_selfplay", "split_selfplay"]),
    "selfplay.dialogues.valid": (5, ["play_selfplay", "split_selfplay"]),
    "selfplay.dialogues.test": (7, ["play_selfplay", "split_selfplay"]),
    "selfplay.seed": (2, ["play_selfplay"]),
    "selfplay.shards": (3, ["play_selfplay"]),
    "selfplay.max_new_tokens": (250, MODELS),
    "selfplay.sft": ({"epochs": 3}, ["train_sft"]),
    "selfplay.backbones": (["scratch-tiny"], []),
    # Nothing comes before the self-play corpus itself.
    "sft.pretrain": ("selfplay", []),
    "sft.pretrain_epochs": (9, []),
    "backbone.scratch-tiny.d_ff": (65, ["train_sft", "tabulate_results"]),
    "generate.contexts": (["gold"], ["generate_responses"]),
    "generate.batch_size": (7, ["generate_responses"]),
    "generate.threads": (2, ["generate_responses"]),
    "bootstrap.samples": (60, ["score_responses", "measure_simulation"]),
    "bootstrap.seed": (2, ["score_responses", "measure_simulation"]),
    # A folder with one system's outputs, below.
    "rescore.folder": (
        "outputs",
        [
            *("fetch_multiwoz", "fetch_act_sources", "prepare_multiwoz"),
            *("rescore_outputs", "tabulate_results"),
        ],
    ),
    "rescore.evaluators": (["standard-v2"], []),
    "rescore.systems.mine": ("multiwoz20", ["tabulate_results"]),
    "simulate.dialogues": (9, ["simulate_dialogues"]),
    "simulate.seed": (1, ["simulate_dialogues"]),
    "simulate.shards": (3, ["simulate_dialogues"]),
    "simulate.settings.convlab2.initiative": (3, ["simulate_dialogues"]),
    "simulate.settings.convlab2.counting": ("convlab3", ["simulate_dialogues"]),
}
SFT_FLIPS = {
    "epochs": 3,
    "batch_turns": 9,
    "batch_tokens": 999,
    "learning_rate": 0.5,
    "schedule": "constant",
    "warmup_steps": 7,
    "adam_beta2": 0.9,
    "weight_decay": 0.5,
    "gradient_clip": 2.5,
    "precision": "bf16",
    "max_source_tokens": 99,
    "evaluate_from": 1,
    "evaluate_every": 9,
    "patience": 9,
    "valid_dialogues": 3,
    "valid_context": "generated",
    "valid_batch_turns": 9,
    "average": 2,
    "checkpoint_steps": 9,
    "threads": 2,
}
FLIPS |= {f"sft.{key}": (value, ["train_sft"]) for key, value in SFT_FLIPS.items()}
# Keys of a corpus that the tiny config doesn't use; a single choice can't be flipped.
UNUSED = {
    *("incar.", "multiwoz20.", "multiwoz21.", "selfplay.evaluator"),
    *("backbone.<name>.", "simulate.settings.<name>.", "rescore.systems.<name>"),
}


def overlay(key: str, value: object) -> dict:
    """{"a.b": 1} as {"a": {"b": 1}}."""
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def test_every_key_is_flipped_below():
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    leaves = {path for path, part in keys(schema) if part.get("type") != "object"}
    unused = {path for path in leaves if any(path.startswith(name) for name in UNUSED)}
    assert leaves - unused - set(FLIPS) == set()


def test_nothing_is_stale_after_a_run(finished):
    assert finished.stale() == set()


@pytest.mark.parametrize("key", FLIPS)
def test_flipping_a_key_reruns_the_rules_that_read_it(finished, key):
    value, readers = FLIPS[key]
    (finished.folder / "outputs").mkdir(exist_ok=True)
    (finished.folder / "outputs/pptod.json").write_text("{}")
    (finished.folder / "flip.yaml").write_text(yaml.safe_dump(overlay(key, value)))
    expected = after(*[rule for rule in readers if rule in READERS], "write_provenance")
    expected |= {rule for rule in readers if rule not in READERS}
    assert finished.stale("--configfile", "tests/config/tiny.yaml", "flip.yaml", config=None) == expected


CONVLAB = ["assemble_convlab", "play_selfplay", "simulate_dialogues"]
TABLES = ["tabulate_results", "plot_results", "write_provenance"]
# Source file -> the rules of which it is a part.
EDITS = {
    "src/todflow/corpora/incar/release.py": [],
    "src/todflow/corpora/multiwoz/prepare.py": [],
    # MultiWOZ's evaluators train no other corpus' model again.
    "src/todflow/metrics/multiwoz/legacy.py": [],
    "src/todflow/rescore.py": [],
    # In-Car's evaluator replaces entities, too.
    "src/todflow/corpora/incar/delexicalise.py": ["train_sft", "score_responses"],
    "src/todflow/convlab_bridge/slots.py": CONVLAB,
    "src/todflow/convlab_bridge/goals.py": ["assemble_convlab"],
    "src/todflow/simulate.py": ["simulate_dialogues"],
    "src/todflow/selfplay.py": ["play_selfplay"],
    "src/todflow/metrics/bleu.py": ["train_sft", "score_responses"],
    "src/todflow/metrics/simulation.py": ["measure_simulation"],
    "src/todflow/seq2seq/train.py": ["train_sft"],
    "src/todflow/seq2seq/decode.py": MODELS,
    "src/todflow/tables/published.yaml": ["tabulate_results"],
    "src/todflow/tables/outputs.py": ["tabulate_results"],
    "src/todflow/tables/plot_multiwoz.py": ["plot_results"],
    "src/todflow/tables/provenance.py": ["write_provenance"],
    "workflow/scripts/plot_curve.py": ["plot_curve"],
}


@pytest.mark.parametrize("name", EDITS)
def test_editing_a_file_reruns_the_rules_that_import_it(finished, name):
    path = finished.folder / name
    before, dates = path.read_bytes(), path.stat()
    try:
        path.write_bytes(before + b"\n# edited\n")
        # write_provenance stores every rule's digest.
        expected = after(*EDITS[name], "write_provenance")
        assert finished.stale() == expected
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


def test_touching_every_module_and_rule_file_reruns_nothing(finished):
    for folder in ("src", "workflow/rules", "config", "envs"):
        for path in (finished.folder / folder).rglob("*"):
            path.touch()
    assert finished.stale() == set()


def test_touching_a_corpus_reruns_nothing_and_changing_it_reruns_its_readers(finished):
    path = finished.folder / "results/corpora/selfplay/test.parquet"
    path.touch()
    assert finished.stale() == set()
    before = path.read_bytes()
    try:
        path.write_bytes(before + b"x")
        assert finished.stale() == after("generate_responses", "score_responses", "write_provenance")
    finally:
        path.write_bytes(before)


def test_swapping_two_values_of_one_rule_is_seen(finished):
    # 64 and 32 in the finished run.
    (finished.folder / "flip.yaml").write_text("sft: {batch_turns: 32, valid_batch_turns: 64}\n")
    stale = finished.stale("--configfile", "tests/config/tiny.yaml", "flip.yaml", config=None)
    assert stale == after("train_sft", "write_provenance")


def test_an_intermediate_that_is_gone_is_not_made_again_for_its_own_sake(finished):
    path = finished.folder / "results/corpora/selfplay/shards/0.parquet"
    content = path.read_bytes()
    path.unlink()
    try:
        assert finished.stale() == set()
    finally:
        path.write_bytes(content)
