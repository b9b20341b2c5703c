"""Where the numbers come from: config, code, packages, data, time."""

import csv
import json
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

import yaml

from todflow.errors import TodflowError
from todflow.files import sha256

PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*==\s*([^\s;\\]+)")
TIMES = ("s", "max_rss", "mean_load", "cpu_time")


def provenance(
    config: dict,
    digests: dict[str, str],
    data: list[str],
    benchmarks: list[str],
    lock: str | None,
    root: str | Path = ".",
) -> dict:
    """Everything that a number in the tables depends on, ready for JSON.

    `digests` maps a rule to the digest of its code. `data` are files that are hashed, `benchmarks`
    Snakemake's benchmark files (seconds, MiB), `lock` is a pip requirements file whose packages are
    looked up. `root` is the folder of the workflow. Raises TodflowError.
    """
    return {
        "scale": config.get("scale", ""),
        "python": platform.python_version(),
        "git": git_state(root),
        "packages": package_versions(lock) if lock else None,
        "code": dict(sorted(digests.items())),
        "data": {_relative(path): sha256(path) for path in sorted(data)},
        "times": {_relative(path): read_benchmark(path) for path in sorted(benchmarks)},
        "config": config,
    }


def as_yaml(config: dict) -> str:
    """The resolved config as YAML that Snakemake reads back with --configfile."""
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True)


def package_versions(lock: str | Path) -> dict[str, dict]:
    """Per package of a requirements file: `installed` (None: missing) and `locked` version."""
    found = {}
    for line in Path(lock).read_text(encoding="utf-8").splitlines():
        if pin := PIN.match(line.strip()):
            name, locked = pin.groups()
            try:
                installed = metadata.version(name)
            except metadata.PackageNotFoundError:
                installed = None
            found[name] = {"installed": installed, "locked": locked}
    if not found:
        raise TodflowError(f"{lock}: no line 'name==version'; give a pip requirements file")
    return dict(sorted(found.items()))


def git_state(root: str | Path) -> dict | None:
    """The commit of the checkout at `root`, and whether it differs from it; None without one."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        # A copy that lies inside somebody else's checkout has no commit of its own.
        if Path(git("rev-parse", "--show-toplevel")).resolve() != Path(root).resolve():
            return None
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def read_benchmark(path: str | Path) -> dict[str, float | None]:
    """Wall seconds, peak memory (MiB), mean load (%) and CPU seconds of a rule; None: not measured.

    A job too short to be watched has no memory and load. Of repeated runs, the last counts.
    """
    with open(path, encoding="utf-8", newline="") as content:
        lines = list(csv.DictReader(content, delimiter="\t"))
    if not lines or any(name not in lines[-1] for name in TIMES):
        raise TodflowError(f"{path}: not a Snakemake benchmark with the columns {', '.join(TIMES)}")
    return {name: _number(lines[-1][name]) for name in TIMES}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _relative(path: str) -> str:
    return Path(os.path.relpath(path)).as_posix()
