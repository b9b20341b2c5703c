"""Where the corpora and the oracles lie, and what a test does when they don't."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def folder(variable: str, default: Path, what: str) -> Path:
    """The folder that `variable` names; skip without it, or fail where CI says that it must be there."""
    path = Path(os.environ.get(variable, default))
    if not path.is_dir():
        message = f"no {what}: set {variable} to a folder that has them"
        if os.environ.get("TODFLOW_REQUIRE_SHARED"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with the real corpora in their official layouts."""
    return folder("TODFLOW_DATA_MIRROR", ROOT.parent / "shared" / "data", "corpora")


@pytest.fixture(scope="session")
def oracles() -> Path:
    """The folder with published systems' outputs and their published scores."""
    return folder("TODFLOW_ORACLES", ROOT.parent / "shared" / "oracles", "oracles")
