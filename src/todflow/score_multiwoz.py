"""Stage: a system's output on MultiWOZ's test split -> figures with confidence intervals, as
JSON."""

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from todflow.corpora.multiwoz import DOMAINS, SLOTS
from todflow.corpora.multiwoz.damd_database import DATABASE_DOMAINS
from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.files import read_json
from todflow.metrics import bleu
from todflow.metrics.multiwoz import corpus_bleu, normalise
from todflow.metrics.multiwoz.damd_form import damd_slot, unknown_placeholders
from todflow.metrics.multiwoz.gold import Gold, gold_of
from todflow.metrics.multiwoz.legacy import Legacy
from todflow.metrics.multiwoz.outcome import report
from todflow.metrics.multiwoz.richness import richness
from todflow.metrics.multiwoz.standard import DECIMALS, Standard
from todflow.predictions import shown
from todflow.predictions_multiwoz import SystemTurn, read_answers, select
from todflow.score import check_out, check_sampling, write_report
from todflow.stage import parser, run

EVALUATORS = ("standard", "legacy")
STATES = ("predicted", "gold")
# The standard evaluator's references and goals are this release's, whatever a system was trained
# on.
STANDARD_CORPUS = "multiwoz21"


@dataclass(frozen=True)
class Setting:
    """Which evaluator, with which switches. vintage: the standard one's; booking_gate: the legacy
    one's; None where there is no such switch."""

    evaluator: str
    state: str = "predicted"
    vintage: str | None = None
    booking_gate: bool | None = None

    @property
    def name(self) -> str:
        """What tables and files call it. The standard evaluator's name does not tell the state."""
        if self.evaluator == "standard":
            return f"standard-{self.vintage}"
        name = "legacy-gold" if self.state == "gold" else "legacy"
        if not self.booking_gate:
            return f"{name}-nogate"
        return name if self.state == "gold" else "legacy-pred"


NAMED = {
    setting.name: setting
    for setting in (
        *(Setting("standard", vintage=vintage) for vintage in normalise.VINTAGES),
        *(Setting("legacy", state, None, gate) for state in STATES for gate in (True, False)),
    )
}


def score(
    gold: Gold,
    predictions: Path,
    setting: Setting,
    samples: int,
    seed: int,
    partial: bool = False,
    needs_states: bool = False,
) -> dict:
    """The figures of a file of predictions, as docs/multiwoz-evaluation.md lists them.

    Where a turn has no state, gold states are used in all turns, and the result says "gold"; with
    `needs_states` it is a TodflowError. `partial` as in `todflow.predictions_multiwoz.select`.
    """
    if setting.evaluator == "standard" and gold.corpus != STANDARD_CORPUS:
        raise TodflowError(
            f"the corpus to score against is {gold.corpus}, and the standard evaluator's goals and "
            f"references are those of {STANDARD_CORPUS}; give that (--data)"
        )
    expected = {name: len(dialogue) for name, dialogue in gold.dialogues.items()}
    answers = read_answers(predictions)
    dialogues, uneven = select(answers.dialogues, expected, predictions, partial)
    turns = [turn for dialogue in dialogues.values() for turn in dialogue]
    lacking = {
        field: sum(getattr(turn, field) is None for turn in turns)
        for field in ("state", "active_domains", "act_span")
    }
    stateless = lacking.pop("state")
    if stateless and needs_states:
        raise TodflowError(_first_without_state(dialogues, predictions, stateless))
    if stateless:
        setting = Setting(setting.evaluator, "gold", setting.vintage, setting.booking_gate)
    domains = None
    if setting.evaluator == "standard":
        outcomes = Standard(gold, setting.vintage).outcomes(dialogues, setting.state)
        figures = report(outcomes, corpus_bleu.score, samples, seed, DECIMALS)
        domains = "estimated" if lacking["active_domains"] else "given"
        unknown = [normalise.response(turn.response)[1] for turn in turns]
    else:
        outcomes = Legacy(gold).outcomes(dialogues, setting.state, setting.booking_gate)
        figures = report(outcomes, bleu.score, samples, seed)
        unknown = [unknown_placeholders(turn.response) for turn in turns]
    return {
        "evaluator": setting.evaluator,
        "name": setting.name,
        "vintage": setting.vintage,
        "state": setting.state,
        "booking_gate": setting.booking_gate,
        "active_domains": domains,
        "references": gold.corpus,
        "n_dialogues": figures.pop("n_dialogues"),
        "n_expected": len(expected),
        "n_turns": figures.pop("n_turns"),
        "n_turns_expected": sum(expected.values()),
        "n_turns_without_state": stateless,
        "partial": {name: list(lengths) for name, lengths in uneven.items()},
        "unknown_placeholders": _times(unknown),
        "unknown_domains": _times(_unknown_domains(turn, setting.evaluator) for turn in turns),
        "unknown_slots": _times(_unknown_slots(turn, setting.evaluator) for turn in turns),
        "turns_without": {
            field: count for field, count in lacking.items() if 0 < count < len(turns)
        },
        "ignored_fields": answers.ignored,
        **figures,
        **richness(normalise.response(turn.response)[0] for turn in turns),
    }


