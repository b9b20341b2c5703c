"""Rewards after every token: the scorer reads ids one at a time and never goes back over the text.

What counts is the text so far, its last word taken as it stands, except for the value being
written: a pair counts from the next slot name, bracket or end marker of the state on. Reading a
token costs the same wherever it stands; a word that comes in pieces is taken back and read again
longer, which touches nothing but that word.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from transformers import PreTrainedTokenizerBase

from todflow.errors import TodflowError
from todflow.reward.formula import Count, Rewards, rewards
from todflow.reward.segments import Act, Requests, Response, State, Step
from todflow.reward.sets import Schema, Wanted
from todflow.seq2seq.sequences import ACT, MARKERS, RESPONSE, STATE, USER, parse_target
from todflow.seq2seq.tokenizer import decode

_STOPS = {stop: start for start, stop in (USER, STATE, ACT, RESPONSE)}
# Stands for "and goes on" in the scorer that reads whole texts; no corpus has it.
_UNFINISHED = "\ue001"
_NOTHING = Step(glued=True)


class Reader:
    """What every token of a tokenizer does, under a corpus' schema; made once, used by all scorers.

    Takes both kinds of tokenizer that `todflow.seq2seq.tokenizer` knows: "▁" stands for a space,
    and added tokens have one before them. Only a marker that is a token of its own is a marker.
    Raises TodflowError if one isn't.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, schema: Schema):
        self.schema = schema
        added = tokenizer.added_tokens_decoder
        tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        self._steps = [
            _step(f" {added[index].content}" if index in added else token.replace("▁", " "))
            for index, token in enumerate(tokens)
        ]
        self._steps[tokenizer.pad_token_id] = _NOTHING
        self._steps[tokenizer.eos_token_id] = Step(over=True)
        starts, stops = {step.starts for step in self._steps}, {step.stops for step in self._steps}
        for stop, start in _STOPS.items():
            if start not in starts or start not in stops:
                raise TodflowError(
                    f"tokenizer: {start} or {stop} is not one token, so there are no rewards; "
                    "take a model that todflow has fine-tuned, which has them"
                )

    def step(self, token: int) -> Step:
        """What a token does. A model may have rows beyond its tokenizer's ids; these do nothing."""
        return self._steps[token] if token < len(self._steps) else _NOTHING


def _step(text: str) -> Step:
    word = text.strip()
    if word in _STOPS.values():
        return Step(starts=word)
    if word in _STOPS:
        return Step(stops=_STOPS[word])
    # `parse_target` drops these from within a text, and so parts words there.
    for dropped in (*MARKERS, "<pad>", "</s>", "<unk>"):
        text = text.replace(dropped, " ")
    if not text:
        return _NOTHING
    return Step(words=tuple(text.split()), glued=not text[0].isspace(), breaks=text[-1].isspace())


class Scorer:
    """The rewards of one turn's output, after every token.

    `options` are the settings of the reward (`sets.check`). Attributes besides: `found_pairs` and
    `n_pairs` (right ones, and all that the state so far has), `found_requests` and `n_requests`
    (the same of requestable slots that act and response name, each once).
    """

    def __init__(self, reader: Reader, wanted: Wanted, options: Mapping):
        self._reader, self._options = reader, options
        self._wanted_pairs, self._wanted_requests = len(wanted.pairs), len(wanted.requests)
        self._requests = requests = Requests(wanted)
        self._state = State(reader.schema, wanted.pairs)
        # A segment counts once: its reader leaves when it starts.
        self._segments: dict[str, State | Act | Response] = {
            STATE[0]: self._state,
            RESPONSE[0]: Response(requests),
        }
        if reader.schema.acts:
            self._segments[ACT[0]] = Act(requests)
        self._name, self._segment, self._over = "", None, False
        self._counted: tuple[int, int, int, int] | None = None
        self._rewards = self._now()

    @property
    def found_pairs(self) -> int:
        return self._state.found

    @property
    def n_pairs(self) -> int:
        return len(self._state.filled)

    @property
    def found_requests(self) -> int:
        return self._requests.found

    @property
    def n_requests(self) -> int:
        return len(self._requests.named)

    def feed(self, token_id: int) -> Rewards:
        """The rewards after one more token; nothing counts after the end token."""
        if self._over:
            return self._rewards
        step = self._reader.step(token_id)
        segment = self._segment
        if step.starts:
            # The one before ends unclosed, hence without the value that was being written.
            self._name, self._segment = step.starts, self._segments.pop(step.starts, None)
        elif step.over:
            self._over = True
        elif segment is None:
            pass
        elif not step.stops:
            segment.read(step)
            self._rewards = self._now()
        elif step.stops == self._name:
            self._segment = None
            if segment is self._state:
                self._state.close()
                self._rewards = self._now()
        else:
            segment.part()
        return self._rewards

    def _now(self) -> Rewards:
        counted = self.found_pairs, self.n_pairs, self.found_requests, self.n_requests
        if counted == self._counted:
            return self._rewards
        self._counted = counted
        pairs = Count(self._wanted_pairs, *counted[:2])
        requests = Count(self._wanted_requests, *counted[2:])
        return rewards(pairs, requests, self._options)


def levels(reader: Reader, wanted: Wanted, options: Mapping, ids: Iterable[int]) -> np.ndarray:
    """R_u, R_g and R_tod after each of `ids`: [tokens, 3], float64."""
    scorer = Scorer(reader, wanted, options)
    return np.array([scorer.feed(index) for index in ids], dtype=np.float64).reshape(-1, 3)


def score_prefix(
    tokenizer: PreTrainedTokenizerBase,
    schema: Schema,
    wanted: Wanted,
    options: Mapping,
    ids: Iterable[int],
) -> Rewards:
    """The rewards after `ids`, from their whole text with the parsers of corpora and evaluators.

    Slow; it says what `Scorer` must give.
    """
    text = decode(tokenizer, ids)
    for start in _STOPS.values():
        text = text.replace(start, f" {_UNFINISHED} {start}")
    state, act, response = parse_target(f"{text} {_UNFINISHED}")
    filled = {
        domain: {slot: value for slot, value in slots.items() if _UNFINISHED not in value}
        for domain, slots in schema.parse(state).items()
    }
    pairs = schema.pairs(filled)
    named = schema.named(act.replace(_UNFINISHED, ""), response)
    if wanted.requestable is not None:
        named = {element for element in named if element[1] in wanted.requestable}
    return rewards(
        Count(len(wanted.pairs), len(pairs & wanted.pairs), len(pairs)),
        Count(len(wanted.requests), len(named & wanted.requests), len(named)),
        options,
    )
