"""Stage: a release of MultiWOZ -> one table of turns per split, and the database as released."""

import argparse
import json
from pathlib import Path

from todflow.corpora.multiwoz import DOMAINS
from todflow.corpora.multiwoz.act_sources import ActSources
from todflow.corpora.multiwoz.act_sources import REMEDY as ACTS_REMEDY
from todflow.corpora.multiwoz.acts import act_list, act_span
from todflow.corpora.multiwoz.annotated import annotated_state
from todflow.corpora.multiwoz.damd_database import DamdDatabase
from todflow.corpora.multiwoz.delexicalise import ValueIndex, response_delex
from todflow.corpora.multiwoz.domains import turn_domains
from todflow.corpora.multiwoz.reference import reference
from todflow.corpora.multiwoz.release import (
    REMEDY,
    SPLITS,
    Dialogue,
    read_database,
    read_dialogues,
    read_split,
    release_of,
)
from todflow.corpora.multiwoz.state import states
from todflow.corpora.multiwoz.text import clean
from todflow.corpora.turns import write_turns
from todflow.errors import TodflowError
from todflow.files import mismatch, sha256, write_json
from todflow.metrics.spans import state_span
from todflow.progress import Progress
from todflow.stage import parser, run

# What each split of both releases has: dialogues, and exchanges of user and system.
DIALOGUES = {"train": 8438, "valid": 1000, "test": 1000}
TURNS = {"train": 56778, "valid": 7374, "test": 7372}


class Preparation:
    """What turns a dialogue of one archive into rows of the table."""

    def __init__(self, archive: str | Path):
        """Opens nothing but the database."""
        self.release = release_of(archive)
        self.raw_database = read_database(archive)
        self._database = DamdDatabase(self.raw_database)
        self._values = ValueIndex(self.raw_database)

    def rows(self, dialogue: Dialogue, split: str) -> list[dict]:
        """The rows of one dialogue (`todflow.corpora.turns`), one for each exchange.

        All columns but `act_source`, which no archive has.
        """
        state_of = states(dialogue)
        domains_of = turn_domains(state_of, [exchange.acts for exchange in dialogue.exchanges])
        goal = json.dumps(dialogue.goal, ensure_ascii=False)
        rows = []
        for turn, exchange in enumerate(dialogue.exchanges):
            state, domains = state_of[turn], domains_of[turn]
            acts = act_list(exchange.acts, domains)
            rows.append(
                {
                    "dataset": self.release,
                    "split": split,
                    "dialogue_id": dialogue.dialogue_id.lower(),
                    "turn": turn,
                    "user": clean(exchange.user),
                    "response": clean(exchange.response),
                    "response_delex": response_delex(exchange, self._values),
                    "state_span": state_span(state),
                    "act_span": act_span(acts),
                    "state": json.dumps(state, ensure_ascii=False),
                    "acts": json.dumps(acts, ensure_ascii=False),
                    "domain": " ".join(domains),
                    "goal": goal,
                    "booked": json.dumps(booked(exchange.metadata)),
                    "pointer": self._database.pointer(domains, state, exchange.acts),
                    "reference": reference(exchange),
                    "annotated_state": json.dumps(
                        annotated_state(exchange.metadata), ensure_ascii=False
                    ),
                }
            )
        return rows


def booked(metadata: dict) -> list[str]:
    """The domains that are booked according to the system turn's metadata.

    Without taxi, as in the standard evaluator's own list.
    """
    return [
        domain
        for domain in DOMAINS
        if domain != "taxi" and metadata.get(domain, {}).get("book", {}).get("booked")
    ]


def split_rows(archive: str | Path, split: str) -> list[dict]:
    """The rows of one split, without `act_source`, which scoring has no use of.

    Refuses an archive with other counts than the release.
    """
    preparation = Preparation(archive)
    dialogues = read_split(archive, split)
    rows = [row for dialogue in dialogues for row in preparation.rows(dialogue, split)]
    _check(archive, split, len(dialogues), len(rows))
    return rows


def _check(archive: str | Path, split: str, dialogues: int, turns: int) -> None:
    if (dialogues, turns) != (DIALOGUES[split], TURNS[split]):
        raise TodflowError(
            f"{archive}, {split}: {dialogues} dialogues with {turns} turns where the release has "
            f"{DIALOGUES[split]} with {TURNS[split]}; {REMEDY}"
        )


def main(args: argparse.Namespace) -> None:
    """Prepare the corpus. Nothing is written unless all splits are good.

    With a `sha256` in its settings (of the official archive; `mirror_sha256` of another edition) it
    refuses any other archive: one put in place by hand has not been through `fetch`. The other edition
    can't do without its table of sources (`--acts`), which is checked by `mirror_acts_sha256`.
    """
    found = sha256(args.archive)
    known = [args.config[key] for key in ("sha256", "mirror_sha256") if args.config.get(key)]
    if known and found not in known:
        raise TodflowError(
            f"{args.archive}: SHA-256 {found} where {' or '.join(known)} is expected; {REMEDY}"
        )
    preparation = Preparation(args.archive)
    wanted = args.config.get("release", preparation.release)
    if preparation.release != wanted:
        raise TodflowError(f"{args.archive}: this is {preparation.release}, not {wanted}; {REMEDY}")
    sources = _sources(args, preparation.release, found)
    rows: dict[str, list[dict]] = {split: [] for split in SPLITS}
    dialogues = dict.fromkeys(SPLITS, 0)
    progress = Progress(preparation.release, sum(DIALOGUES.values()), "dialogues")
    for split, dialogue in read_dialogues(args.archive):
        made = preparation.rows(dialogue, split)
        for row, source in zip(made, sources.of(dialogue), strict=True):
            rows[split].append(row | {"act_source": source})
        dialogues[split] += 1
        progress.update(sum(dialogues.values()))
    for split in SPLITS:
        _check(args.archive, split, dialogues[split], len(rows[split]))
    for split in SPLITS:
        write_turns(getattr(args, split), rows[split])
    write_json(args.database, preparation.raw_database)
    progress.close()


def _sources(args: argparse.Namespace, release: str, archive_sha256: str) -> ActSources:
    """The sources of the acts: of an official archive its own annotation, whatever the table says."""
    if archive_sha256 == args.config.get("sha256"):
        return ActSources(None, release)
    sources = ActSources(args.acts, release)
    if archive_sha256 == args.config.get("mirror_sha256"):
        if not sources.turns:
            table = args.acts or "--acts"
            raise TodflowError(f"{table}: no turns, but {args.archive} needs them; {ACTS_REMEDY}")
        expected = args.config.get("mirror_acts_sha256")
        if expected and (wrong := mismatch(args.acts, None, expected)):
            raise TodflowError(f"{args.acts}: {wrong}; {ACTS_REMEDY}")
    return sources


def _options() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--archive", type=Path, required=True, help="MULTIWOZ2.0.zip or 2.1")
    options.add_argument("--acts", type=Path, help="who annotated its acts, if not the release")
    for split in SPLITS:
        options.add_argument(
            f"--{split}", type=Path, required=True, help=f"table of {split} to write"
        )
    options.add_argument("--database", type=Path, required=True, help="database to write")
    return options


if __name__ == "__main__":
    run(_options(), main)
