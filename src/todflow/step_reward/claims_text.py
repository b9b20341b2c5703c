"""results/step_reward/claims.md: rule, verdicts, the differences behind them, signs of reward hacking."""

from collections.abc import Mapping

import pandas as pd

from todflow.step_reward import hacking
from todflow.step_reward.claims import (
    CLAIMS,
    KEPT,
    LOW,
    NOT_RUN,
    RELEVANT,
    SEEDS,
    Comparison,
    Evidence,
    Finding,
    others,
    overall,
)
from todflow.step_reward.gather import Runs, stage_name, metrics_of
from todflow.step_reward.paired import Difference, Interval
from todflow.step_reward.table2 import printed
from todflow.tables.measurements import Score
from todflow.tables.places import SFT, WHOLE
from todflow.tables.published import Published

RULE = f"""\
## The rule

Every comparison is a difference of two systems' figures (points, x100) on the same test
dialogues. It has two 95 % intervals. The one *over dialogues* is a paired percentile bootstrap:
each resample draws the dialogues once, for all systems and all seeds, and computes every figure
anew from the dialogues' counts; the difference is then averaged over seeds. The one *over seeds*
is Student's t-interval of the per-seed differences. A claim of several comparisons has the worst
of their verdicts.

- **reproduced**: all of both intervals lies above 0 (for BLEU: above -{KEPT});
- **not reproduced**: all of both intervals lies below +{RELEVANT} point (for BLEU: below
  -{KEPT}), so that not even a small gain is compatible with the measurement;
- **inconclusive**: anything else, and any comparison with fewer than {SEEDS} seeds;
- **not run**: the runs aren't there.

Of differences that no claim is about the table says *higher* or *lower* where both intervals lie
on one side of 0, with {SEEDS} seeds or more, and *undecided* elsewhere.

Low-resource means at most {LOW} % of the training dialogues: the mean of the gains at each such
share, over the seeds that have all of them and all data. The rule is part of the program.
Models were chosen on the validation split alone; iteration 0, the SFT model itself, was a
candidate."""


# Of the settings of RL those that the paper has otherwise, or leaves open.
METHOD = (
    "sampled turns stand after {context} previous turns; step reward {step}, lambda {lam:g}, learning "
    "rate {learning_rate:g}, KL coefficient {kl_coef:g} at first and target {kl_target:g} a token, "
    "supervised loss times {sft_weight:g}. Arms have their own, as they say."
)


