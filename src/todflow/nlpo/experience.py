"""An iteration's experience: turns sampled, judged by reward and reference, ready for an update."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from todflow.nlpo import returns, rollout, update
from todflow.nlpo.policy import Policy, sequence_logprobs, support_entropy, support_logits
from todflow.nlpo.policy import unmasked_logprobs
from todflow.nlpo.rollout import Episode
from todflow.nlpo.update import Sample
from todflow.reward import sets
from todflow.reward.incremental import Reader, Scorer
from todflow.reward.sets import Wanted
from todflow.seq2seq.generate import predict, writer
from todflow.seq2seq.sequences import ACT, RESPONSE, STATE, Turn, context_text, parse_target
from todflow.seq2seq.sequences import previous, turns
from todflow.seq2seq.tokenizer import encode_inputs, token_id
from todflow.seq2seq.train import examples

REWARDS = ("u", "g", "tod", "none")


class Prompt(NamedTuple):
    """A training turn: what the model reads, what it should write, and what earns reward.

    `dialogue` has the turns of its dialogue until this one, which is the last.
    """

    name: str
    source: list[int]
    gold: list[int]
    wanted: Wanted
    dialogue: list[Turn]


class Judged(NamedTuple):
    """What models say of one sampled turn; a number per token.

    own and reference: log-probs among all tokens; masked: among those that could be drawn.
    """

    values: torch.Tensor
    own: torch.Tensor
    masked: torch.Tensor
    entropy: torch.Tensor
    reference: torch.Tensor
    states: torch.Tensor | None


def prompts(
    table: pd.DataFrame,
    tokenizer: PreTrainedTokenizerBase,
    facts: Mapping,
    dataset: str,
    reward: Mapping,
) -> list[Prompt]:
    """The turns of a corpus table that can earn a reward, each with its gold previous turn.

    `facts` is the checkpoint's entry todflow, `reward` the section of the config. Turns that want
    nothing are left out: nothing can be learnt from them.
    """
    rows = turns(table)
    pairs = examples(rows, tokenizer, facts["acts"], facts["max_source"], facts["max_target"])
    result = []
    dialogue: list[Turn] = []
    for (before, row), example, domain in zip(previous(rows), pairs, table["domain"], strict=True):
        dialogue = [*dialogue, row] if before else [row]
        gold = before.gold if before else None
        wanted = sets.wanted(dataset, row.gold, gold, domain.split(), reward)
        if wanted.pairs or wanted.requests:
            name = f"{row.dialogue_id}/{row.turn}"
            result.append(Prompt(name, example.source, example.target, wanted, dialogue))
    return result


def own_contexts(
    chosen: Sequence[Prompt],
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    limit: int,
    size: int,
) -> list[Prompt]:
    """The prompts with what the model itself makes of the turns before, greedily, as in use.

    `limit` is of new tokens in a turn; `size` turns are decoded at once.
    """
    longest: dict[str, list[Turn]] = {}
    for prompt in chosen:
        *before, now = prompt.dialogue
        if len(before) > len(longest.get(now.dialogue_id, ())):
            longest[now.dialogue_id] = before
    rows = [row for before in longest.values() for row in before]
    acts = model.config.todflow["acts"]
    texts = predict(rows, writer(model, tokenizer, limit, size), "generated", acts)
    made = {(row.dialogue_id, row.turn): text for row, text in zip(rows, texts)}
    contexts = []
    for prompt in chosen:
        *before, now = prompt.dialogue
        last = before[-1] if before else None
        said = last and (last.user, parse_target(made[last.dialogue_id, last.turn]))
        contexts.append(context_text(now.user, said, acts))
    sources = encode_inputs(tokenizer, contexts, model.config.todflow["max_source"])
    return [prompt._replace(source=source) for prompt, source in zip(chosen, sources)]


def always_allowed(tokenizer: PreTrainedTokenizerBase, acts: bool) -> list[int]:
    """The ids that no mask takes away: the end token, and the markers of what the model writes.

    ValueError if a marker isn't one token; `Reader` says so to users.
    """
    markers = [marker for pair in (STATE, ACT, RESPONSE) if acts or pair != ACT for marker in pair]
    return [tokenizer.eos_token_id, *(token_id(tokenizer, marker) for marker in markers)]


@torch.no_grad()
def judge(
    policy: Policy, reference: Policy, samples: Sequence[Sample], size: int, share: bool
) -> list[Judged]:
    """What `policy` and `reference` say of the samples, in order, `size` turns at once.

    With `share` both have the same encoder, whose states are kept.
    """
    found: dict[int, Judged] = {}
    order = sorted(range(len(samples)), key=lambda i: (len(samples[i].source), i))
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        batch = update.collate(policy, [samples[i] for i in chosen])
        valid, ids = batch.allowed >= 0, batch.allowed.clamp(min=0)
        states = policy.encode(batch.input_ids, batch.attention_mask)
        logits, values = policy(states, batch.attention_mask, batch.read)
        own = unmasked_logprobs(logits, batch.tokens)
        masked = sequence_logprobs(logits, batch.tokens, ids, valid)
        entropy = support_entropy(support_logits(logits, ids, valid))
        if not share:
            others = reference.encode(batch.input_ids, batch.attention_mask)
        logits, _ = reference(states if share else others, batch.attention_mask, batch.read)
        parts = values, own, masked, entropy, unmasked_logprobs(logits, batch.tokens)
        for row, index in enumerate(chosen):
            read, written = len(samples[index].source), len(samples[index].tokens)
            kept = states[row, :read].clone() if share else None
            found[index] = Judged(*(part[row, :written].cpu() for part in parts), kept)
    return [found[index] for index in range(len(samples))]


def reward_levels(
    reader: Reader, prompt: Prompt, options: Mapping, tokens: list[int]
) -> tuple[np.ndarray, int, int]:
    """R_u, R_g, R_tod, 0 after every token [tokens, 4]; the pairs and requests at the end."""
    scorer = Scorer(reader, prompt.wanted, options)
    levels = np.array([[*scorer.feed(index), 0.0] for index in tokens], dtype=np.float64)
    return levels, scorer.n_pairs, scorer.n_requests


class Collector:
    """Makes samples of prompts: `rl` and `reward` are these sections of the config."""

    def __init__(
        self,
        reference: Policy,
        reader: Reader,
        always: list[int],
        rl: Mapping,
        reward: Mapping,
        limit: int,
    ):
        self.reference, self.reader, self.always = reference, reader, always
        self.rl, self.reward, self.limit = rl, reward, limit
        self.sampling = rollout.Sampling(
            rl["top_k"], rl["top_p"], rl["min_tokens_to_keep"], limit, rl["rollout_turns"]
        )

    def collect(
        self,
        policy: Policy,
        masker: rollout.Masker | None,
        chosen: Sequence[Prompt],
        kl_coef: float,
        generator: torch.Generator,
    ) -> tuple[list[Sample], dict[str, float]]:
        """Samples of `chosen`, ready for an update, and the iteration's means for the curve."""
        sources = [prompt.source for prompt in chosen]
        episodes = rollout.rollout(policy, masker, sources, self.sampling, generator, self.always)
        samples = [_sample(prompt, episode) for prompt, episode in zip(chosen, episodes)]
        size, share = self.rl["minibatch_turns"], self.rl["freeze_encoder"]
        judged = judge(policy, self.reference, samples, size, share)
        earned = [
            reward_levels(self.reader, prompt, self.reward, episode.tokens)
            for prompt, episode in zip(chosen, episodes)
        ]
        samples = self._credit(samples, judged, [levels for levels, _, _ in earned], kl_coef)
        return samples, _means(chosen, episodes, judged, earned)

    def _credit(
        self,
        samples: list[Sample],
        judged: list[Judged],
        levels: list[np.ndarray],
        kl_coef: float,
    ) -> list[Sample]:
        """The samples with advantages and returns (eq. 5), and what else the update needs."""
        rl, column = self.rl, REWARDS.index(self.rl["reward"])
        credits = []
        for said, level in zip(judged, levels):
            kl = (said.own - said.reference).double().numpy()
            paid = returns.step_rewards(level[:, column], rl["step"], rl["gamma"], self.limit)
            values = said.values.double().numpy()
            credits.append(returns.gae(paid - kl_coef * kl, values, rl["gamma"], rl["lam"]))
        advantages = returns.whiten([advantage for advantage, _ in credits])
        return [
            sample._replace(
                # In bf16 a cached step and a whole pass differ too much for a ratio of 1.
                logprobs=said.masked if rl["precision"] == "bf16" else sample.logprobs,
                advantages=torch.from_numpy(advantage).float(),
                returns=torch.from_numpy(total).float(),
                states=said.states,
            )
            for sample, said, advantage, (_, total) in zip(samples, judged, advantages, credits)
        ]


