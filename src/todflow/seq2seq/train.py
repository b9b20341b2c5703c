"""Stage: supervised fine-tuning (step-reward paper, eq. 1), resumable at any moment.

Maximises the likelihood of state, act and response given the gold previous turn. After an epoch
the model generates a part of the validation split; the checkpoint with the best Combined score is
kept, and training ends when it has not risen for `patience` evaluations.

Pre-training on another corpus is this stage, too: once with `--vocabulary`, the corpus that is to
follow, and then with `--init`, what came out.
"""

import argparse
import logging
import math
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from todflow import stage
from todflow.corpora.turns import read_turns
from todflow.errors import TodflowError
from todflow.files import write_text
from todflow.progress import Progress
from todflow.seq2seq import backbone, batches
from todflow.seq2seq.batches import Example
from todflow.seq2seq.plan import Plan
from todflow.seq2seq.selection import check_precision, curve_text, first_dialogues, greedy_scores
from todflow.seq2seq.sequences import Turn, context_text, has_acts, previous, target_text, turns
from todflow.seq2seq.settings import require
from todflow.seq2seq.state import State, Stop, digest
from todflow.seq2seq.tokenizer import encode_inputs, encode_targets
from todflow.seq2seq.validate import Scorer, scorer

SETTINGS = tuple(
    """
    backbone seed device threads precision max_source_tokens max_new_tokens epochs batch_turns
    batch_tokens learning_rate schedule warmup_steps adam_beta2 weight_decay gradient_clip evaluate_from
    evaluate_every patience valid_dialogues valid_context valid_batch_turns average
    checkpoint_steps evaluator
    """.split()
)
MakeScorer = Callable[[str, pd.DataFrame, Path | None], Scorer]
log = logging.getLogger(__name__)


def examples(
    rows: list[Turn],
    tokenizer: PreTrainedTokenizerBase,
    acts: bool,
    max_source: int,
    max_target: int,
) -> list[Example]:
    """Source and target ids of every turn, with the gold previous turn as context."""
    contexts = [
        context_text(row.user, before and (before.user, before.gold), acts)
        for before, row in previous(rows)
    ]
    targets = [target_text(row.gold, acts) for row in rows]
    return [
        Example(source, target)
        for source, target in zip(
            encode_inputs(tokenizer, contexts, max_source),
            encode_targets(tokenizer, targets, max_target),
        )
    ]


def token_loss(
    model: PreTrainedModel, batch: list[Example], padding: int, precision: str
) -> tuple[torch.Tensor, int]:
    """Summed negative log-likelihood of the batch's target tokens (fp32), and their number.

    `precision` is fp32 or bf16 (autocast; weights, log-softmax and sum stay in fp32).
    """
    device = next(model.parameters()).device
    inputs = batches.sources([example.source for example in batch], padding, device)
    labels = batches.pad([example.target for example in batch], batches.IGNORED, device)
    read = batches.decoder_inputs(labels, model.config.decoder_start_token_id, padding)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16"):
        # Padding is on the right, so a causal decoder needs no mask for it.
        logits = model(**inputs, decoder_input_ids=read).logits
    loss = torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1),
        labels.flatten(),
        ignore_index=batches.IGNORED,
        reduction="sum",
    )
    return loss, sum(len(example.target) for example in batch)


