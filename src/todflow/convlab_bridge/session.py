"""One simulated dialogue at the level of dialogue acts, between the agenda user and any system."""

import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Protocol

from todflow.convlab_bridge.runtime import reseed

Acts = list[list[str]]  # [intent, domain, slot, value] under unified names


class System(Protocol):
    """What plays against the user. A system that speaks in texts brings its own NLU and NLG."""

    @property
    def belief_state(self) -> dict[str, dict[str, str]]:
        """{domain: {unified slot: value}} behind the last answer; strict success reads it.

        A domain without any "book ..." slot counts as one whose bookings are not tracked.
        """

    def reset(self) -> None:
        """A new dialogue begins."""

    def respond(self, user_acts: Acts) -> Acts:
        """The answer to the user's acts."""


@dataclass
class Exchange:
    """What the user said, what the system answered, and the system's state behind the answer."""

    user_acts: Acts
    system_acts: Acts
    belief_state: dict[str, dict[str, str]]


def goal_seeds(seed: int, dialogues: int) -> list[int]:
    """One seed a dialogue, from the run's seed alone: any share of them can be played anywhere."""
    generator = random.Random(seed)
    return [generator.randint(1, 100000) for _ in range(dialogues)]


def play(user, system: System, seed: int, evaluator=None) -> Iterator[Exchange]:
    """Yield the exchanges of the dialogue whose goal and course `seed` determines.

    The last one starts with the user's closing act; the answer to it reaches neither the user nor
    the evaluator. The user closes after 20 exchanges at the latest.
    """
    reseed(seed)
    system.reset()
    user.init_session()
    if evaluator is not None:
        evaluator.add_goal(user.get_goal())
    system_acts: Acts = []
    closed = False
    while not closed:
        user_acts = user.predict(system_acts)
        if evaluator is not None:
            evaluator.add_sys_da(system_acts, system.belief_state)
            evaluator.add_usr_da(user_acts)
        closed = user.is_terminated()
        system_acts = system.respond(deepcopy(user_acts))
        yield Exchange(user_acts, system_acts, deepcopy(system.belief_state))


def user_goal(user) -> dict:
    """What the user wants: {domain: {info, fail_info, reqt, book}}, in the user's order."""
    goal = {}
    for domain, parts in user.get_goal().items():
        kept = {part: parts[part] for part in ("info", "fail_info", "book") if part in parts}
        if "reqt" in parts:
            kept["reqt"] = list(parts["reqt"])
        goal[domain] = deepcopy(kept)
    return goal
