"""Stage: NLPO with step rewards from an SFT checkpoint (step-reward paper, section 4.2), resumable.

An iteration samples turns for contexts of the training split, rewards them token by token, and
updates the policy. The checkpoint with the best Combined score on the validation split is kept, the
SFT model among the candidates; the run ends early if the policy has gone too far from that.
"""

import argparse
import logging
import math
import random
from pathlib import Path

import pandas as pd
import torch
from transformers import PreTrainedTokenizerBase

from todflow import stage
from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.files import write_text
from todflow.nlpo.experience import REWARDS, Collector, Prompt, always_allowed, own_contexts
from todflow.nlpo.experience import prompts
from todflow.nlpo.policy import Masker, Policy
from todflow.nlpo.returns import STEPS, KlController
from todflow.nlpo.update import Settings, Updater
from todflow.progress import Progress
from todflow.reward import sets
from todflow.reward.incremental import Reader
from todflow.seq2seq import backbone
from todflow.seq2seq.selection import check_precision, curve_text, first_dialogues, greedy_scores
from todflow.seq2seq.sequences import Turn, turns
from todflow.seq2seq.settings import require
from todflow.seq2seq.state import State, Stop, digest
from todflow.seq2seq.train import MakeScorer
from todflow.seq2seq.validate import Scorer, scorer

SETTINGS = ("seed", "device", "dataset", "evaluator", "max_new_tokens", "rl", "reward")
RL_SETTINGS = tuple("""
    episodes turns_per_iteration context epochs minibatch_turns learning_rate value_learning_rate
    weight_decay gradient_clip clip gamma lam value_weight value_warmup_iterations kl_coef kl_target
    kl_rate kl_fixed kl_stop mask top_p min_tokens_to_keep mask_refresh top_k reward step
    freeze_encoder sft_weight evaluate_every checkpoint_every precision rollout_turns threads
    valid_dialogues valid_context valid_batch_turns
    """.split())
COLUMNS = tuple("""
    iteration episodes reward_u reward_g reward_tod kl kl_k3 kl_coef entropy value_loss policy_loss
    clip_share drift ratio_error length pairs requests support removed
    """.split())
# Between the sampler's log-probs and the update's, before any step.
RATIO_ERROR = 1e-3
# The k1 estimate of the KL may be below 0 by chance, but not so often in a row.
NEGATIVE = 5
log = logging.getLogger(__name__)


