"""Stage: In-Car's public release -> one table of turns per split, and the entity map."""

import argparse
import json
from pathlib import Path

from todflow.corpora.incar.delexicalise import delexicalise
from todflow.corpora.incar.entities import entity_map
from todflow.corpora.incar.release import MEMBERS, REMEDY, Dialogue, read_dialogues, read_entities
from todflow.corpora.incar.state import clean_state
from todflow.corpora.incar.text import clean
from todflow.corpora.turns import write_turns
from todflow.errors import TodflowError
from todflow.files import mismatch, write_json
from todflow.metrics.spans import state_span
from todflow.progress import Progress
from todflow.stage import parser, run

# Dialogues of the public release, and turns that it must give.
DIALOGUES = {"train": 2425, "valid": 302, "test": 304}
TURNS = {"train": 6291, "valid": 777, "test": 808}


def turns_of(dialogue: Dialogue, split: str, entities: dict[str, str]) -> list[dict]:
    """The rows of one dialogue (`todflow.corpora.turns.COLUMNS`).

    Of several driver utterances in a row the last is the turn's; of several assistant utterances
    the first. All driver utterances count as said, and all annotated slots enter the state.
    """
    rows, user, said, slots = [], None, "", {}
    for utterance in dialogue.utterances:
        if utterance.driver:
            user = clean(utterance.text)
            said += user
            continue
        slots.update(utterance.slots)
        if user is None:
            continue
        state = clean_state(slots, dialogue.intent, entities)
        rows.append(
            {
                "dataset": "incar",
                "split": split,
                "dialogue_id": dialogue.id,
                "turn": len(rows),
                "user": user,
                "response": clean(utterance.text),
                "response_delex": delexicalise(utterance.text, entities, said, dialogue.intent),
                "state_span": state_span({dialogue.intent: state}),
                "act_span": "",
                "state": json.dumps({dialogue.intent: state} if state else {}, ensure_ascii=False),
                "acts": "[]",
                "domain": dialogue.intent,
                "goal": "{}",
            }
        )
        user = None
    return rows


def split_rows(archive: str | Path, split: str, entities: dict[str, str]) -> list[dict]:
    """The rows of one split. Refuses an archive with other counts than the release."""
    member = MEMBERS[split]
    dialogues = read_dialogues(archive, member)
    rows = [row for dialogue in dialogues for row in turns_of(dialogue, split, entities)]
    if (len(dialogues), len(rows)) != (DIALOGUES[split], TURNS[split]):
        raise TodflowError(
            f"{archive}, {member}: {len(dialogues)} dialogues with {len(rows)} turns where the "
            f"public release has {DIALOGUES[split]} with {TURNS[split]}; {REMEDY}"
        )
    return rows


def main(args: argparse.Namespace) -> None:
    """Prepare the corpus. Nothing is written unless all splits are good.

    With a `sha256` in its settings it refuses any other archive: one put in place by hand has not been
    through `fetch`.
    """
    expected = args.config.get("sha256")
    if expected and (wrong := mismatch(args.archive, None, expected)):
        raise TodflowError(f"{args.archive}: {wrong}; {REMEDY}")
    entities = entity_map(read_entities(args.archive))
    rows = {}
    progress = Progress("In-Car", len(MEMBERS), "splits")
    for done, split in enumerate(MEMBERS, 1):
        rows[split] = split_rows(args.archive, split, entities)
        progress.update(done)
    for split in MEMBERS:
        write_turns(getattr(args, split), rows[split])
    write_json(args.entities, entities)
    progress.close()


def _options() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--archive", type=Path, required=True, help="kvret_dataset_public.zip")
    for split in MEMBERS:
        options.add_argument(
            f"--{split}", type=Path, required=True, help=f"table of {split} to write"
        )
    options.add_argument("--entities", type=Path, required=True, help="entity map to write")
    return options


if __name__ == "__main__":
    run(_options(), main)
