"""MultiWOZ's standard evaluator against a straightforward one, on a full file of predictions.

    .venv/bin/python benchmarks/standard_evaluator.py --predictions FILE.json.gz --data FOLDER

Both get the same parsed predictions and gold split, and give Inform, Success and BLEU. Everything
from there on counts, also what comes before the first turn: database, goals, and normal references.
todflow's time has joint goal accuracy in it besides.
The straightforward one, below, normalises every turn anew and looks through the whole database for
every query; it is written from the definition and shares nothing with todflow's but the tables of
spellings and the libraries. Verdicts and BLEU must be identical, or it stops. Claim in
docs/multiwoz-evaluation.md: at least 10 times.
"""

import argparse
import re
import sys
import time
from pathlib import Path

from fuzzywuzzy import fuzz
from sacrebleu import corpus_bleu as sacrebleu_corpus
from sacremoses import MosesDetokenizer, MosesTokenizer

from todflow.cli_multiwoz import gold_of_data
from todflow.metrics.multiwoz import corpus_bleu
from todflow.metrics.multiwoz.normalise import SPELLINGS
from todflow.metrics.multiwoz.outcome import report
from todflow.metrics.multiwoz.standard import Standard
from todflow.predictions_multiwoz import read_answers, select

VENUES = ("restaurant", "hotel", "attraction")
ANY = ("dontcare", "not mentioned", "don't care", "dont care", "do n't care", "do not care")
UNUSED = ("location", "openhours", "takesbookings", "introduction", "signature")
FUZZY = {
    "hotel": ("name",),
    "attraction": ("name",),
    "restaurant": ("name", "food"),
    "train": ("departure", "destination"),
}


class Straightforward:
    """The evaluator without indexes and caches, vintage v1."""

    def __init__(self, gold):
        self.gold = gold
        self.tokenizer, self.detokenizer = MosesTokenizer(lang="en"), MosesDetokenizer(lang="en")
        self.database = {
            domain: [
                {
                    self.slot(name): (
                        SPELLINGS["type"].get(value, value) if name == "type" else value
                    )
                    for name, value in entity.items()
                    if name not in UNUSED and (domain, name) != ("hotel", "price")
                }
                for entity in gold.database[domain]
            ]
            for domain in (*VENUES, "train")
        }
        self.references = {
            name: [self.response(text) for text in dialogue.references]
            for name, dialogue in gold.dialogues.items()
        }

    @staticmethod
    def slot(name):
        name = name.lower().replace(" ", "")
        return {"arriveby": "arrive", "leaveat": "leave"}.get(name, name)

    def response(self, text):
        def word(match):
            for canonical, names in SPELLINGS["placeholders"].items():
                if match[1] in names:
                    return canonical
            return ""

        text = re.sub(r"\[([\w\s\d]+)\](es|s|-s|-es|)", word, text.lower())
        text = text.replace("-s", "").replace("-ly", "")
        return self.detokenizer.detokenize(self.tokenizer.tokenize(text))

    @staticmethod
    def value(slot, text):
        if slot in ("name", "departure", "destination"):
            text = text.strip().lower().replace(" & ", " and ").replace("&", " and ")
            text = text.replace(" '", "'")
            return SPELLINGS["name"].get(text, text)
        if slot == "type":
            return SPELLINGS["type"].get(text, text)
        if slot == "food":
            return SPELLINGS["food"].get(text.strip().lower(), text.strip().lower())
        if slot in ("arrive", "leave", "time"):
            return Straightforward.clock(text)
        return "yes" if slot in ("parking", "internet") and text == "free" else text

    @staticmethod
    def clock(text):
        text = text.strip().lower()
        if text in SPELLINGS["time"]:
            return SPELLINGS["time"][text]
        for beginning in SPELLINGS["time_prefix"]:
            if text.startswith(beginning):
                return SPELLINGS["time_prefix"][beginning]
        text = re.sub("^by.?", "", text, flags=re.DOTALL)
        for useless in ("^after", "^afer", "am$", r"a\.m\.$"):
            if re.search(useless, text):
                text = re.sub(useless, "", text).strip()
        if re.search(r"(pm|p\.m\.)$", text):
            text = re.sub("pm$", "", text).strip()
            text = re.sub(r"p\.m\.$", "", text).strip()
            parts = text.split(":")
            if len(parts) == 2 and parts[0].strip().isdecimal():
                return f"{int(parts[0]) + 12}:{parts[1]}"
            if len(parts) == 1 and text.isdecimal():
                return f"{int(text) + 12}:00"
        if text == "":
            return "00:00"
        text = re.sub(r"[.,?]$", "", text)
        if text.isdigit() and len(text) == 4:
            return text[:2] + ":" + text[2:]
        if text.isdigit():
            return text.zfill(2) + ":00"
        if ":" in text:
            text = text.replace(" ", "")
        if len(text) == 4 and text[1] == ":":
            parts = text.split(":")
            return parts[0].zfill(2) + ":" + parts[1]
        return text

    @staticmethod
    def minutes(text):
        if not re.match(r"[0-9][0-9]:[0-9][0-9]", text):
            return 0
        return 60 * int(text.split(":")[0]) + int(text.split(":")[1])

    def fits(self, domain, entity, slot, value):
        if entity[slot] == "?":
            return True
        if slot == "arrive":
            return self.minutes(entity[slot]) <= self.minutes(value)
        if slot == "leave":
            return self.minutes(entity[slot]) >= self.minutes(value)
        if slot in FUZZY[domain]:
            return fuzz.partial_ratio(entity[slot], value) >= 90
        return entity[slot] == value

    def query(self, domain, constraints):
        wanted = {
            slot: self.value(slot, value)
            for slot, value in constraints.items()
            if slot in self.database[domain][0] and value not in ANY
        }
        return [
            entity["trainid" if domain == "train" else "id"]
            for entity in self.database[domain]
            if all(self.fits(domain, entity, slot, value) for slot, value in wanted.items())
        ]

    def goal(self, released):
        result = {}
        for domain in (*VENUES, "train", "taxi", "police", "hospital"):
            entry = released.get(domain)
            if entry:
                info = {self.slot(name): value for name, value in entry.get("info", {}).items()}
                names = {"trainID": "TRAINID"}
                if domain != "train":
                    names = {"phone": "PHONE", "address": "ADDRESS", "postcode": "POST"}
                wanted = [names[name] for name in entry.get("reqt", []) if name in names]
                if "book" in entry:
                    wanted.append("REFERENCE")
                result[domain] = info, wanted if "info" in entry else []
        return result

    def active(self, states):
        current, old, old_changed, result = None, {}, [], []
        for state in states:
            changed = [
                domain
                for domain in state
                if set(state[domain].items()) - set(old.get(domain, {}).items())
            ]
            if not changed and current is None:
                result.append([])
                continue
            if not changed:
                if len(old_changed) > 1:
                    left = [name for name in old_changed if name in state and name != current]
                    current = left[0] if left else current
            elif current not in changed:
                current = max(changed, key=lambda domain: len(state[domain]))
            old, old_changed = state, changed
            result.append([current])
        return result

    def dialogue(self, name, turns):
        """(inform, success), and the normalised responses."""
        responses = [self.response(turn.response) for turn in turns]
        states = []
        for turn in turns:
            state = {}
            for domain, slots in turn.state.items():
                state[domain] = {}
                for slot, value in slots.items():
                    state[domain][self.slot(slot)] = self.value(self.slot(slot), value)
            states.append(state)
        goal = self.goal(self.gold.dialogues[name].goal)
        offered = {domain: [] for domain in goal}
        provided = {domain: set() for domain in goal}
        booked = self.gold.dialogues[name].booked
        for response, state, domains, bookings in zip(
            responses, states, self.active(states), booked, strict=False
        ):
            for domain in goal:
                if domain not in domains:
                    continue
                token = "TRAINID" if domain == "train" else "NAME"
                if domain in (*VENUES, "train") and token in response:
                    found = self.query(domain, state[domain]) if domain in state else []
                    if not offered[domain] or any(name not in found for name in offered[domain]):
                        offered[domain] = found
                for word in ("PHONE", "ADDRESS", "POST", "TRAINID"):
                    if word in response:
                        provided[domain].add(word)
                if "REFERENCE" in response and domain in bookings:
                    provided[domain].add("REFERENCE")
        inform = success = True
        for domain, (info, wanted) in goal.items():
            if "name" in info or domain in ("taxi", "police", "hospital"):
                match = True
            elif domain == "train" and not offered[domain] and "TRAINID" not in wanted:
                match = True
            else:
                match = bool(offered[domain]) and set(offered[domain]) <= set(
                    self.query(domain, info)
                )
            inform = inform and match
            success = success and set(wanted) <= provided[domain]
        return (inform, inform and success), responses

    def score(self, answers):
        """Verdict of every dialogue, and BLEU."""
        verdicts, hypotheses, references = {}, [], []
        for name, turns in answers.items():
            verdicts[name], responses = self.dialogue(name, turns)
            hypotheses += responses
            references += self.references[name][: len(responses)]
        return verdicts, sacrebleu_corpus(hypotheses, [references], force=True).score