class Trainer:
    """A model in training, and everything that a resumed run needs to go on exactly."""

    def __init__(
        self,
        config: dict,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        train_rows: list[Turn],
        valid_rows: list[Turn],
        score: Scorer,
        state: State,
        stop: Stop,
        label: str,
    ):
        self.config, self.model, self.tokenizer = config, model, tokenizer
        self.score, self.state, self.stop, self.label = score, state, stop, label
        facts = model.config.todflow
        self.acts = facts["acts"]
        limits = facts["max_source"], facts["max_target"]
        self.train = examples(train_rows, tokenizer, self.acts, *limits)
        self.valid_rows = valid_rows
        self.valid = examples(self.valid_rows, tokenizer, self.acts, *limits)
        self.plan = Plan(config, [(len(a.source), len(a.target)) for a in self.train])
        self.optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=config["learning_rate"],
            betas=(0.9, config["adam_beta2"]),
            weight_decay=config["weight_decay"],
            fused=True,
        )
        self.step = 0
        # kept: [score, step] of the best evaluations; stale: evaluations since the best one;
        # loss and tokens: sums over the updates since the last evaluation.
        self.record = {"curve": [], "kept": [], "stale": 0, "evaluated": 0}
        self.record |= {"loss": 0.0, "tokens": 0}
        self._resume()

    def _resume(self) -> None:
        saved = self.state.load()
        if saved is None:
            return
        self.model.load_state_dict(saved.pop("model"))
        self.optimizer.load_state_dict(saved.pop("optimizer"))
        self.step = saved.pop("step")
        self.record = saved
        log.info("resumed after %d updates", self.step)

    def _save(self) -> None:
        self.state.save(
            {
                **self.record,
                "step": self.step,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
            }
        )

    def fit(self) -> None:
        """Train until the last epoch, or until the validation score has stopped rising."""
        progress = Progress(self.label, self.plan.total, "updates", done=self.step)
        while self.record["stale"] < self.config["patience"]:
            epoch = self.plan.evaluated_epoch(self.step)
            if epoch is not None and self.record["evaluated"] != self.step:
                self._evaluate(epoch)
                continue
            if self.step == self.plan.total:
                break
            with self.stop.shielded():
                loss = self._update()
                if self.stop.received or self.step % self.config["checkpoint_steps"] == 0:
                    self._save()
            self.stop.check()
            progress.update(self.step, f"loss {loss:.3f}{self._best_note()}")
        progress.close(self._best_note().removeprefix(", "))

    def _best_note(self) -> str:
        kept = self.record["kept"]
        return f", best combined {kept[0][0]:.1f}" if kept else ""

    def _update(self) -> float:
        # Dropout comes from (seed, update) alone: nothing to save, and equal on resuming.
        torch.manual_seed((self.config["seed"] << 32) + self.step)
        self.model.train()
        batch = [self.train[index] for index in self.plan.batch(self.step)]
        padding = self.tokenizer.pad_token_id
        loss, tokens = token_loss(self.model, batch, padding, self.config["precision"])
        (loss / tokens).backward()
        value = loss.item()
        if not math.isfinite(value):
            raise TodflowError(
                f"sft: the loss of update {self.step} is not finite; lower learning_rate"
            )
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config["gradient_clip"])
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.rate(self.step)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.record["loss"] += value
        self.record["tokens"] += tokens
        return value / tokens

    def _evaluate(self, epoch: int) -> None:
        # Saved before the long part, in which a signal ends the process at once.
        with self.stop.shielded():
            self._save()
        self.stop.check()
        scores = self.validate()
        row = {
            "step": self.step,
            "epoch": epoch,
            "train_loss": self.record["loss"] / max(self.record["tokens"], 1),
            "valid_loss": self.valid_loss(),
            **scores,
            "lr": self.plan.rate(self.step - 1),
        }
        log.info("evaluation: %s", row)
        with self.stop.shielded():
            record = self.record
            record["curve"].append(row)
            record["evaluated"] = self.step
            record["loss"], record["tokens"] = 0.0, 0
            best = max((kept[0] for kept in record["kept"]), default=-math.inf)
            record["stale"] = 0 if scores["combined"] > best else record["stale"] + 1
            # The earlier one wins a tie.
            ranked = sorted([*record["kept"], [scores["combined"], self.step]], key=_rank)
            record["kept"] = ranked[: self.config["average"]]
            if [scores["combined"], self.step] in record["kept"]:
                self.state.save_weights(self.step, self.model.state_dict())
            self._save()
        self.stop.check()

    def validate(self) -> dict[str, float]:
        """The evaluator's scores of greedy output on the validation dialogues."""
        return greedy_scores(
            self.model, self.tokenizer, self.valid_rows, self.score, self.config, self.label
        )

    @torch.inference_mode()
    def valid_loss(self) -> float:
        """Mean negative log-likelihood of a validation target token, in fp32."""
        self.model.eval()
        total, tokens = 0.0, 0
        sources = [example.source for example in self.valid]
        for batch in batches.by_length(sources, self.config["valid_batch_turns"]):
            chosen = [self.valid[index] for index in batch]
            loss, count = token_loss(self.model, chosen, self.tokenizer.pad_token_id, "fp32")
            total, tokens = total + loss.item(), tokens + count
        return total / tokens

    def finish(self) -> None:
        """Load the best weights, or the mean of the best few where that validates better."""
        score, step = self.record["kept"][0]
        steps = [kept[1] for kept in self.record["kept"]]
        weights = self.state.load_weights(step)
        chosen = {"steps": [step], "combined": score}
        if len(steps) > 1:
            others = [self.state.load_weights(other) for other in steps]
            mean = {name: sum(part[name] for part in others) / len(others) for name in weights}
            self.model.load_state_dict(mean)
            averaged = self.validate()["combined"]
            log.info("mean of updates %s: combined %.3f; best: %.3f", steps, averaged, score)
            if averaged >= score:
                weights, chosen = mean, {"steps": sorted(steps), "combined": averaged}
        self.model.load_state_dict(weights)
        self.model.config.todflow["checkpoint"] = chosen


