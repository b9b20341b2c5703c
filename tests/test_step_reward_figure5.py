"""Figure 5: which turn is shown, and the rewards after each of its tokens."""

import matplotlib
import pandas as pd
import pytest
import step_reward_inputs as inputs
from matplotlib.backends.backend_agg import FigureCanvasAgg

from todflow.errors import TodflowError
from todflow.seq2seq.sequences import labels, target_text, turns
from todflow.seq2seq.tokenizer import train_tokenizer
from todflow.step_reward import figure5, figure5_plot
from todflow.tables import svg

OPTIONS = {"alpha": 1.0, "beta": 1.0, "informables": "cumulative"}
OPTIONS |= {"requestables": "ontology", "fp_penalty": False}


def traced(folder, dataset, right=5):
    gold = inputs.prepare(folder, dataset)
    home = inputs.run(folder, dataset, 1, "rl-tod", right)
    rows = turns(inputs.corpus(dataset))
    texts = [target_text(row.gold, dataset != "incar") for row in rows]
    train_tokenizer(texts, labels(rows), 300).save_pretrained(home)
    return figure5.trace(gold, home / "test-generated.parquet", home, OPTIONS)


@pytest.fixture(scope="module")
def selfplay(tmp_path_factory):
    return traced(tmp_path_factory.mktemp("selfplay"), "selfplay")


def test_the_first_turn_with_most_found_is_shown(selfplay):
    # The second turn of the first dialogue that the run gets right: two pairs, two and two slots.
    first = next(number for number in range(20) if (number * 7 + 5) % 11 < 6)
    assert set(selfplay["dialogue_id"]) == {f"d{first}"} and set(selfplay["turn"]) == {1}
    wanted = selfplay.groupby("panel", sort=False)[["pairs_wanted", "requests_wanted"]].first()
    assert wanted.to_numpy().tolist() == [[2, 2], [2, 2], [2, 4]]


def test_rewards_grow_to_one_in_each_panel_and_follow_the_equations(selfplay):
    for panel, rows in selfplay.groupby("panel", sort=False):
        assert rows["reward_tod"].is_monotonic_increasing, panel
        assert rows[["reward_u", "reward_g", "reward_tod"]].iloc[-1].tolist() == [1, 1, 1]
        assert rows["position"].tolist() == list(range(len(rows)))
    whole = selfplay[selfplay["panel"] == "DST+DPL+RG"].set_index("token")
    assert whole.loc["▁food", "reward_u"] == pytest.approx(0.303265, abs=1e-6)
    assert whole.loc["▁<eos_b>", "reward_tod"] == pytest.approx(2 / 6)
    tokens = {panel: set(rows["token"]) for panel, rows in selfplay.groupby("panel")}
    assert "▁<sos_r>" not in tokens["DST+DPL"] and "▁<sos_a>" not in tokens["DST+RG"]


def test_a_corpus_without_acts_has_no_dpl_part(tmp_path):
    table = traced(tmp_path, "incar")
    empty = table[table["position"].isna()]
    assert list(empty["panel"]) == ["DST+DPL", "DST+DPL+RG"]
    assert set(empty["note"]) == {figure5.NO_ACTS}
    assert len(table) > 5


def test_the_most_rewarded_turn_stands_in_where_none_is_whole(tmp_path):
    table = traced(tmp_path, "selfplay", right=-1)
    assert set(table["dialogue_id"]) == {"d0"}
    assert (table["reward_tod"].dropna() < 1).all()


def test_answers_that_are_all_too_long_are_no_figure_and_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(figure5, "LONGEST", 3)
    table = traced(tmp_path, "selfplay")
    assert len(table) == 3 and "no answer of at most 3 tokens" in table["note"].iloc[0]


def test_a_segment_is_cut_out_with_its_markers():
    class Ids:
        def encode(self, word, add_special_tokens):
            return [{"<sos_a>": 3, "<eos_a>": 4}[word]]

    act = ("<sos_a>", "<eos_a>")
    assert figure5.without([1, 2, 3, 9, 4, 5], act, Ids()) == [1, 2, 5]
    assert figure5.without([1, 2, 3, 9], act, Ids()) == [1, 2]
    assert figure5.without([1, 2], act, Ids()) == [1, 2]
    assert figure5.without([3, 4], None, Ids()) == [3, 4]


def test_predictions_of_another_length_are_refused(tmp_path):
    gold = inputs.prepare(tmp_path, "incar", 4)
    home = inputs.run(tmp_path, "incar", 1, "rl-tod", 5)
    inputs.prepare(tmp_path, "incar", 5)
    with pytest.raises(TodflowError, match="8 turns of 10; predict again"):
        figure5.trace(gold, home / "test-generated.parquet", home, OPTIONS)


def test_the_picture_has_the_tokens_on_its_axes_and_is_the_same_bytes_again(selfplay, tmp_path):
    (tmp_path / "figure5.csv").write_text(figure5.to_csv(selfplay))
    table = figure5_plot.read(tmp_path / "figure5.csv")
    for name in ("one.svg", "two.svg"):
        svg.save(figure5_plot.draw(table), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    figure = figure5_plot.draw(table)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    for axes in figure.axes:
        boxes = [label.get_window_extent(renderer) for label in axes.get_xticklabels()]
        assert all(left.x1 <= right.x0 + 1 for left, right in zip(boxes, boxes[1:]))
    texts = {text.get_text() for text in figure.findobj(matplotlib.text.Text)}
    assert {"[value_phone]", "<eos_b>", "[inform]", "state", "act", "response"} <= texts


def test_a_figure_without_a_run_says_why(tmp_path):
    (tmp_path / "figure5.csv").write_text(figure5.to_csv(figure5.empty("Not run: no corpus.")))
    figure = figure5_plot.draw(figure5_plot.read(tmp_path / "figure5.csv"))
    texts = [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
    assert texts.count("Not run: no corpus.") == 3 and not figure.axes


def test_words_that_read_like_nothing_stay_words(tmp_path):
    table = pd.DataFrame(
        [{"panel": "DST+RG", "position": 0, "token": "nan", "reward_u": 0.5}],
        columns=list(figure5.COLUMNS),
    )
    (tmp_path / "t.csv").write_text(figure5.to_csv(table))
    assert figure5_plot.read(tmp_path / "t.csv")["token"].tolist() == ["nan"]