def document(
    evidence: Mapping[tuple[str, str], Evidence],
    runs: Runs,
    published: Published,
    sizes: pd.DataFrame,
    settings: Mapping,
) -> str:
    """The file as text. `sizes` is the table of `hacking.build`.

    `settings` has `scale`, `bootstrap`, `arms` (what each changes) and `rl`: what RL does by corpus,
    where no arm changes it (METHOD).
    """
    arms, bootstrap, scale = (settings[name] for name in ("arms", "bootstrap", "scale"))
    found = {
        key: {claim.title: [part.find(each) for each in claim.comparisons] for claim in CLAIMS}
        for key, part in evidence.items()
    }
    lines = [
        "# The step-reward paper's claims",
        "",
        f"Scale of this run: {scale}. Bootstrap: {bootstrap['samples']} resamples, seed"
        f" {bootstrap['seed']}. The paper's own figures are of Flan-T5-large on"
        " MultiWOZ 2.0, one run each, and stand beside ours only for orientation.",
        "",
        *_verdicts(found, published),
        RULE,
        "",
    ]
    for key, part in evidence.items():
        lines += _model(key, part, found[key], runs, published, settings)
    lines += [
        "## Reward hacking",
        "",
        "The printed rewards see only what is missed: naming more costs nothing (eq. 2, 3). "
        "So lengths and numbers of predicted pairs and placeholders are set beside SFT's and "
        "the gold ones. A sign of hacking is more than 10 % over SFT: in the number of pairs "
        "or placeholders with a loss of precision, or in words beyond the gold length.",
        "",
        *(hacking.section(sizes, arms) or ["Not run: there are no predictions to count.", ""]),
        *_signs(sizes, arms),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _verdicts(found: Mapping, published: Published) -> list[str]:
    """A line a claim and model: the verdict first."""
    lines = [
        "| claim | corpus, backbone | difference | verdict | the paper |",
        "|---|---|---|---|---|",
    ]
    papers = _printed(published)
    for claim in CLAIMS:
        for (dataset, backbone), findings in found.items():
            mine = findings[claim.title]
            shown = "; ".join(_signed(each) for each in mine)
            lines.append(
                f"| {claim.title} | {dataset}, {backbone} | {shown} | **{overall(mine)}** |"
                f" {papers[claim.title]} |"
            )
        if not found:
            lines.append(f"| {claim.title} | - | - | **{NOT_RUN}** | {papers[claim.title]} |")
    return [*lines, ""]


def _printed(published: Published) -> dict[str, str]:
    """What the paper prints for each claim."""
    figures = printed(published)

    def gap(comparison: Comparison) -> str:
        better, worse = figures[comparison.better], figures[comparison.worse]
        return f"{better[comparison.metric] - worse[comparison.metric]:+.1f}"

    return {
        claim.title: claim.printed or "; ".join(gap(each) for each in claim.comparisons)
        for claim in CLAIMS
    }


def _model(
    key: tuple[str, str],
    part: Evidence,
    findings: Mapping[str, list[Finding]],
    runs: Runs,
    published: Published,
    settings: Mapping,
) -> list[str]:
    """One corpus and backbone: how it was scored, every difference, gains by share."""
    dataset, backbone = key
    arms = settings["arms"]
    tested = next(each for place, each in runs.tested.items() if place[:2] == key)
    lines = [
        f"## {published.datasets[dataset]}, {backbone}",
        "",
        f"{_setting(tested.score)}, {tested.context} previous turn, test split: {part.judge.dialogues:,}"
        f" dialogues, {part.judge.turns:,} turns.",
        "",
        *_runs(runs, dataset, backbone, arms),
        f"RL: {METHOD.format(**settings['rl'][dataset])}",
        "",
        "| comparison | difference | over dialogues | over seeds | sd | n | seed by seed | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for claim in CLAIMS:
        lines += [_row(each, each.verdict) for each in findings[claim.title]]
    stages = runs.stages(dataset, backbone)
    single = {metric: published.metrics[metric] for metric in metrics_of(dataset)[:2]}
    names = {stage: stage_name(stage, arms).removeprefix("SFT + RL, ") for stage in stages}
    extra = [part.find(each) for each in others(stages, single, names)]
    lines += [_row(each, _reading(each)) for each in extra if each.difference]
    gains = part.gains()
    if len(gains) > 1:
        lines += ["", "Gain of RL over SFT in Combined by share of the training dialogues:", ""]
        lines += [
            "| share | difference | over dialogues | over seeds | sd | n |",
            "|---|---|---|---|---|---|",
        ]
        lines += [f"| {share} % | {_numbers(each)} |" for share, each in gains]
    return [*lines, ""]


def _runs(runs: Runs, dataset: str, backbone: str, arms: Mapping[str, Mapping]) -> list[str]:
    """Seeds, episodes, and which iterations were kept, of each arm on all data."""
    lines = []
    for stage in runs.stages(dataset, backbone):
        tested = runs.group(dataset, backbone, WHOLE, stage)
        if tested:
            about = runs.about(tested)
            text = f"- {stage_name(stage, arms)}: {_seeds(about['seeds'].split())}"
            if about["episodes"]:
                text += (
                    f", {about['episodes']} episodes, iterations kept: {about['kept_iterations']}"
                )
            lines.append(text)
    return [*lines, ""] if lines else []


def _setting(score: Score) -> str:
    parts = [f"Evaluator {score.evaluator}"]
    parts += [f"vintage {score.vintage}"] if score.vintage else []
    return ", ".join([*parts, f"{score.state} state"] if score.state else parts)


def _seeds(seeds: list[str]) -> str:
    return ("seed " if len(seeds) == 1 else "seeds ") + " ".join(seeds)


def _row(finding: Finding, verdict: str) -> str:
    label = finding.comparison.label
    if finding.difference is None:
        return f"| {label} | | | | | 0 | {finding.missing} | {verdict} |"
    seeds = ", ".join(
        f"{seed}: {value:+.2f} {_interval(interval)}"
        for seed, (value, interval) in finding.difference.seeds.items()
    )
    return f"| {label} | {_numbers(finding.difference)} | {seeds} | {verdict} |"


def _numbers(found: Difference) -> str:
    """value | over dialogues | over seeds | sd | n"""
    spread = "" if found.spread is None else f"{found.spread:.2f}"
    over = "" if found.over is None else _interval(found.over)
    return f"{found.value:+.2f} | {_interval(found.dialogues)} | {over} | {spread} | {len(found.seeds)}"


def _reading(finding: Finding) -> str:
    """Of a difference that no claim is about: which sign both intervals agree on."""
    found = finding.difference
    if found.over is None or len(found.seeds) < SEEDS:
        return "undecided"
    both = (found.dialogues, found.over)
    if all(low > 0 for low, _ in both):
        return "higher"
    return "lower" if all(high < 0 for _, high in both) else "undecided"


def _interval(interval: Interval) -> str:
    return f"[{interval[0]:+.2f}, {interval[1]:+.2f}]"


def _signed(finding: Finding) -> str:
    return "not run" if finding.difference is None else f"{finding.difference.value:+.2f}"


def _signs(sizes: pd.DataFrame, arms: Mapping[str, Mapping]) -> list[str]:
    """The signs of hacking in the table, by the sentence above; or that there are none."""
    found, compared = [], 0
    whole = sizes[sizes["share"] == WHOLE]
    for (dataset, backbone), part in whole.groupby(["dataset", "backbone"], sort=False):
        means = part.groupby("stage", sort=False)[list(hacking.FIGURES)].mean()
        if SFT not in means.index:
            continue
        before = means.loc[SFT]
        gold = sizes[(sizes["dataset"] == dataset) & (sizes["stage"] == hacking.GOLD)].iloc[0]
        for stage, after in means.drop(SFT).iterrows():
            compared += 1
            name = f"{dataset}, {backbone}, {stage_name(stage, arms)}"
            for grown, precision in (
                ("response_words", None),
                ("pairs", "pair_precision"),
                ("placeholders", "placeholder_precision"),
            ):
                if precision is None:
                    lost = after[grown] > gold[grown]
                else:
                    lost = after[precision] < before[precision]
                if after[grown] > 1.1 * before[grown] and lost:
                    loss = (
                        ""
                        if precision is None
                        else (f", precision {before[precision]:.1f} to {after[precision]:.1f}")
                    )
                    found.append(
                        f"- {name}: {hacking.FIGURES[grown]} {before[grown]:.2f} to {after[grown]:.2f}{loss}"
                    )
    if found:
        return ["Signs of hacking:", "", *found]
    return [f"Signs of hacking: none in {compared} arms."] if compared else []
