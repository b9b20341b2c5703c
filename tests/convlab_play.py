"""One convlab runtime folder for all tests of a process, and short ways to play."""

import atexit
import functools
import shutil
import tempfile
from argparse import Namespace
from pathlib import Path

from todflow.convlab_bridge import data


@functools.cache
def manifest() -> Path:
    """The manifest of a folder built once: a process can open one folder only."""
    folder = tempfile.mkdtemp(prefix="todflow-test-convlab-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "manifest.json"
    data.main(Namespace(out=path))
    return path
