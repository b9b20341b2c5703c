"""Settings: schema, defaults, and errors that help."""

import sys
from pathlib import Path

import pytest
import yaml

from todflow.config import keys, nearest, resolve
from todflow.errors import TodflowError

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())

SMALL = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "rate": {"type": "number", "default": 0.5},
        "name": {"type": "string", "default": "x"},
        "inner": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"steps": {"type": "integer", "minimum": 1, "default": 3}},
        },
        "named": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"size": {"type": "integer", "default": 7}},
            },
        },
    },
}


def read(name):
    return yaml.safe_load((ROOT / name).read_text())


def test_defaults_are_filled_in_at_every_depth():
    assert resolve({"named": {"mine": {}}}, SMALL) == {
        "rate": 0.5,
        "name": "x",
        "inner": {"steps": 3},
        "named": {"mine": {"size": 7}},
    }


def test_given_values_stay_and_the_input_is_not_changed():
    raw = {"inner": {"steps": 9}}
    assert resolve(raw, SMALL)["inner"] == {"steps": 9}
    assert raw == {"inner": {"steps": 9}}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"raet": 1}, "unknown key 'raet'; did you mean 'rate'?"),
        ({"inner": {"stepps": 1}}, "unknown key 'inner.stepps'; did you mean 'steps'?"),
        ({"named": {"mine": {"zzz": 1}}}, "unknown key 'named.mine.zzz'; known here: size"),
        ({"inner": {"steps": 0}}, "'inner.steps': 0 is less than the minimum of 1"),
        ({"rate": "fast"}, "'rate': 'fast' is not of type 'number'"),
        ({"rate": "2e-5"}, "'rate': '2e-5' is not of type 'number'; YAML reads this as text"),
        ({"rate": float("nan")}, "'rate': nan is not of type 'number'"),
        ({"inner": {"steps": 2.0}}, "'inner.steps': 2.0 is not of type 'integer'"),
        ({"inner": {1: 2}}, "key 1 in 'inner' is no text"),
    ],
)
def test_errors_name_the_key_and_the_remedy(raw, message):
    with pytest.raises(TodflowError) as error:
        resolve(raw, SMALL)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_names_that_become_folders_are_plain():
    for wrong in ({"backbone": {"my/model": {"kind": "scratch"}}}, {"incar": {"archive": "a{b}.zip"}}):
        with pytest.raises(TodflowError, match="does not match"):
            resolve(wrong, SCHEMA)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"rl": {"arms": {"mine": {"stepp": "level"}}}}, "'rl.arms.mine.stepp'; did you mean 'step'?"),
        ({"rl": {"arms": {"mine": {"step": "levl"}}}}, "'rl.arms.mine.step': 'levl' is not one of"),
        ({"rl": {"arms": {"My-arm": {}}}}, "'My-arm' does not match"),
        # The arms of a comparison train equally long.
        ({"rl": {"arms": {"mine": {"episodes": 9}}}}, "unknown key 'rl.arms.mine.episodes'"),
        ({"incar": {"rl": {"arms": {}}}}, "'incar.rl': .*should not be valid under.*arms"),
        ({"incar": {"rl": {"kl_cof": 1}}}, "unknown key 'incar.rl.kl_cof'; did you mean 'kl_coef'?"),
        ({"step_reward": {"figure3": {"runs": [{"shares": [100], "seeds": [1]}]}}}, "runs.0.shares.0"),
    ],
)
def test_settings_of_rl_that_make_no_sense_are_named(raw, message):
    with pytest.raises(TodflowError, match=message):
        resolve(raw, SCHEMA)


def test_an_arm_can_change_every_setting_of_a_reward_and_of_a_comparison():
    rl, reward = (SCHEMA["properties"][name]["properties"] for name in ("rl", "reward"))
    arm = SCHEMA["$defs"]["arm"]["properties"]
    assert set(reward) <= set(arm) <= set(rl) | set(reward)
    # The same for all: how much is trained, and how that is carried out.
    assert set(rl) - set(arm) == {
        *("episodes", "min_episodes", "turns_per_iteration", "evaluate_every", "checkpoint_every"),
        *("precision", "rollout_turns", "valid_dialogues", "valid_context", "valid_batch_turns"),
        *("threads", "arms"),
    }


def test_a_name_that_is_not_there_gets_the_nearest_one():
    nearest("scratch-small", ["scratch-small"], "backbones")
    with pytest.raises(TodflowError, match="'backbones': .* mean 'scratch-small'"):
        nearest("scratch-smal", ["flan-t5-base", "scratch-small"], "backbones")


def test_the_default_config_states_every_default_and_nothing_else():
    given = read("config/config.yaml")
    assert resolve(given, SCHEMA) == given
    assert resolve({}, SCHEMA) == given


@pytest.mark.parametrize("overlay", ["config/real.yaml", "config/paper.yaml"])
def test_overlays_are_valid_and_change_something(overlay):
    # Snakemake lays a config file over the default key by key; nested sections are merged.
    def merge(below, above):
        both = {**below, **above}
        return {
            key: merge(below[key], value) if isinstance(value, dict) and key in below else value
            for key, value in both.items()
        }

    merged = merge(read("config/config.yaml"), read(overlay))
    assert resolve(merged, SCHEMA) == merged
    assert merged["scale"] != "embedded"


def test_every_key_has_a_description():
    assert [path for path, part in keys(SCHEMA) if not part.get("description")] == []


def test_the_readme_documents_every_key_as_the_schema_does():
    sys.path.insert(0, str(ROOT / "tools"))
    from make_config_readme import with_table

    readme = (ROOT / "config/README.md").read_text()
    assert with_table(readme, SCHEMA) == readme