class Trainer:
    """A policy in training, and everything that a resumed run needs to go on exactly."""

    def __init__(
        self,
        config: dict,
        policy: Policy,
        tokenizer: PreTrainedTokenizerBase,
        collector: Collector,
        train: list[Prompt],
        valid: list[Turn],
        score: Scorer,
        state: State,
        stop: Stop,
        label: str,
    ):
        self.config, self.rl = config, config["rl"]
        self.policy, self.tokenizer, self.collector = policy, tokenizer, collector
        self.train, self.valid, self.score = train, valid, score
        self.state, self.stop, self.label = state, stop, label
        rl = self.rl
        self.masker = Masker(policy) if rl["mask"] else None
        self.updater = Updater(policy, Settings(*(rl[name] for name in Settings._fields)))
        self.control = KlController(rl["kl_coef"], rl["kl_target"], rl["kl_rate"], rl["kl_fixed"])
        self.iterations = math.ceil(rl["episodes"] / rl["turns_per_iteration"])
        if self.masker and rl["mask_refresh"] >= self.iterations:
            log.warning(
                "the mask stays that of the SFT model: rl.mask_refresh is %d, and the run has %d "
                "iterations",
                *(rl["mask_refresh"], self.iterations),
            )
        # kept: [score, iteration] of the best evaluation, alone in a list; evaluated: the iteration
        # of the last one; ended: why the run is over.
        self.record = {"iteration": 0, "curve": [], "kept": [], "evaluated": -1, "ended": ""}
        self._resume()

    def _resume(self) -> None:
        saved = self.state.load()
        if saved is None:
            self.record["curve"].append({"iteration": 0, "episodes": 0})
            return
        self.policy.load_state_dict(saved.pop("policy"))
        self.updater.optimizer.load_state_dict(saved.pop("optimizer"))
        mask = saved.pop("mask")
        if self.masker:
            self.masker.policy.load_state_dict(mask)
        self.control.coef = saved.pop("kl_coef")
        self.record = saved
        log.info("resumed after iteration %d", self.record["iteration"])

    def _save(self) -> None:
        with self.stop.shielded():
            self.state.save(
                {
                    **self.record,
                    "policy": self.policy.state_dict(),
                    "optimizer": self.updater.optimizer.state_dict(),
                    "mask": self.masker.policy.state_dict() if self.masker else None,
                    "kl_coef": self.control.coef,
                }
            )
        self.stop.check()

    def fit(self) -> None:
        """Train until the last episode, or until the policy is too far from where it began.

        TodflowError if the policy breaks; the best one so far is then a checkpoint in the state's
        folder.
        """
        record, rl = self.record, self.rl
        progress = Progress(self.label, rl["episodes"], "episodes", done=self._episodes())
        while True:
            if self._due() and record["evaluated"] != record["iteration"]:
                self._save()
                self._evaluate()
            elif record["iteration"] == self.iterations or record["ended"]:
                break
            else:
                try:
                    row = self._iterate()
                except TodflowError as error:
                    raise TodflowError(f"{error}; {self._rescue()}") from error
                if record["iteration"] % rl["checkpoint_every"] == 0 or record["ended"]:
                    self._save()
                note = f"reward {row['reward_tod']:.3f}, KL {row['kl']:.3f}"
                progress.update(self._episodes(), note)
        progress.close(f"best combined {record['kept'][0][0]:.1f}")

    def _rescue(self) -> str:
        """Keep the best model so far as a checkpoint, and say where it is."""
        folder = self.state.folder / "best"
        self._load_best()
        backbone.save(self.policy.model, self.tokenizer, folder)
        return (
            f"this was iteration {self.record['iteration'] + 1}; the best model before it, of "
            f"iteration {self.record['kept'][0][1]}, is in {folder}"
        )

    def _due(self) -> bool:
        iteration = self.record["iteration"]
        return not self.record["ended"] and (
            iteration % self.rl["evaluate_every"] == 0 or iteration == self.iterations
        )

    def _episodes(self) -> int:
        return min(self.record["iteration"] * self.rl["turns_per_iteration"], self.rl["episodes"])

    def _iterate(self) -> dict[str, float]:
        """Sample, judge, and update unless the KL says stop; the iteration's row of the curve."""
        rl, seed, iteration = self.rl, self.config["seed"], self.record["iteration"] + 1
        if self.masker and iteration > 1 and (iteration - 1) % rl["mask_refresh"] == 0:
            self.masker.refresh(self.policy)
        count = min(rl["turns_per_iteration"], rl["episodes"] - self._episodes())
        draws = random.Random(f"{seed}/{iteration}")
        chosen = [self.train[draws.randrange(len(self.train))] for _ in range(count)]
        if rl["context"] == "generated":
            limits = self.config["max_new_tokens"], rl["valid_batch_turns"]
            chosen = own_contexts(chosen, self.policy.model, self.tokenizer, *limits)
        generator = torch.Generator().manual_seed((seed << 32) + iteration)
        coef = self.control.coef
        samples, row = self.collector.collect(self.policy, self.masker, chosen, coef, generator)
        row |= {"iteration": iteration, "episodes": self._episodes() + count, "kl_coef": coef}
        if row["kl"] > rl["kl_stop"] * rl["kl_target"]:
            self.record["ended"] = "kl"
            log.warning(
                "stopped: in iteration %d the KL per token to the SFT model is %.3g, more than "
                "kl_stop x kl_target = %g; to go on for longer lower rl.learning_rate or raise "
                "rl.kl_coef",
                *(iteration, row["kl"], rl["kl_stop"] * rl["kl_target"]),
            )
        else:
            values_only = iteration <= rl["value_warmup_iterations"]
            row |= self.updater.run(samples, f"{seed}/{iteration}", values_only)
            if rl["precision"] == "fp32" and row["ratio_error"] > RATIO_ERROR:
                raise TodflowError(
                    "before the first step a probability ratio is off 1 by "
                    f"{row['ratio_error']:.2g}: sampling and update don't compute the same; please "
                    "report it"
                )
            self.control.update(row["kl"])
        log.info("iteration: %s", row)
        self.record["curve"].append({name: row[name] for name in COLUMNS if name in row})
        self.record["iteration"] = iteration
        last = [done["kl"] for done in self.record["curve"][-NEGATIVE:] if "kl" in done]
        if len(last) == NEGATIVE and max(last) < -1e-6:
            log.warning("the KL estimate has been negative for %d iterations", NEGATIVE)
        return row

    def _evaluate(self) -> None:
        model, record = self.policy.model, self.record
        settings = self.rl | {"max_new_tokens": self.config["max_new_tokens"]}
        scores = greedy_scores(model, self.tokenizer, self.valid, self.score, settings, self.label)
        log.info("evaluation after iteration %d: %s", record["iteration"], scores)
        record["curve"][-1] |= scores
        record["evaluated"] = record["iteration"]
        # The earlier one wins a tie.
        if not record["kept"] or scores["combined"] > record["kept"][0][0]:
            record["kept"] = [[scores["combined"], record["iteration"]]]
            with self.stop.shielded():
                self.state.save_weights(record["iteration"], model.state_dict())
        self._save()

    def _load_best(self) -> None:
        """Load the weights of the best evaluation, and note which they are."""
        score, iteration = self.record["kept"][0]
        self.policy.model.load_state_dict(self.state.load_weights(iteration))
        self.policy.model.config.todflow["rl"] = {
            "iteration": iteration,
            "combined": score,
            "iterations": self.record["iteration"],
            "ended": self.record["ended"] or "episodes",
        }

    def finish(self) -> None:
        """Load the best weights."""
        self._load_best()
        log.info("chosen: %s", self.policy.model.config.todflow["rl"])

    def curve(self) -> str:
        """The curve as CSV, its columns always the same."""
        scores = list(self.record["curve"][0])[2:]
        table = pd.DataFrame(self.record["curve"], columns=[*COLUMNS, *scores])
        return curve_text(table)