def _sample(prompt: Prompt, episode: Episode) -> Sample:
    nothing = torch.zeros(len(episode.tokens))
    return Sample(
        prompt.name,
        prompt.source,
        torch.tensor(episode.tokens),
        update.allowed_table(episode.allowed),
        torch.tensor(episode.logprobs),
        nothing,
        nothing,
        prompt.gold,
        None,
    )


def _means(
    chosen: Sequence[Prompt],
    episodes: list[Episode],
    judged: list[Judged],
    earned: list[tuple[np.ndarray, int, int]],
) -> dict[str, float]:
    """Means of an iteration: per token, but per turn for rewards, length, pairs and requests.

    R_u is of the turns with pairs to find, R_g of those with requests; nan if there is none. `kl`
    is the k1 estimate (it may be negative), `kl_k3` another that can't be.
    """
    last = np.array([levels[-1] for levels, _, _ in earned])
    has_pairs = np.array([bool(prompt.wanted.pairs) for prompt in chosen])
    has_requests = np.array([bool(prompt.wanted.requests) for prompt in chosen])
    kl = torch.cat([said.own - said.reference for said in judged]).double()
    return {
        "reward_u": _mean(last[has_pairs, 0]),
        "reward_g": _mean(last[has_requests, 1]),
        "reward_tod": _mean(last[:, 2]),
        "kl": float(kl.mean()),
        "kl_k3": float((torch.exp((-kl).clamp(max=20.0)) - 1 + kl).mean()),
        "entropy": float(torch.cat([said.entropy for said in judged]).double().mean()),
        "length": _mean([len(episode.tokens) for episode in episodes]),
        "pairs": _mean([pairs for _, pairs, _ in earned]),
        "requests": _mean([requests for _, _, requests in earned]),
        "support": _mean([len(ids) for episode in episodes for ids in episode.allowed]),
        "removed": _mean([share for episode in episodes for share in episode.removed]),
    }


def _mean(numbers: Sequence[float]) -> float:
    return float(np.mean(numbers)) if len(numbers) else float("nan")
