"""Every repair of convlab 3.0.1, made in memory, each with its reason."""

import random
import sys
import types

from todflow.errors import TodflowError


def _no_download(url: str, *_: object) -> None:
    """Several modules fetch a missing data file when they are imported, without asking."""
    raise TodflowError(
        f"convlab wants to download {url}: the runtime folder lacks it; build it anew"
    )


class _Unused:
    """Stands for what is imported and never used."""


# Modules that get a stand-in while convlab is imported, which spares installing what they need, and
# seconds at every start. Name -> its content.
STAND_INS = {
    # Finds similar utterances for data augmentation (util/unified_datasets_util.py).
    "sentence_transformers": {"SentenceTransformer": _Unused, "util": _Unused},
    # Downloads, also from Amazon (needs boto3).
    "convlab.util.allennlp_file_utils": {"cached_path": _no_download},
}


class AgendaRandom:
    """What the user agenda's module sees as `random`: the global generator, with two changes.

    `sample` takes a dict's keys, which Python 3.11 and later refuse. And the number of acts that
    the user says in a turn, drawn by `randint(1, 4)`, can be fixed: ConvLab-2's user always says
    up to 4.
    """

    def __init__(self) -> None:
        self.initiative: int | None = None

    def sample(self, population: object, k: int) -> list:
        return random.sample(list(population), k)

    def randint(self, low: int, high: int) -> int:
        if self.initiative is not None and (low, high) == (1, 4):
            return self.initiative
        return random.randint(low, high)

    def __getattr__(self, name: str) -> object:
        return getattr(random, name)


def import_repaired() -> AgendaRandom:
    """Import convlab's modules, repaired; return the agenda's `random`, which has the initiative.

    The stand-ins go away afterwards: other libraries ask whether a package is there.
    """
    present = {}
    for name, content in STAND_INS.items():
        if name not in sys.modules:
            sys.modules[name] = present[name] = types.ModuleType(name)
            vars(present[name]).update(content)
    try:
        from convlab.policy.rule.multiwoz import policy_agenda_multiwoz
    finally:
        for name in present:
            del sys.modules[name]
    if not isinstance(policy_agenda_multiwoz.random, AgendaRandom):
        policy_agenda_multiwoz.random = AgendaRandom()
    return policy_agenda_multiwoz.random
