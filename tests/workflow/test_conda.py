"""`--sdm conda` with a stand-in for the conda command; see tests/standin_conda/bin/conda for what that shows."""

import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow
STANDIN = Path(__file__).resolve().parent.parent / "standin_conda" / "bin"


def test_jobs_run_inside_environments_made_from_the_pins_by_a_standin_conda(project, finished):
    done = project.snakemake(
        "all", "--sdm", "conda", PATH=f"{STANDIN}{os.pathsep}{os.environ['PATH']}"
    )
    environments = [path for path in (project.folder / ".snakemake/conda").iterdir() if path.is_dir()]
    assert len(environments) == 4, done.stdout
    # Each with only its own family's packages: tables need no torch, training no matplotlib.
    packages = [
        {path.name for path in environment.glob("lib/python3*/site-packages/*")}
        for environment in environments
    ]
    assert sum("torch" in names for names in packages) == 2
    assert sum("matplotlib" in names for names in packages) == 1
    assert sum("convlab" in names for names in packages) == 1
    assert not any("snakemake" in names for names in packages)
    same = Path("results/table1.csv")
    assert (project.folder / same).read_bytes() == (finished.folder / same).read_bytes()
