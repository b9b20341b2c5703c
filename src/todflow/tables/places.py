"""Where a trained model's files lie, which says what was trained on what."""

import re
from pathlib import Path
from typing import NamedTuple

from todflow.errors import TodflowError

WHOLE = 100
SFT = "sft"
MAIN = "rl-tod"  # the method as the paper has it: both rewards
LAYOUT = "<dataset>/<backbone>/seed<seed>[-share<percent>]/<sft|rl-arm>"
_FOLDER = re.compile(r"([a-z0-9]+)/([\w.-]+)/seed(\d+)(?:-share(\d\d))?/(sft|rl-[\w.-]+)")


class Place(NamedTuple):
    """One training run.

    share: percent of the training dialogues, WHOLE for all. stage: SFT, or rl- and an arm's name.
    """

    dataset: str
    backbone: str
    seed: int
    share: int
    stage: str


def place_of(path: str | Path) -> Place:
    """The run whose folder a file lies in, LAYOUT. Raises TodflowError for another place."""
    found = _FOLDER.fullmatch("/".join(Path(path).parts[-5:-1]))
    if not found:
        raise TodflowError(f"{path}: isn't below {LAYOUT}; give a file of a training run")
    dataset, backbone, seed, share, stage = found.groups()
    return Place(dataset, backbone, int(seed), int(share or WHOLE), stage)
