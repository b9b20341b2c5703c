"""Every repair of convlab 3.0.1, made in memory, each with its reason.

`before_import` must run before the first convlab module is imported, `after_import` once they are.
"""

import random
import sys
import types

from todflow.errors import TodflowError

# What convlab imports at module level for features that nothing here uses, and the names it takes
# from each. An empty stand-in saves installing them, and several seconds at every start.
UNUSED = {
    # util/unified_datasets_util.py: retrieval of similar utterances for data augmentation.
    "sentence_transformers": ("SentenceTransformer", "util"),
    # util/allennlp_file_utils.py: downloads from Amazon S3.
    "boto3": (),
    "botocore": ("exceptions",),
    "botocore.exceptions": ("ClientError",),
}


class _Unused(Exception):
    """Stands for a class of a package that is not installed (one of them is caught as an exception)."""


def before_import() -> None:
    """Stand-ins for packages that are not needed, and no downloads."""
    for name, attributes in UNUSED.items():
        if name not in sys.modules:
            module = types.ModuleType(name)
            for attribute in attributes:
                setattr(module, attribute, _Unused)
            sys.modules[name] = module
    # Several modules fetch a missing data file when they are imported, without asking.
    import convlab.util.file_util

    convlab.util.file_util.cached_path = _no_download


def _no_download(url: str, *_: object) -> None:
    raise TodflowError(f"convlab wants to download {url}: the runtime folder lacks it; build it anew")


class AgendaRandom:
    """What the user agenda's module sees as `random`: the global generator, with two changes.

    `sample` takes a dict's keys, which Python 3.11 and later refuse. And the number of acts that the
    user says in a turn, drawn by `randint(1, 4)`, can be fixed: ConvLab-2's user always says up to 4.
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


def after_import() -> AgendaRandom:
    """Repair imported modules; return the agenda's `random`, through which initiative is set."""
    from convlab.policy.rule.multiwoz import policy_agenda_multiwoz

    if not isinstance(policy_agenda_multiwoz.random, AgendaRandom):
        policy_agenda_multiwoz.random = AgendaRandom()
    return policy_agenda_multiwoz.random
