"""The tidy table: which figure stands where, and what never stands anywhere."""

import pytest
import tables_inputs as inputs

from todflow.errors import TodflowError
from todflow.tables import published, table1
from todflow.tables.seeds import t_interval, t_quantile

PUBLISHED = published.load()


UNDEFINED = {"value": None, "n": 0, "ci": None, "interval": "bootstrap"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def build(scores=(), simulations=(), **changes):
    return inputs.build(PUBLISHED, list(scores), list(simulations), **changes)


def cell(table, system, metric, dataset="simulation"):
    found = table[
        (table["system"] == system) & (table["dataset"] == dataset) & (table["metric"] == metric)
    ].to_dict("records")
    assert len(found) == 1
    return found[0]


def test_every_row_of_the_papers_stands_in_the_papers_order():
    table = build()
    assert list(table.columns) == table1.COLUMNS
    paper_rows = table[table["system"].isin({s.name for t in PUBLISHED.tables for s in t.systems})]
    # Table 1: 14 x 12 and 7 x 7; Table 2: 3 x 4; human studies: 3 x 2 and 2 x 3; and four empty
    # cells for each of the six quoted systems whose outputs are public.
    assert len(paper_rows) == 168 + 12 + 6 + 49 + 6 + 6 * 4
    # Our own: DAMD's outputs, four SFT rows of seven metrics and six of six, ConvLab-3's eight.
    assert len(table) - len(paper_rows) == 4 + 4 * 7 + 6 * 6 + 8
    assert list(dict.fromkeys(table["paper"])) == ["step_reward", "react"]
    for paper in ("step_reward", "react"):
        systems = list(dict.fromkeys(table[table["paper"] == paper]["system"]))
        named = dict.fromkeys(
            s.name for t in PUBLISHED.tables if t.paper == paper for s in t.systems
        )
        assert systems[: len(named)] == list(named)
    keys = table[["paper", "system", "dataset", "metric", "status", "evaluator"]]
    assert not keys.duplicated().any()


def test_without_measurements_nothing_is_reproduced():
    table = build()
    assert set(table["status"]) == {"published_only", "not_run"}
    for column in ("reproduced", "ci_low", "ci_high", "n", "seeds", "scale", "provenance"):
        assert set(table[column]) == {""}


def test_empty_cells_say_why():
    outputs = inputs.outputs("no folder is given", pptod="multiwoz20")
    outputs["pptod"]["missing"] = ""
    table = build(
        [inputs.score(), inputs.score("incar", seed=1)],
        [inputs.simulation()],
        rescored=[inputs.rescored()],
        outputs=outputs,
    )
    assert set(table["status"]) == set(table1.STATUSES)
    empty = table[(table["published"] == "") & (table["reproduced"] == "")]
    waiting = table[(table["reproduced"] == "") & (table["status"] != "published_only")]
    assert len(empty) and len(waiting)
    assert (empty["note"] != "").all()
    assert (waiting["note"] != "").all()


def test_the_headline_setting_stands_in_the_papers_row_and_the_other_does_not():
    table = build(simulations=[inputs.simulation("convlab2"), inputs.simulation("convlab3")])
    row = cell(table, "HDC (semantic level)", "turns")
    assert row["published"] == "10.6" and row["reproduced"] == "10.67"
    assert (row["ci_low"], row["ci_high"], row["n"]) == ("9.67", "11.67", "1000")
    assert (row["status"], row["evaluator"], row["scale"]) == ("reproduced", "convlab2", "embedded")
    assert row["seeds"] == "20200202"
    assert row["provenance"] == "results/simulate/hdc/convlab2/metrics.json"
    other = cell(table, "HDC (semantic level), ConvLab-3 native", "success_strict")
    assert (other["published"], other["status"]) == ("", "reproduced")
    assert other["evaluator"] == "convlab3"


def test_fewer_dialogues_than_the_papers_never_fill_its_row():
    table = build(simulations=[inputs.simulation(n=20), inputs.simulation("convlab3", n=20)])
    row = cell(table, "HDC (semantic level)", "success")
    assert (row["published"], row["reproduced"], row["status"]) == ("97.3", "", "not_run")
    assert "20 of 1000 dialogues" in row["note"]
    short = cell(table, "HDC (semantic level), short run", "success")
    assert (short["published"], short["reproduced"], short["status"]) == ("", "97.40", "stand_in")
    native = cell(table, "HDC (semantic level), ConvLab-3 native", "success")
    assert native["status"] == "stand_in"


def test_stand_ins_and_measurements_never_mix_with_the_papers_rows():
    scores = [
        inputs.score(dataset, backbone, seed, context)
        for dataset in ("selfplay", "incar")
        for backbone in ("scratch-small", "scratch-tiny", "flan-t5-base")
        for seed in (1, 2)
        for context in ("generated", "gold")
    ]
    table = build(scores, [inputs.simulation(n=7)])
    stand_ins = table[table["status"] == "stand_in"]
    assert len(stand_ins) and (stand_ins["published"] == "").all()
    in_paper_rows = table[table["published"] != ""]
    assert (in_paper_rows["reproduced"] == "").all()
    # Flan-T5 on In-Car is the paper's model on the paper's corpus; anything else stands in.
    real = table[(table["status"] == "reproduced")]
    assert set(real["system"]) == {"SFT flan-t5-base", "SFT flan-t5-base (gold context)"}
    assert set(real["dataset"]) == {"incar"}
    assert (real["published"] == "").all()
    assert "SFT scratch-tiny" in set(stand_ins["system"])


def test_one_seed_has_the_files_interval():
    row = cell(build([inputs.score()]), "SFT scratch-small", "match", "selfplay")
    assert (row["reproduced"], row["ci_low"], row["ci_high"]) == ("70.00", "68.00", "72.50")
    assert (row["n"], row["seeds"]) == ("38", "1")
    assert "One seed; 95 % bootstrap interval" in row["note"]
    row = cell(build([inputs.score()]), "SFT scratch-small", "joint_goal_accuracy", "selfplay")
    assert (row["reproduced"], row["ci_low"], row["n"]) == ("50.00", "48.00", "300")
    row = cell(build([inputs.score(ci={})]), "SFT scratch-small", "match", "selfplay")
    assert (row["reproduced"], row["ci_low"], row["ci_high"]) == ("70.00", "", "")
    assert "no interval" in row["note"]


def test_several_seeds_have_a_mean_and_a_t_interval():
    files = [
        inputs.score(seed=seed, match=float(match)) for seed, match in ((10, 72), (2, 70), (1, 68))
    ]
    row = cell(build(files), "SFT scratch-small", "match", "selfplay")
    # sd 2, n 3: 70 +- 4.302653 * 2 / sqrt(3)
    assert (row["reproduced"], row["ci_low"], row["ci_high"]) == ("70.00", "65.03", "74.97")
    assert row["seeds"] == "1 2 10"
    assert "Mean of 3 seeds; 95 % t-interval over seeds." in row["note"]
    assert row["provenance"].split() == [
        f"results/selfplay/scratch-small/seed{seed}/sft/test-generated.selfplay.score.json"
        for seed in (1, 2, 10)
    ]


def test_the_gold_context_is_a_system_of_its_own():
    table = build([inputs.score(), inputs.score(context="gold", bleu=30.0)])
    assert cell(table, "SFT scratch-small", "bleu", "selfplay")["reproduced"] == "20.00"
    assert (
        cell(table, "SFT scratch-small (gold context)", "bleu", "selfplay")["reproduced"] == "30.00"
    )


def test_undefined_figures_are_empty_with_a_reason():
    table = build([inputs.score("incar")], [inputs.simulation(book=UNDEFINED)])
    assert "no dialogue acts" in cell(table, "SFT scratch-small", "act_f1", "incar")["note"]
    row = cell(table, "HDC (semantic level)", "book")
    assert (row["reproduced"], row["n"]) == ("", "0") and "Undefined" in row["note"]


def test_unlisted_settings_stand_in():
    row = cell(build(simulations=[inputs.simulation("mine")]), "hdc/mine", "turns")
    assert (row["status"], row["published"], row["evaluator"]) == (
        "stand_in",
        "",
        "mine (unlisted)",
    )


@pytest.mark.parametrize(
    "setting, definition, system",
    [
        ("convlab2", {"initiative": 3, "counting": "convlab2"}, "HDC (semantic level)"),
        ("convlab2", {"initiative": 4, "counting": "convlab3"}, "HDC (semantic level)"),
        ("convlab2", inputs.DEFINITIONS["convlab3"], "HDC (semantic level)"),
        (
            "convlab3",
            inputs.DEFINITIONS["convlab2"],
            "HDC (semantic level), ConvLab-3 native",
        ),
    ],
)
def test_a_settings_name_with_another_meaning_stands_in(setting, definition, system):
    table = build(simulations=[inputs.simulation(setting, definition=definition)])
    row = cell(table, system, "success")
    assert (row["reproduced"], row["status"]) == ("", "not_run")
    assert f"hdc/{setting} isn't" in row["note"] and "wasn't part" not in row["note"]
    row = cell(table, f"hdc/{setting}", "success")
    assert (row["published"], row["reproduced"], row["status"]) == ("", "97.40", "stand_in")
    assert row["evaluator"] == f"{setting} (unlisted)"
    assert f"counting {definition['counting']}, initiative " in row["note"]
    assert "reproduced" not in set(table["status"])


def test_the_note_names_the_intervals_method():
    table = build(simulations=[inputs.simulation()])
    for metric, method in (("success", "Wilson"), ("turns", "bootstrap")):
        row = cell(table, "HDC (semantic level)", metric)
        assert row["note"].endswith(f"95 % {method} interval over dialogues.")


@pytest.mark.parametrize(
    "backbone",
    [
        {"kind": "scratch"},
        {"kind": "scratch", "name": "google/flan-t5-base"},
        {"kind": "pretrained", "name": "google/flan-t5-large"},
        {"kind": "pretrained", "name": "mine/flan-t5-base"},
        None,
    ],
)
def test_a_backbones_name_with_another_meaning_stands_in(backbone):
    backbones = {} if backbone is None else {"flan-t5-base": backbone}
    table = build([inputs.score("incar", "flan-t5-base")], backbones=backbones)
    row = cell(table, "SFT flan-t5-base", "match", "incar")
    assert row["status"] == "stand_in" and "Stand-in model" in row["note"]
    row = cell(table, "SFT flan-t5-large", "match", "incar")
    assert row["status"] == "not_run" and "Stand-in model" not in row["note"]


def test_the_order_of_the_files_does_not_matter():
    scores = [inputs.score(seed=seed) for seed in (1, 2, 11)]
    simulations = [inputs.simulation("convlab2"), inputs.simulation("convlab3")]
    assert table1.to_csv(build(scores, simulations)) == table1.to_csv(
        build(scores[::-1], simulations[::-1])
    )


def test_seeds_scored_differently_are_refused():
    with pytest.raises(TodflowError, match="seed2.*inform isn't measured on the same turns as"):
        build([inputs.multiwoz_score(seed=1), inputs.multiwoz_score(seed=2, state="gold")])
    with pytest.raises(TodflowError, match="seed2.*match isn't measured on the same turns"):
        build([inputs.score(seed=1), inputs.score(seed=2, match_denominator=37)])


def rows(table, system, dataset, metric):
    """(status, evaluator, published, reproduced) of every row of a cell."""
    found = table[
        (table["system"] == system) & (table["dataset"] == dataset) & (table["metric"] == metric)
    ]
    return found[["status", "evaluator", "published", "reproduced"]].values.tolist()


def test_a_baseline_has_its_published_figure_and_what_its_outputs_score_here():
    files = [inputs.rescored("pptod", name) for name in reversed(inputs.EVALUATORS)]
    table = build(rescored=files, outputs=inputs.outputs())
    assert rows(table, "PPTOD", "multiwoz20", "inform") == [
        ["published_only", "legacy-pred", "89.2", ""],
        ["rescored", "standard-v1", "", "80.00"],
        ["rescored", "legacy-pred", "", "90.00"],
        ["rescored", "legacy-nogate", "", "90.00"],
        ["rescored", "legacy-gold", "", "90.00"],
    ]
    standard = table[(table["system"] == "PPTOD") & (table["evaluator"] == "standard-v1")].iloc[0]
    assert (standard["vintage"], standard["state"], standard["dialogues"]) == (
        ("v1", "predicted", "1000")
    )
    assert (standard["n"], standard["ci_low"], standard["ci_high"]) == ("1000", "78.00", "82.50")
    assert standard["provenance"] == "results/rescored/pptod.standard-v1.score.json"
    assert rows(table, "PPTOD", "multiwoz21", "inform") == [
        ["published_only", "legacy-pred", "87.1", ""]
    ]
    # Nobody published SimpleTOD's outputs.
    assert len(rows(table, "SimpleTOD", "multiwoz20", "inform")) == 1


def test_every_measured_multiwoz_number_names_evaluator_vintage_state_and_dialogues():
    scores = [
        inputs.multiwoz_score(name, dataset, context=context)
        for name in inputs.EVALUATORS
        for dataset in ("multiwoz20", "multiwoz21")
        for context in ("generated", "gold")
    ]
    rescored = [inputs.rescored("damd", name, n_dialogues=999) for name in inputs.EVALUATORS]
    table = build(scores, rescored=rescored, outputs=inputs.outputs())
    measured = table[table["dataset"].str.startswith("multiwoz") & (table["reproduced"] != "")]
    assert len(measured) == 16 * 6 + 4 * 4
    for column in ("evaluator", "state", "dialogues", "n", "ci_low", "ci_high"):
        assert (measured[column] != "").all(), column
    assert set(measured[measured["system"] == "DAMD"]["dialogues"]) == {"999 of 1000"}
    standard = measured[measured["evaluator"].str.startswith("standard")]
    assert set(standard["vintage"]) == {"v1"}
    assert (measured["published"] == "").all()
    ours = measured[measured["system"] == "SFT scratch-small"]
    assert set(ours["status"]) == {"stand_in"}
    order = list(dict.fromkeys(ours["evaluator"]))
    assert order == list(inputs.EVALUATORS)


@pytest.mark.parametrize(
    "outputs, note",
    [
        (inputs.outputs(missing="no folder is given"), "Not re-scored: no folder is given."),
        ({}, None),
    ],
)
def test_outputs_that_are_not_there_leave_an_empty_cell_with_the_reason(outputs, note):
    table = build(outputs=outputs)
    found = table[(table["system"] == "GALAXY") & (table["dataset"] == "multiwoz20")]
    assert list(found[found["metric"] == "bleu"]["published"]) == ["20.5"] + [""] * bool(note)
    assert [text for text in found[found["status"] == "not_run"]["note"]] == [note] * 4 * bool(note)


def test_a_dialogue_with_missing_turns_is_no_secret():
    table = build(rescored=[inputs.rescored(partial={"pmul1": [4, 5]})], outputs=inputs.outputs())
    note = table[(table["system"] == "PPTOD") & (table["status"] == "rescored")]["note"].iloc[0]
    assert "1 dialogue has another number of turns than the test split" in note


def test_a_refused_file_leaves_the_reason_and_the_others_are_there():
    rescored = [
        inputs.refused("ubar", "standard-v1", "ubar.json, dialogue pmul1: no turns"),
        inputs.rescored("pptod"),
    ]
    table = build(rescored=rescored, outputs=inputs.outputs())
    assert rows(table, "UBAR†", "multiwoz20", "inform")[1:] == [["not_run", "standard-v1", "", ""]]
    assert rows(table, "PPTOD", "multiwoz20", "inform")[1][3] == "80.00"
    empty = table[(table["system"] == "UBAR†") & (table["status"] == "not_run")]
    assert set(empty["note"]) == {"Not re-scored: ubar.json, dialogue pmul1: no turns."}


def test_outputs_of_a_system_that_the_paper_does_not_quote_have_a_row_of_their_own():
    rescored = [inputs.rescored("damd"), inputs.rescored("mine")]
    table = build(rescored=rescored, outputs=inputs.outputs(mine="multiwoz21"))
    assert rows(table, "DAMD", "multiwoz20", "inform") == [["rescored", "standard-v1", "", "80.00"]]
    assert rows(table, "mine", "multiwoz21", "bleu") == [["rescored", "standard-v1", "", "17.00"]]


def test_a_corpus_or_training_unlike_the_papers_stands_in():
    score = inputs.multiwoz_score("legacy-nogate", backbone="flan-t5-large")
    made = inputs.training_table("multiwoz20", ["gold-2.0", "silver", "damd-slots", "none"])
    for changes, note in (
        ({"training": [made]}, "acts of 2 of 4 training turns aren't the release's own."),
        ({"pretrained": {"multiwoz20": "selfplay"}}, "on the selfplay corpus first."),
    ):
        row = cell(build([score], **changes), "SFT flan-t5-large", "inform", "multiwoz20")
        assert row["status"] == "stand_in" and note in row["note"]
        table = build([score], **changes)
        assert cell(table, SFT_ONLY, "inform", "multiwoz20")["reproduced"] == ""
        assert (
            "Stand-in training" not in cell(table, "SFT flan-t5-base", "bleu", "multiwoz20")["note"]
        )
    whole = inputs.training_table("multiwoz20", ["gold-2.0", "none"])
    table = build([score], training=[whole], pretrained={"multiwoz20": None})
    assert cell(table, "SFT flan-t5-large", "inform", "multiwoz20")["status"] == "reproduced"


SFT_ONLY = "Ours-large without R_u and R_g"


def test_the_ablation_that_is_sft_alone_is_filled_by_the_papers_model_under_its_evaluator():
    scores = [
        inputs.multiwoz_score(name, backbone="flan-t5-large", context=context)
        for name in inputs.EVALUATORS
        for context in ("generated", "gold")
    ]
    row = cell(build(scores), SFT_ONLY, "inform", "multiwoz20")
    assert (row["published"], row["reproduced"], row["status"]) == ("86.0", "90.00", "reproduced")
    assert (row["evaluator"], row["state"], row["dialogues"]) == (
        ("legacy-nogate", "predicted", "1000")
    )
    assert row["provenance"].endswith(
        "flan-t5-large/seed1/sft/test-generated.legacy-nogate.score.json"
    )
    assert "result of SFT alone" in row["note"] and "Not run" not in row["note"]


@pytest.mark.parametrize(
    "change",
    [
        {"backbone": "flan-t5-base"},
        {"backbone": "scratch-small"},
        {"context": "gold"},
        {"evaluator": "standard-v1"},
        {"dataset": "multiwoz21"},
        {"n_dialogues": 999},
    ],
)
def test_no_other_score_fills_a_papers_row(change):
    wanted = {"evaluator": "legacy-nogate", "backbone": "flan-t5-large"}
    table = build([inputs.multiwoz_score(**wanted | change)])
    assert (table[table["published"] != ""]["reproduced"] == "").all()
    assert cell(table, SFT_ONLY, "inform", "multiwoz20")["status"] == "not_run"


def test_rl_has_rows_of_its_own_and_an_arm_says_what_it_changes():
    scores = [
        inputs.score("incar", seed=seed, stage=stage, match=float(70 + seed))
        for seed in (1, 2)
        for stage in ("sft", "rl-tod", "rl-nomask")
    ]
    table = build([*scores, inputs.score("incar", share="-share05", match=10.0)])
    row = cell(table, "SFT+RL scratch-small", "match", "incar")
    assert (row["reproduced"], row["seeds"], row["status"]) == ("71.50", "1 2", "stand_in")
    assert "2,000 episodes of RL, the paper has 20,000" in row["note"]
    row = cell(table, "SFT+RL scratch-small, arm nomask", "match", "incar")
    assert "RL with mask false." in row["note"]
    assert cell(table, "SFT scratch-small", "match", "incar")["reproduced"] == "71.50"
    systems = list(dict.fromkeys(table["system"]))
    first = systems.index("SFT+RL scratch-small")
    assert systems[first + 1] == "SFT+RL scratch-small, arm nomask"


@pytest.mark.parametrize(
    "system, stage", [("Ours-large", "rl-tod"), ("Ours-large without R_u", "rl-g")]
)
def test_rl_of_the_papers_model_fills_its_row_at_the_papers_size(system, stage):
    score = inputs.multiwoz_score("legacy-nogate", backbone="flan-t5-large", stage=stage)
    row = cell(build([score]), system, "inform", "multiwoz20")
    assert (row["reproduced"], row["status"]) == ("", "not_run")
    row = cell(build([score], episodes={"multiwoz20": 20000}), system, "inform", "multiwoz20")
    assert (row["reproduced"], row["status"]) == ("90.00", "reproduced")


def test_csv_survives_the_way_back(tmp_path):
    table = build([inputs.score()], [inputs.simulation()])
    path = tmp_path / "table1.csv"
    path.write_text(table1.to_csv(table), encoding="utf-8")
    assert table1.from_csv(path).equals(table)
    path.write_text("paper,system\n", encoding="utf-8")
    with pytest.raises(TodflowError, match="columns aren't"):
        table1.from_csv(path)


def test_t_quantiles_equal_the_printed_tables():
    expected = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 30: 2.042, 120: 1.980}
    for freedom, value in expected.items():
        assert t_quantile(freedom) == pytest.approx(value, abs=5e-4)
    assert t_interval([1.0, 2.0, 3.0]) == pytest.approx((2.0, -0.48414, 4.48414), abs=1e-5)
