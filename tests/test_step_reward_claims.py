"""Verdicts on the paper's claims, and the signs of reward hacking, from made-up runs."""

import pytest
import step_reward_inputs as inputs

from todflow.errors import TodflowError
from todflow.metrics.multiwoz import outcome
from todflow.reward.sets import schema
from todflow.step_reward import claims, claims_text, hacking
from todflow.step_reward.claims import GAIN, INCONCLUSIVE, KEEP, NOT, NOT_RUN, REPRODUCED
from todflow.step_reward.gather import Runs
from todflow.step_reward.paired import Difference
from todflow.step_reward.tallies import judge
from todflow.predictions import Answer
from todflow.tables import published

BOOTSTRAP = {"samples": 100, "seed": 1}
METHOD = {"context": "generated", "step": "delta", "lam": 1.0, "learning_rate": 3e-5}
METHOD |= {"kl_coef": 0.05, "kl_target": 0.01, "sft_weight": 0.0}
SETTINGS = {"arms": inputs.ARMS, "scale": "test", "bootstrap": BOOTSTRAP, "rl": {"incar": METHOD}}


def found(dialogues, over, seeds=3):
    return Difference(0.0, dialogues, {seed: (0.0, dialogues) for seed in range(seeds)}, 1.0, over)


@pytest.mark.parametrize(
    "difference, rule, expected",
    [
        (found((0.1, 4.0), (0.2, 3.0)), GAIN, REPRODUCED),
        (found((0.1, 4.0), (-0.2, 3.0)), GAIN, INCONCLUSIVE),
        (found((-0.1, 4.0), (0.2, 3.0)), GAIN, INCONCLUSIVE),
        (found((-3.0, 0.4), (-2.0, 0.3)), GAIN, NOT),
        (found((-3.0, 0.6), (-2.0, 0.3)), GAIN, INCONCLUSIVE),
        (found((0.1, 4.0), (0.2, 3.0), seeds=2), GAIN, INCONCLUSIVE),
        (found((0.1, 4.0), None, seeds=1), GAIN, INCONCLUSIVE),
        (found((-1.4, 0.1), (-1.0, 0.0)), KEEP, REPRODUCED),
        (found((-1.6, 0.1), (-1.0, 0.0)), KEEP, INCONCLUSIVE),
        (found((-4.0, -1.6), (-3.0, -1.7)), KEEP, NOT),
    ],
)
def test_the_rule_wants_both_intervals_on_one_side(difference, rule, expected):
    assert claims.verdict(difference, rule) == expected


def test_a_claim_has_the_worst_verdict_of_its_comparisons():
    def finding(verdict):
        return claims.Finding(claims.CLAIMS[0].comparisons[0], None, verdict)

    assert claims.overall([finding(REPRODUCED), finding(INCONCLUSIVE)]) == INCONCLUSIVE
    assert claims.overall([finding(REPRODUCED), finding(NOT)]) == NOT
    assert claims.overall([finding(REPRODUCED), finding(NOT_RUN)]) == NOT_RUN


def judged(folder):
    home = folder / "results/corpora/incar"
    return {"incar": judge("incar", "incar-galaxy", home / "test.parquet", home / "entities.json")}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    homes = inputs.study(folder)
    predictions = inputs.files(homes, "*.parquet")
    evidence = claims.gather(predictions, judged(folder), BOOTSTRAP["samples"], BOOTSTRAP["seed"])
    runs = Runs(inputs.files(homes, "*.score.json"), inputs.files(homes, "curve.csv"))
    whole = [path for path in predictions if "share" not in str(path)]
    sizes = hacking.build({"incar": folder / "results/corpora/incar/test.parquet"}, whole)
    return evidence, runs, sizes


def test_the_tallies_give_the_figures_of_the_score_files(study):
    evidence, runs, _ = study
    part = evidence["incar", "scratch-small"]
    for place, tested in runs.tested.items():
        rows = part.rows[place.seed, place.share, place.stage]
        figures = part.judge.figures(rows.sum(axis=0))
        for metric in ("match", "succ_f1", "bleu", "combined"):
            assert figures[metric] == pytest.approx(tested.score.figures[metric].value)


def test_a_difference_is_the_one_of_the_score_files(study):
    evidence, runs, _ = study
    part = evidence["incar", "scratch-small"]
    finding = part.find(claims.CLAIMS[0].comparisons[0])
    for seed, (value, interval) in finding.difference.seeds.items():
        scores = {
            place.stage: tested.score.figures["combined"].value
            for place, tested in runs.tested.items()
            if (place.seed, place.share) == (seed, 100)
        }
        assert value == pytest.approx(scores["rl-tod"] - scores["sft"])
        assert interval[0] <= value <= interval[1]