def _times(turns: Iterable[Iterable[str]]) -> dict[str, int]:
    """Name as `shown` has it -> how often, the most frequent first, of the names in turns."""
    times = Counter(shown(name[:60]) for names in turns for name in names)
    return dict(sorted(times.items(), key=lambda pair: (-pair[1], pair[0])))


def _unknown_domains(turn: SystemTurn, evaluator: str) -> set[str]:
    """The domains of a turn that the evaluator passes over, since it has no such name."""
    if evaluator == "legacy":
        # It takes state domains in any case, and no active domains.
        return {name for name in turn.state or () if name.lower() not in DOMAINS}
    return {*(turn.state or ()), *(turn.active_domains or ())}.difference(DOMAINS)


def _unknown_slots(turn: SystemTurn, evaluator: str) -> set[str]:
    """The slots of known domains that the evaluator passes over, as "domain slot"."""
    # As in joint goal accuracy, bookday is day.
    legacy = evaluator == "legacy"
    name = damd_slot if legacy else lambda slot: normalise.slot_name(slot).removeprefix("book")
    return {
        f"{domain} {slot}"
        for domain, slots in (turn.state or {}).items()
        if domain.lower() in DOMAINS
        for slot in slots
        if name(slot) not in SLOTS
    }


def _first_without_state(
    dialogues: dict[str, list[SystemTurn]], predictions: Path, count: int
) -> str:
    """What to tell about `count` turns without a state: where the first is."""
    name, number = next(
        (name, number)
        for name, turns in dialogues.items()
        for number, turn in enumerate(turns)
        if turn.state is None
    )
    return (
        f"{predictions}, dialogue {shown(name)}, turn {number}, field state: missing, in {count} "
        "turns altogether, where --state predicted asks for it; add it, or leave --state out to "
        "score with gold states"
    )


def gold_of_files(table: Path, database: Path) -> Gold:
    """The gold side of prepared files: a table of turns, and the database beside it."""
    try:
        raw = read_json(database)
    except (OSError, ValueError, RecursionError) as error:
        raise TodflowError(f"{database}: no database ({error}); prepare MultiWOZ again") from None
    if not isinstance(raw, dict):
        raise TodflowError(f"{database}: not an object of domains; prepare MultiWOZ again")
    for domain in DATABASE_DOMAINS:
        entities = raw.get(domain)
        if not isinstance(entities, list) or not entities:
            raise TodflowError(
                f"{database}, domain {domain}: not a list of entities; prepare MultiWOZ again"
            )
        for number, entity in enumerate(entities):
            if not isinstance(entity, dict):
                raise TodflowError(
                    f"{database}, domain {domain}, entity {number}: {entity!r:.60}, not an object; "
                    "prepare MultiWOZ again"
                )
            for column in ("trainID",) if domain == "train" else ("id", "name"):
                if not isinstance(entity.get(column), str):
                    raise TodflowError(
                        f"{database}, domain {domain}, entity {number}: no '{column}'; prepare "
                        "MultiWOZ again"
                    )
    return gold_of(read_turns(table), raw, str(table))


def main(args: argparse.Namespace) -> None:
    """Score one file of predictions."""
    name = args.config.get("name")
    if not isinstance(name, str) or name not in NAMED:
        raise TodflowError(f"config: 'name': {name!r:.60} is none of {', '.join(NAMED)}")
    check_sampling(args.config, "config: '{}'")
    check_out(args.out)
    gold = gold_of_files(args.gold, args.database)
    samples, seed = args.config["samples"], args.config["seed"]
    result = score(gold, args.predictions, NAMED[name], samples, seed, args.allow_partial)
    write_report(args.out, result)


def options(title: str) -> argparse.ArgumentParser:
    """What every stage that scores a file of predictions takes."""
    result = parser(title)
    result.add_argument("--gold", type=Path, required=True, help="table of the split's turns")
    result.add_argument("--database", type=Path, required=True, help="database as released, JSON")
    result.add_argument("--predictions", type=Path, required=True, help="what the system said")
    result.add_argument("--out", type=Path, required=True, help="JSON file to write")
    return result


def _options() -> argparse.ArgumentParser:
    result = options(__doc__)
    result.add_argument(
        "--allow-partial",
        action="store_true",
        help="score the first turns of dialogues that have another number of turns",
    )
    return result


if __name__ == "__main__":
    run(_options(), main)
