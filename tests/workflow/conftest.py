"""A copy of the project to run Snakemake in, and one finished tiny run that many tests look at."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = ["Snakefile", "workflow", "config", "envs", "profiles", "src", "requirements.lock"]
TINY = "tests/config/tiny.yaml"
EVERYTHING = "all"


class Project:
    """A checkout of the project in a folder of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        for name in PARTS:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=ignore)
            else:
                shutil.copy(ROOT / name, folder / name)
        (folder / "tests/config").mkdir(parents=True)
        shutil.copy(ROOT / TINY, folder / TINY)

    def command(self, *words: str, config: str | None = TINY) -> list[str]:
        """`words`: targets first, since options like --configfile take all the words that follow them."""
        configfile = ["--configfile", config] if config else []
        return [sys.executable, "-m", "snakemake", "--cores", "2", *words, *configfile]

    def snakemake(
        self, *words: str, config: str | None = TINY, check: bool = True, **environment: str
    ) -> subprocess.CompletedProcess:
        """Run Snakemake here; the output of both streams is in `stdout`."""
        done = subprocess.run(
            self.command(*words, config=config),
            cwd=self.folder,
            env={**os.environ, **environment},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if check and done.returncode:
            logs = "".join(
                f"\n--- {path}\n{path.read_text()[-2000:]}"
                for path in sorted((self.folder / "results/logs").rglob("*.log"))
                if "error" in path.read_text().lower()
            )
            pytest.fail(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout[-6000:]}{logs}")
        return done

    def stale(self, *words: str, target: str = EVERYTHING, config: str | None = TINY) -> set[str]:
        """The rules that a dry run would run, without the target rule itself."""
        done = self.snakemake(target, "-n", "--quiet", "host", *words, config=config)
        # Not with --quiet rules, as in the profile: the rules are what is looked for.
        rules = set(re.findall(r"^(?:local)?rule (\w+):", done.stdout, re.MULTILINE))
        assert rules or "Nothing to be done" in done.stdout, done.stdout
        return rules - {"all"}

    def plan(self, target: str, config: str | None) -> dict[str, int]:
        """Rule -> number of jobs, from the first table of a dry run."""
        done = self.snakemake(target, "-n", "--quiet", "host", config=config)
        table = done.stdout.split("Job stats:")[1].split("total")[0]
        counts = re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)
        return {name: int(count) for name, count in counts}


@pytest.fixture(scope="session")
def checkout() -> type[Project]:
    """What makes a copy of the project, for modules whose tests share one."""
    return Project


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Project:
    """The tiny config run to the end, all targets. Tests leave it as they found it."""
    project = Project(tmp_path_factory.mktemp("finished"))
    project.snakemake(EVERYTHING)
    return project


@pytest.fixture
def project(tmp_path) -> Project:
    """A fresh copy in which nothing has run yet."""
    return Project(tmp_path / "project")