def timed(function):
    # Time of this process: both run on one core, and neighbours must not count.
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def judge(standard, answers):
    outcomes = standard.outcomes(answers, "predicted")
    return outcomes, report(outcomes, corpus_bleu.score, samples=1, seed=1)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--predictions", type=Path, required=True, help="with states")
    options.add_argument("--data", type=Path, help="as for todflow score multiwoz")
    args = options.parse_args()
    gold = gold_of_data(args.data, "multiwoz21")
    expected = {name: len(dialogue) for name, dialogue in gold.dialogues.items()}
    answers, _ = select(
        read_answers(args.predictions).dialogues, expected, args.predictions, partial=True
    )

    ours, ours_setup = timed(lambda: Standard(gold, "v1"))
    (outcomes, figures), ours_turns = timed(lambda: judge(ours, answers))
    plain, plain_setup = timed(lambda: Straightforward(gold))
    (verdicts, bleu), plain_turns = timed(lambda: plain.score(answers))

    mine = {name: (outcome.inform, outcome.success) for name, outcome in outcomes.items()}
    if mine != verdicts or abs(figures["bleu"] - bleu) > 1e-9:
        sys.exit("the two differ")
    print(f"{len(verdicts)} dialogues, {figures['n_turns']} turns, identical results")
    for name, setup, turns in (
        ("todflow", ours_setup, ours_turns),
        ("straightforward", plain_setup, plain_turns),
    ):
        print(f"{name}: {setup + turns:.2f} s, {setup:.2f} s of them before the first turn")
    ratio = (plain_setup + plain_turns) / (ours_setup + ours_turns)
    print(f"straightforward / todflow: {ratio:.1f}")
    print(f"without what comes before the first turn: {plain_turns / ours_turns:.1f}")


if __name__ == "__main__":
    main()
