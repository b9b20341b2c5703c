"""Table 2, Figure 3 and the RL curve, from made-up runs."""

import matplotlib
import pandas as pd
import pytest
import step_reward_inputs as inputs

from todflow.errors import TodflowError
from todflow.step_reward import figure3, rl_curve, rl_curve_plot, table2
from todflow.step_reward.gather import Runs
from todflow.tables import published, svg, table1

PUBLISHED = published.load()


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    return inputs.study(tmp_path_factory.mktemp("study"))


def gathered(homes):
    return Runs(inputs.files(homes, "*.score.json"), inputs.files(homes, "curve.csv"))


@pytest.fixture(scope="module")
def whole(homes):
    return gathered([home for home in homes if "share" not in str(home)])


@pytest.fixture(scope="module")
def shares(homes):
    return gathered([home for home in homes if "share" in str(home)])


def words(figure):
    figure.canvas.draw()
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_text()]


def test_table2_has_the_printed_rows_first_and_every_arm_over_its_seeds(whole):
    table = table2.build(PUBLISHED, whole, inputs.ARMS, ["tod", "u", "g", "nomask"], "test")
    printed = table[table["status"] == "published"]
    assert list(printed["system"]) == ["Ours", "-R_u", "-R_g", "-R_u-R_g"]
    assert list(printed["combined"]) == ["111.5", "105.2", "105.4", "101.1"]
    assert set(printed["dataset"]) == {"multiwoz20"} and set(printed["match"]) == {""}
    ours = table[table["status"] != "published"].set_index("stage")
    assert list(ours.index) == ["sft", "rl-tod", "rl-u", "rl-g", "rl-sparse", "rl-nomask"]
    values = [
        tested.score.figures["combined"].value
        for place, tested in whole.tested.items()
        if place.stage == "rl-tod"
    ]
    row = ours.loc["rl-tod"]
    assert float(row["combined"]) == pytest.approx(sum(values) / 3, abs=0.005)
    assert float(row["combined_sd"]) == pytest.approx(pd.Series(values).std(), abs=0.005)
    assert (row["n"], row["seeds"], row["episodes"]) == ("3", "1 2 3", "640")
    assert (row["evaluator"], row["context"], row["dialogues"]) == (
        ("incar-galaxy", "generated", "20")
    )
    assert row["kept_iterations"] == "5 5 5" and row["inform"] == ""
    empty = ours.loc["rl-sparse"]
    assert (empty["combined"], empty["status"]) == ("", "not_run")
    assert "step_reward.table2.arms hasn't this arm" in empty["note"]
    assert ours.loc["rl-nomask"]["system"] == "SFT + RL, mask false"


def test_table2_says_when_validation_kept_the_sft_model(tmp_path):
    inputs.prepare(tmp_path, "incar")
    homes = [inputs.run(tmp_path, "incar", 1, stage, 5) for stage in ("sft", "rl-tod")]
    curve = pd.read_csv(homes[1] / "curve.csv")
    curve.loc[0, "combined"] = 200.0
    curve.to_csv(homes[1] / "curve.csv", index=False)
    table = table2.build(PUBLISHED, gathered(homes), inputs.ARMS, ["tod"], "test")
    note = table[table["stage"] == "rl-tod"]["note"].iloc[-1]
    assert "kept the SFT model itself in 1 of 1 runs" in note and "One seed: no spread" in note


def test_table2_without_runs_has_empty_rows_with_the_reason():
    table = table2.build(PUBLISHED, Runs([], []), inputs.ARMS, [], "test")
    empty = table[table["status"] == "not_run"]
    assert len(empty) == 5 and (empty["combined"] == "").all()
    assert set(empty["note"]) == {"Not run: no corpus of step_reward.table2 is in this run."}


def test_two_scores_of_one_run_are_refused(homes):
    score = inputs.files(homes[:1], "*.score.json")
    with pytest.raises(TodflowError, match="a second score of one run"):
        Runs(score * 2, [])


def test_figure3_has_a_line_for_each_stage_share_and_metric(shares, tmp_path):
    sizes = {("incar", seed, share): 24 * share for seed in (1, 2, 3) for share in (5, 20)}
    table = figure3.build(shares, sizes, inputs.ARMS, "test")
    assert len(table) == 2 * 2 * 4
    row = table[(table["share"] == "5") & (table["stage"] == "sft")].iloc[0]
    assert (row["metric"], row["training_dialogues"], row["n"]) == ("match", "120", "3")
    assert row["sd"] != "" and "prints no numbers" in row["note"]
    (tmp_path / "figure3.csv").write_text(table1.to_csv(table))
    read = figure3.read(tmp_path / "figure3.csv")
    for name in ("one.svg", "two.svg"):
        svg.save(figure3.draw(read, PUBLISHED), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    drawn = words(figure3.draw(read, PUBLISHED))
    assert {"Match", "SuccF1", "BLEU", "Combined", "5 %\n120", "20 %\n480"} <= set(drawn)
    with pytest.raises(TodflowError, match="draw the subsets"):
        figure3.build(shares, sizes | {("incar", 2, 5): 7}, inputs.ARMS, "test")


def test_figure3_without_runs_says_so():
    table = figure3.build(Runs([], []), {}, inputs.ARMS, "test")
    assert "no corpus of step_reward.figure3" in table["note"].iloc[0]
    assert any("nothing was run" in text for text in words(figure3.draw(table, PUBLISHED)))


def test_the_sizes_of_subsets_are_their_dialogues(tmp_path):
    path = tmp_path / "incar/subsets/seed2-share05.parquet"
    path.parent.mkdir(parents=True)
    inputs.corpus("incar", 7).to_parquet(path)
    assert figure3.sizes([path]) == {("incar", 2, 5): 7}
    with pytest.raises(TodflowError, match="isn't seed<seed>-share"):
        figure3.sizes([tmp_path / "incar/train.parquet"])


@pytest.mark.parametrize("rates", [("match", "succ_f1"), ("inform", "success")])
def test_the_rl_curve_shows_all_of_a_run(tmp_path, rates):
    curve = rl_curve.read_curve(inputs.curve(tmp_path / "curve.csv", rates=rates))
    assert rl_curve.chosen(curve) == 5
    drawn = words(rl_curve_plot.draw(curve, "a run"))
    assert {panel.title for panel in rl_curve_plot.PANELS} <= set(drawn)
    assert "640 episodes; kept: iteration 5 (dotted), Combined 102.00, SFT's 100.00" in drawn
    assert ("Inform" in drawn) == (rates[0] == "inform")


def test_the_rl_curve_of_a_run_that_stopped_at_once_is_drawn(tmp_path):
    curve = pd.read_csv(inputs.curve(tmp_path / "curve.csv")).head(1)
    curve.to_csv(tmp_path / "curve.csv", index=False)
    drawn = words(rl_curve_plot.draw(rl_curve.read_curve(tmp_path / "curve.csv"), "a run"))
    assert "nothing measured" in drawn and any("the SFT model itself" in text for text in drawn)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda text: text.replace("kl_coef", "coef"), "no column 'kl_coef'"),
        (lambda text: text.splitlines()[0] + "\n", "no line"),
        (lambda text: text.replace("0.61,", "low,"), "column 'reward_u' holds a word"),
    ],
)
def test_a_broken_rl_curve_is_named(tmp_path, change, message):
    path = inputs.curve(tmp_path / "curve.csv")
    path.write_text(change(path.read_text()))
    with pytest.raises(TodflowError, match=f"curve.csv: {message}"):
        rl_curve.read_curve(path)