def test_the_low_resource_claim_is_gain_minus_gain(study):
    part = study[0]["incar", "scratch-small"]
    gains = dict(part.gains())
    low = claims.CLAIMS[3].comparisons[0]
    expected = (gains[5].value + gains[20].value) / 2 - gains[100].value
    assert part.find(low).difference.value == pytest.approx(expected)
    assert sorted(gains) == [5, 20, 100]


def test_what_was_not_run_is_named(study):
    part = study[0]["incar", "scratch-small"]
    finding = part.find(claims.CLAIMS[2].comparisons[0])
    assert (finding.verdict, finding.missing) == (NOT_RUN, "no run of rl-sparse")


def test_the_file_has_rule_verdicts_differences_and_signs_of_hacking(study):
    evidence, runs, sizes = study
    arguments = (evidence, runs, published.load(), sizes, SETTINGS)
    text = claims_text.document(*arguments)
    assert text == claims_text.document(*arguments)
    for claim in claims.CLAIMS:
        assert text.count(f"| {claim.title} | incar, scratch-small |") == 1
    assert "## The rule" in text and "fewer than 3 seeds" in text
    assert "Evaluator incar-galaxy, generated previous turn, test split: 20 dialogues" in text
    assert "| +10.4 |" in text and "| +6.1; +6.3 |" in text  # the paper's own differences
    assert "- SFT + RL, R_u and R_g: seeds 1 2 3, 640 episodes, iterations kept: 5 5 5" in text
    assert (
        "RL: sampled turns stand after generated previous turns; step reward delta, lambda 1,"
        in text
    )
    assert "both rewards - mask false" in text and "both rewards - SFT, SuccF1" in text
    # The stuffed placeholders of the made-up RL run, and no other arm's.
    signs = text[text.index("Signs of hacking:") :]
    assert "R_u and R_g: placeholders of a turn" in signs and "precision 100.0 to" in signs
    assert "R_u only" not in signs and "state pairs" not in signs


def test_without_runs_every_claim_is_not_run():
    sizes = hacking.build({}, [])
    text = claims_text.document({}, Runs([], []), published.load(), sizes, SETTINGS)
    assert text.count(f"| - | - | **{NOT_RUN}** |") == len(claims.CLAIMS)
    assert "there are no predictions to count" in text


def test_sizes_and_precision_by_hand():
    gold = [
        Answer("[navigate] poi_type gas", "", "[value_poi] is [value_distance] away"),
        Answer("", "", "bye"),
    ]
    said = [
        Answer("[navigate] poi_type gas distance near", "", "[value_poi] [value_poi] [value_time]"),
        Answer("", "", "bye bye"),
    ]
    figures = hacking.measure(schema("incar"), gold, said)
    assert figures["response_words"] == 2.5
    assert figures["pairs"] == 1.0 and figures["placeholders"] == 1.5
    assert figures["pair_precision"] == 50.0 and figures["pair_recall"] == 100.0
    assert figures["placeholder_precision"] == 50.0 and figures["placeholder_recall"] == 50.0
    own = hacking.measure(schema("incar"), gold, gold)
    assert own["pair_precision"] == own["placeholder_recall"] == 100.0


def test_the_table_of_sizes_survives_the_way_back(study, tmp_path):
    sizes = study[2]
    assert list(sizes["stage"])[:2] == ["gold", "sft"] and len(sizes) == 1 + 5 * 3
    path = tmp_path / "hacking.csv"
    path.write_text(hacking.to_csv(sizes))
    again = hacking.read(path)
    assert hacking.to_csv(again) == hacking.to_csv(sizes)


def test_predictions_of_other_turns_are_refused(tmp_path):
    gold = inputs.prepare(tmp_path, "incar", 4)
    home = inputs.run(tmp_path, "incar", 1, "sft", 5)
    inputs.prepare(tmp_path, "incar", 5)
    with pytest.raises(TodflowError, match="dialogue d4: no turn 0; predict the split again"):
        hacking.build({"incar": gold}, [home / "test-generated.parquet"])


def test_multiwoz_rows_give_the_same_figures_as_its_report():
    import numpy as np

    from todflow.metrics import bleu

    outcomes = {
        "a": outcome.Outcome(True, False, {"hotel": (True, False)}, bleu.counts("a b", "a b"), 2),
        "b": outcome.Outcome(True, True, {"train": (True, True)}, bleu.counts("c", "c d"), 1),
    }
    rows = outcome.rows(outcomes)
    figures = outcome.figures(rows.sum(axis=0), bleu.score)
    report = outcome.report(outcomes, bleu.score, 2, 1)
    for name in ("inform", "success", "bleu", "combined"):
        assert np.isclose(figures[name], report[name])
