"""The conda environments are pinned and hold the same versions as the lock."""

import re
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = ["data", "train", "simulate", "tables"]
sys.path.insert(0, str(ROOT / "tools"))


def dependencies(family):
    return yaml.safe_load((ROOT / f"envs/{family}.yaml").read_text())["dependencies"]


def lock():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_lock_pins_every_package_once():
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lock())
    names = [re.sub("[-_.]+", "-", line.split("==")[0]).lower() for line in lock()]
    assert len(names) == len(set(names))


def test_what_is_installed_is_what_the_lock_says():
    from importlib.metadata import version

    wrong = []
    for line in lock():
        name, wanted = line.split("==")
        if version(name).split("+")[0] != wanted:
            wrong.append(f"{line}, not {version(name)}")
    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
def test_environments_are_exact_and_in_step_with_the_lock(family):
    *conda, pip = dependencies(family)
    assert all(re.fullmatch(r"(python|pip)=\d+(\.\d+)+", line) for line in conda)
    assert set(pip["pip"]) <= set(lock())


@pytest.mark.parametrize("family", FAMILIES)
def test_environments_are_what_the_tool_writes(family):
    from make_envs import FAMILIES as purposes
    from make_envs import text

    assert (ROOT / f"envs/{family}.yaml").read_text() == text(*purposes[family])


def test_convlab_is_the_same_release_everywhere():
    pinned = "convlab==3.0.1"
    assert pinned in (ROOT / "requirements.nodeps.lock").read_text()
    assert pinned in (ROOT / "envs/simulate.post-deploy.sh").read_text()


def test_every_environment_file_is_used_by_a_rule_and_every_rule_has_one():
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    used = re.findall(r'"\.\./\.\./envs/(\w+)\.yaml"', rules)
    assert set(used) == set(FAMILIES)
    assert len(used) == len(re.findall(r"^rule \w+:", rules, re.MULTILINE))
