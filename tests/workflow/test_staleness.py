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
    "split_selfplay": {
        *("draw_subset", "train_sft", "train_rl", "generate_responses", "score_responses"),
        *("trace_rewards", "measure_hacking", "judge_claims", "write_provenance"),
    },
    "draw_subset": {"train_sft", "train_rl", "tabulate_low_resource"},
    "train_sft": {"train_rl", "generate_responses", "plot_curve", "write_provenance"},
    "train_rl": {
        *("generate_responses", "plot_curve", "trace_rewards", "tabulate_ablation"),
        *("tabulate_low_resource", "judge_claims", "write_provenance"),
    },
    "generate_responses": {
        *("score_responses", "trace_rewards", "measure_hacking", "judge_claims", "write_provenance"),
    },
    "score_responses": {
        *("tabulate_results", "tabulate_ablation", "tabulate_low_resource", "judge_claims"),
    },
    "tabulate_ablation": set(),
    "tabulate_low_resource": {"plot_low_resource"},
    "plot_low_resource": set(),
    "trace_rewards": {"plot_rewards"},
    "plot_rewards": set(),
    "measure_hacking": {"judge_claims"},
    "judge_claims": set(),
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
TABULATED = ["tabulate_results", "tabulate_ablation", "tabulate_low_resource", "judge_claims"]
FLIPS = {
    "scale": ("other", TABULATED),
    "device": ("cuda", MODELS),
    "corpora": (["incar"], ["fetch_incar", "prepare_incar"] + MODELS),
    "backbones": (["scratch-small"], MODELS),
    "selfplay.dialogues.train": (25, ["play_selfplay", "split_selfplay"]),
    "selfplay.dialogues.valid": (5, ["play_selfplay", "split_selfplay"]),
    "selfplay.dialogues.test": (7, ["play_selfplay", "split_selfplay"]),
    "selfplay.seed": (2, ["play_selfplay"]),
    "selfplay.shards": (3, ["play_selfplay"]),
    "selfplay.max_new_tokens": (250, MODELS),
    "selfplay.sft": ({"epochs": 3}, ["train_sft"]),
    "selfplay.rl": ({"epochs": 3}, ["train_rl"]),
    "selfplay.backbones": (["scratch-tiny"], []),
    # Nothing comes before the self-play corpus itself.
    "sft.pretrain": ("selfplay", []),
    "sft.pretrain_epochs": (9, []),
    "backbone.scratch-tiny.d_ff": (65, ["train_sft", "tabulate_results"]),
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
RL_FLIPS = {
    "episodes": 20,
    "turns_per_iteration": 3,
    "context": "generated",
    "epochs": 2,
    "minibatch_turns": 3,
    "learning_rate": 0.5,
    "value_learning_rate": 0.5,
    "weight_decay": 0.5,
    "gradient_clip": 2.5,
    "clip": 0.3,
    "gamma": 0.9,
    "lam": 0.9,
    "value_weight": 0.1,
    "value_warmup_iterations": 0,
    "kl_coef": 0.5,
    "kl_target": 0.5,
    "kl_rate": 0.5,
    "kl_fixed": True,
    "kl_stop": 9.0,
    "mask": False,
    "top_p": 0.5,
    "min_tokens_to_keep": 9,
    "mask_refresh": 9,
    "top_k": 9,
    "reward": "u",
    "step": "level",
    "freeze_encoder": True,
    "sft_weight": 0.5,
    "evaluate_every": 1,
    "checkpoint_every": 9,
    "precision": "bf16",
    "rollout_turns": 9,
    "valid_dialogues": 3,
    "valid_context": "generated",
    "valid_batch_turns": 9,
    "threads": 2,
    "arms.tod": {"mask": False},
}
REWARD_FLIPS = {
    "alpha": 0.5,
    "beta": 0.5,
    "informables": "new",
    "requestables": "eval5",
    "fp_penalty": True,
}
FLIPS |= {f"rl.{key}": (value, ["train_rl"]) for key, value in RL_FLIPS.items()}
FLIPS |= {f"reward.{key}": (value, ["train_rl"]) for key, value in REWARD_FLIPS.items()}
# An arm that is in no table.
FLIPS["rl.arms.level"] = ({"step": "absorb"}, TABULATED)

# What adds runs or leaves some out reaches the readers of those runs alone: here are all that stand below.
NEW_ARM = {"train_rl", "generate_responses", "score_responses", "plot_curve"}
NEW_RUN = NEW_ARM | {"train_sft"}
TABLE_1 = {"tabulate_results", "plot_results"}
TABLE_2 = {"tabulate_ablation", "measure_hacking", "judge_claims"}
FIGURE_3 = {"tabulate_low_resource", "plot_low_resource", "judge_claims"}
FIGURE_5 = {"trace_rewards", "plot_rewards"}
RUN_FLIPS = {
    # Figure 3 has seeds of its own.
    "seeds": ([2], NEW_RUN | TABLE_1 | TABLE_2 | FIGURE_5),
    "selfplay.seeds": ([2], NEW_RUN | TABLE_1 | TABLE_2 | FIGURE_5),
    # Episodes of the run on a share.
    "rl.min_episodes": (7, NEW_ARM | FIGURE_3),
    "generate.contexts": (["gold"], {"generate_responses", "score_responses"} | TABLE_1),
    "step_reward.table1.corpora": ([], TABLE_1),
    "step_reward.table1.arms": (["tod", "u"], NEW_ARM | TABLE_1),
    "step_reward.table2.corpora": ([], TABLE_2),
    "step_reward.table2.arms": (["tod", "u"], NEW_ARM | TABLE_2),
    "step_reward.table2.backbones": (["scratch-small"], NEW_RUN | TABLE_2),
    "step_reward.table2.seeds": ([1, 2], NEW_RUN | TABLE_2),
    "step_reward.figure3.corpora": ([], FIGURE_3),
    "step_reward.figure3.arms": (["tod", "u"], NEW_ARM | FIGURE_3),
    "step_reward.figure3.backbones": (["scratch-small"], NEW_RUN | FIGURE_3),
    "step_reward.figure3.runs": (
        [{"shares": [50, 60], "seeds": [1]}],
        NEW_RUN | {"draw_subset"} | FIGURE_3,
    ),
    "step_reward.figure5.corpora": ([], FIGURE_5),
    "step_reward.figure5.arms": (["u"], NEW_ARM - {"score_responses"} | FIGURE_5),
}
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
    assert leaves - unused - set(FLIPS) - set(RUN_FLIPS) == set()


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


@pytest.mark.parametrize("key", RUN_FLIPS)
def test_another_choice_of_runs_makes_these_and_what_is_made_of_them(finished, key):
    value, expected = RUN_FLIPS[key]
    (finished.folder / "flip.yaml").write_text(yaml.safe_dump(overlay(key, value)))
    stale = finished.stale("--configfile", "tests/config/tiny.yaml", "flip.yaml", config=None)
    assert stale == expected | {"write_provenance"}


CONVLAB = ["assemble_convlab", "play_selfplay", "simulate_dialogues"]
TABLES = ["tabulate_results", "plot_results", "write_provenance"]
# Source file -> the rules of which it is a part.
EDITS = {
    "src/todflow/corpora/incar/release.py": [],
    "src/todflow/corpora/multiwoz/prepare.py": [],
    # MultiWOZ's evaluators train no other corpus' model again; the claims may be about any corpus.
    "src/todflow/metrics/multiwoz/legacy.py": ["judge_claims"],
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
    "src/todflow/nlpo/update.py": ["train_rl"],
    "src/todflow/reward/formula.py": ["train_rl"],
    "src/todflow/seq2seq/decode.py": MODELS,
    "src/todflow/tables/published.yaml": TABULATED,
    "src/todflow/tables/outputs.py": [name for name in TABULATED if name != "judge_claims"],
    "src/todflow/tables/plot_multiwoz.py": ["plot_results"],
    "src/todflow/tables/provenance.py": ["write_provenance"],
    "workflow/scripts/plot_curve.py": ["plot_curve"],
}


def stale_after_edit(project, name: str) -> set[str]:
    path = project.folder / name
    before, dates = path.read_bytes(), path.stat()
    try:
        path.write_bytes(before + b"\n# edited\n")
        return project.stale()
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


@pytest.mark.parametrize("name", EDITS)
def test_editing_a_file_reruns_the_rules_that_import_it(finished, name):
    # write_provenance stores every rule's digest.
    assert stale_after_edit(finished, name) == after(*EDITS[name], "write_provenance")


def test_editing_how_shares_are_drawn_leaves_the_runs_on_all_data_alone(finished):
    stale = stale_after_edit(finished, "src/todflow/subset.py")
    assert stale == NEW_RUN | FIGURE_3 | {"draw_subset", "write_provenance"}


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