def check(config: dict) -> None:
    """TodflowError unless the settings are all there and name what exists."""
    require(config, SETTINGS)
    require(config["rl"], RL_SETTINGS)
    sets.check(config["reward"])
    for name, known in (
        ("reward", REWARDS),
        ("step", STEPS),
        ("context", ("gold", "generated")),
        ("precision", ("fp32", "bf16")),
    ):
        if config["rl"][name] not in known:
            raise TodflowError(
                f"config: rl.{name} is {config['rl'][name]!r}; use one of {', '.join(known)}"
            )


def train(
    args: argparse.Namespace, stage_name: str, extra: Path | None, make_scorer: MakeScorer
) -> None:
    """Train, select, save; arguments as for `todflow.seq2seq.train.train`."""
    config = args.config
    check(config)
    rl = config["rl"]
    device = backbone.prepare(config["device"], rl["threads"])
    check_precision(rl["precision"], device)
    inputs = [args.train, args.valid, extra, *(args.model / name for name in backbone.FILES)]
    model, tokenizer = backbone.load(args.model, device)
    state = State(args.state, digest(stage_name, config, list(filter(None, inputs))))
    stop = Stop()
    table = read_turns(args.train)
    valid_table = first_dialogues(read_turns(args.valid), rl["valid_dialogues"])
    for path, found in ((args.train, table), (args.valid, valid_table)):
        if found.empty:
            raise TodflowError(
                f"{path} has no turns; prepare the corpus again, or take a larger share"
            )
    reader = Reader(tokenizer, sets.schema(config["dataset"]))
    facts = model.config.todflow
    chosen = prompts(table, tokenizer, facts, config["dataset"], config["reward"])
    log.info("%d of %d turns want nothing: left out", len(table) - len(chosen), len(table))
    if not chosen:
        raise TodflowError(
            f"{args.train}: none of {len(table)} turns has a pair or request to be rewarded for; "
            "take a larger share of the corpus, or wider sets in the section reward"
        )
    score = make_scorer(config["evaluator"], valid_table, extra)
    with state.locked():
        torch.manual_seed(config["seed"])
        policy = Policy(model, rl["precision"])
        always = always_allowed(tokenizer, facts["acts"])
        limit = config["max_new_tokens"]
        collector = Collector(policy.frozen_copy(), reader, always, rl, config["reward"], limit)
        trainer = Trainer(
            config,
            policy,
            tokenizer,
            collector,
            chosen,
            turns(valid_table),
            score,
            state,
            stop,
            f"rl {args.out}",
        )
        trainer.fit()
        trainer.finish()
        with stop.shielded():
            backbone.save(model, tokenizer, args.out)
            write_text(args.curve, trainer.curve())


def main(args: argparse.Namespace) -> None:
    """Train on In-Car or on the self-play corpus."""
    train(args, "todflow.nlpo.train", args.entities, scorer)


def options(title: str) -> argparse.ArgumentParser:
    """What both stages take."""
    result = stage.parser(title)
    result.add_argument("--model", type=Path, required=True, help="checkpoint to start from")
    result.add_argument("--train", type=Path, required=True, help="corpus table to sample from")
    result.add_argument("--valid", type=Path, required=True, help="corpus table to select on")
    result.add_argument("--state", type=Path, required=True, help="folder of the unfinished run")
    result.add_argument("--out", type=Path, required=True, help="folder for the checkpoint")
    result.add_argument("--curve", type=Path, required=True, help="iterations, CSV")
    return result


def _options() -> argparse.ArgumentParser:
    result = options(__doc__.splitlines()[0])
    result.add_argument("--entities", type=Path, help="entity file, where the evaluator has one")
    return result


if __name__ == "__main__":
    stage.run(_options(), main)
