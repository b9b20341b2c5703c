"""What DAMD's own code gives for real dialogues, beside what ours gives; read once a session."""

import gzip
import json
import zipfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from todflow.corpora.multiwoz.acts import act_list, act_span
from todflow.corpora.multiwoz.domains import turn_domains
from todflow.corpora.multiwoz.release import Dialogue, Exchange, read_dialogues
from todflow.corpora.multiwoz.state import states
from todflow.metrics.spans import state_span


class Turn(NamedTuple):
    """A turn's dialogue (lower case) and number, and its annotation as our code gives it."""

    dialogue: str
    number: int
    state: dict
    domains: list
    acts: list

    def spelt(self) -> dict[str, str]:
        """The annotation as text, under DAMD's names."""
        slots = [(f"[{domain}]", *names) for domain, names in self.state.items()]
        return {
            "constraint": state_span(self.state),
            "cons_delex": " ".join(word for words in slots for word in words),
            "sys_act": act_span(self.acts),
            "turn_domain": " ".join(f"[{domain}]" for domain in self.domains),
        }


@cache
def turns(archive: Path) -> dict[str, list[Turn]]:
    """The turns of a release, by split."""
    result: dict[str, list[Turn]] = {"train": [], "valid": [], "test": []}
    for split, dialogue in read_dialogues(archive):
        result[split] += annotate(dialogue)
    return result


def annotate(dialogue: Dialogue) -> list[Turn]:
    state_of = states(dialogue)
    acts_of = [exchange.acts for exchange in dialogue.exchanges]
    domains_of = turn_domains(state_of, acts_of)
    name = dialogue.dialogue_id.lower()
    return [
        Turn(name, number, state, domains, act_list(acts, domains))
        for number, (state, acts, domains) in enumerate(
            zip(state_of, acts_of, domains_of, strict=True)
        )
    ]


@cache
def damd_on_21(oracles: Path) -> list[dict]:
    """The output of DAMD's code on the test split of 2.1, a dictionary a turn."""
    path = oracles / "mwz" / "preproc" / "damd_code_on_mwz21_test.jsonl.gz"
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


@cache
def damd_on_100(mirror: Path) -> list[tuple[Turn, dict]]:
    """Turns of 100 dialogues of 2.0, and their annotation by MinTL's edition of DAMD's code.

    That edition writes "do not" for "do n't", which is undone here.
    """
    with zipfile.ZipFile(mirror / "multiwoz" / "damd_reference_100.zip") as opened:
        raw = json.loads(opened.read("woz_100.json"))
        expected = json.loads(opened.read("data_for_damd.json"))
    pairs = []
    for name, entry in raw.items():
        log = entry["log"]
        exchanges = [
            Exchange(user["text"], system["text"], system["metadata"], acts(system), None, None)
            for user, system in zip(log[::2], log[1::2], strict=True)
        ]
        name = name.lower().removesuffix(".json")
        ours = annotate(Dialogue(name, entry["goal"], exchanges))
        for turn, theirs in zip(ours, expected[name]["log"], strict=True):
            theirs["constraint"] = theirs["constraint"].replace("do not care", "do n't care")
            pairs.append((turn, theirs))
    return pairs


def acts(system: dict) -> dict:
    return system.get("dialog_act") or {}


def differing(mirror: Path, oracles: Path, field: str) -> list[tuple[str, int]]:
    """Dialogue and number of the turns of 2.1's test split whose `field` differs from DAMD's."""
    ours = turns(mirror / "multiwoz" / "official-layout" / "MULTIWOZ2.1.zip")["test"]
    theirs = {(turn["dialogue"], turn["turn"]): turn[field] for turn in damd_on_21(oracles)}
    assert len(theirs) == 7372
    assert {turn[:2] for turn in ours} == set(theirs)
    return [turn[:2] for turn in ours if turn.spelt()[field] != theirs[turn[:2]]]