def _rank(kept: list) -> tuple[float, int]:
    return -kept[0], kept[1]


def train(
    args: argparse.Namespace, stage_name: str, extra: Path | None, make_scorer: MakeScorer
) -> None:
    """Train, select, save.

    `args` are of `options`, `stage_name` is the dotted name of the module that runs, `extra` a file that
    its evaluator reads, and `make_scorer` takes (evaluator, validation table, extra) to the scorer.
    """
    config = args.config
    require(config, SETTINGS)
    device = backbone.prepare(config["device"], config["threads"])
    check_precision(config["precision"], device)
    inputs = [args.train, args.valid, extra, args.vocabulary]
    inputs += [args.init / name for name in backbone.FILES] if args.init else []
    state = State(args.state, digest(stage_name, config, list(filter(None, inputs))))
    stop = Stop()
    train_rows = turns(read_turns(args.train))
    valid_table = first_dialogues(read_turns(args.valid), config["valid_dialogues"])
    if not train_rows or valid_table.empty:
        raise TodflowError(f"{args.train} or {args.valid} has no turns; prepare the corpus again")
    score = make_scorer(config["evaluator"], valid_table, extra)
    with state.locked():
        if args.init:
            model, tokenizer = backbone.load(args.init, torch.device("cpu"))
        else:
            more = turns(read_turns(args.vocabulary)) if args.vocabulary else []
            model, tokenizer = backbone.build(config["backbone"], [*train_rows, *more], config["seed"])
        model.config.todflow = {
            "acts": has_acts(train_rows),
            "max_source": config["max_source_tokens"],
            "max_target": config["max_new_tokens"],
        }
        trainer = Trainer(
            config,
            model.to(device),
            tokenizer,
            train_rows,
            turns(valid_table),
            score,
            state,
            stop,
            f"sft {args.out}",
        )
        trainer.fit()
        trainer.finish()
        with stop.shielded():
            backbone.save(model, tokenizer, args.out)
            write_text(args.curve, curve_text(trainer.record["curve"]))


def main(args: argparse.Namespace) -> None:
    """Train on In-Car or on the self-play corpus."""
    train(args, "todflow.seq2seq.train", args.entities, scorer)


def options(title: str) -> argparse.ArgumentParser:
    """What every training stage takes."""
    result = stage.parser(title)
    result.add_argument("--train", type=Path, required=True, help="corpus table to learn from")
    result.add_argument("--valid", type=Path, required=True, help="corpus table to select on")
    result.add_argument("--vocabulary", type=Path, help="table whose words and labels count too")
    result.add_argument("--init", type=Path, help="checkpoint to start from, with its tokenizer")
    result.add_argument("--state", type=Path, required=True, help="folder of the unfinished run")
    result.add_argument("--out", type=Path, required=True, help="folder for the checkpoint")
    result.add_argument("--curve", type=Path, required=True, help="evaluations, CSV")
    return result


def _options() -> argparse.ArgumentParser:
    result = options(__doc__.splitlines()[0])
    result.add_argument("--entities", type=Path, help="entity file, where the evaluator has one")
    return result


if __name__ == "__main__":
    stage.run(_options(), main)
