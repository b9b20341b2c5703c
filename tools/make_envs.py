"""Write envs/*.yaml: the packages that each family of rules needs, at the versions of requirements.lock.

Run it in the environment that `make` installs, after the lock or the lists below changed:

    .venv/bin/python tools/make_envs.py

The closure of each list is taken from the installed packages' own metadata, so that every package in an
environment is pinned, not only those named here.
"""

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PYTHON, PIP = "3.12.11", "25.2"
CONVLAB_NEEDS = ["torch", "fuzzywuzzy", "python-Levenshtein", "tqdm"]
FAMILIES = {
    "data": ("corpora and scores", ["pandas", "pyarrow", "nltk", "sacrebleu", "sacremoses", "RapidFuzz"]),
    "train": ("training and generation", ["pandas", "pyarrow", "nltk", "sacrebleu", "sacremoses", "RapidFuzz", "torch", "transformers"]),
    "simulate": ("ConvLab; its package is added by simulate.post-deploy.sh", ["pandas", "pyarrow"] + CONVLAB_NEEDS),
    "tables": ("tables and figures", ["pandas", "pyarrow", "matplotlib", "PyYAML"]),
}


def locked() -> dict[str, str]:
    """Normalised name -> the line of the lock."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return {normal(line.split("==")[0]): line for line in lines if "==" in line}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(names: list[str]) -> list[str]:
    """Lock lines of the packages and of all that they require on Linux, without extras."""
    lock, found, waiting = locked(), set(), [normal(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for text in metadata.requires(name) or []:
            need = Requirement(text)
            # CUDA packages are pinned by torch itself, and only its CUDA build has them.
            if (not need.marker or need.marker.evaluate({"extra": ""})) and normal(need.name) in lock:
                waiting.append(normal(need.name))
    return sorted((lock[name] for name in found), key=str.lower)


def text(purpose: str, names: list[str]) -> str:
    """One environment file."""
    pins = "\n".join(f"      - {line}" for line in closure(names))
    return (
        f"# {purpose[0].upper()}{purpose[1:]}. Written by tools/make_envs.py from requirements.lock.\n"
        "channels:\n  - conda-forge\n"
        f"dependencies:\n  - python={PYTHON}\n  - pip={PIP}\n  - pip:\n{pins}\n"
    )


if __name__ == "__main__":
    for family, (purpose, names) in FAMILIES.items():
        (ROOT / "envs" / f"{family}.yaml").write_text(text(purpose, names))
