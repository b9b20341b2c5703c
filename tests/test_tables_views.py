"""The papers' own form, the page and the pictures: what they say, always in the same bytes."""

import re

import pytest
import tables_inputs as inputs

from todflow.errors import TodflowError
from todflow.tables import curves, html, plot, published, svg, table1, wide

PUBLISHED = published.load()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table():
    scores = [inputs.score(), inputs.score(context="gold"), inputs.score("incar")]
    simulations = [inputs.simulation("convlab2"), inputs.simulation("convlab3")]
    return inputs.build(PUBLISHED, scores, simulations)


@pytest.fixture
def multiwoz():
    """The table of a run that scored four systems' outputs and a model of its own on MultiWOZ."""
    files = ("pptod", "ubar", "galaxy-e2e", "damd")
    rescored = [inputs.rescored(file, name) for file in files for name in inputs.EVALUATORS[:3]]
    rescored += [inputs.refused(file, "legacy-gold", f"{file}.json: not JSON") for file in files]
    scores = [inputs.multiwoz_score(name) for name in inputs.EVALUATORS]
    outputs = inputs.outputs()
    outputs["mintl"]["missing"] = "the folder of outputs has no such file"
    return inputs.build(PUBLISHED, scores, rescored=rescored, outputs=outputs)


def test_golden_lines_of_the_tidy_table(table):
    lines = table1.to_csv(table).splitlines()
    assert lines[0] == (
        "paper,system,dataset,metric,published,reproduced,ci_low,ci_high,n,seeds,status,note,"
        "evaluator,vintage,state,dialogues,scale,provenance"
    )
    assert lines[1] == (
        "step_reward,SimpleTOD,multiwoz20,inform,84.4,,,,,,published_only,,legacy,,,,,"
    )
    sft = next(
        line for line in lines if line.startswith("step_reward,SFT scratch-small,incar,combined")
    )
    assert sft == (
        "step_reward,SFT scratch-small,incar,combined,,95.00,93.00,97.50,40,1,stand_in,"
        "Stand-in model: trained from scratch or unlike the paper's Flan-T5. "
        "One seed; 95 % bootstrap interval over dialogues.,incar-galaxy,,,40,embedded,"
        "results/incar/scratch-small/seed1/sft/test-generated.incar-galaxy.score.json"
    )
    hdc = next(
        line for line in lines if line.startswith("react,HDC (semantic level),simulation,success,")
    )
    assert hdc == (
        "react,HDC (semantic level),simulation,success,97.3,97.40,96.40,98.40,1000,20200202,"
        "reproduced,"
        "\"ConvLab-2's user initiative (4) and counting, on ConvLab 3.0.1. "
        '95 % Wilson interval over dialogues.",convlab2,,,1000,embedded,'
        "results/simulate/hdc/convlab2/metrics.json"
    )


def test_the_papers_form_has_published_above_reproduced(table):
    react = wide.wide(table, PUBLISHED, "react")
    assert list(react.columns) == (
        ["section", "system", "figures", "evaluator", "Turns", "Inform P", "Inform R", "Inform F1"]
        + ["Book", "Success", "Complete", "status", "note"]
    )
    rows = react.drop(columns="evaluator").values.tolist()
    assert list(react["evaluator"][:4]) == (
        ["convlab2", "convlab2, 1000 dialogues", "convlab2", ""]
    )
    assert rows[0][2:11] == (
        ["published", "10.6", "87.2", "98.6", "90.9", "98.6", "97.3", "97.9", "published"]
    )
    assert rows[1][2:11] == (
        ["reproduced", "10.67", "87.30", "98.90", "90.90", "98.70", "97.40", "98.10", "reproduced"]
    )
    assert rows[3][2:11] == ["reproduced", *[""] * 7, "not_run"] and "ACGOS" in rows[3][11]
    assert len(rows) == 2 * 7 + 1 and rows[-1][1] == "HDC (semantic level), ConvLab-3 native"


def test_the_papers_form_keeps_stand_ins_on_lines_of_their_own(table):
    step = wide.wide(table, PUBLISHED, "step_reward")
    assert [name for name in step.columns if name.startswith("Self-play")] == [
        f"Self-play {name}" for name in ("Match", "SuccF1", "BLEU", "Combined")
    ]
    # 12 baselines with one line, six of which lack their outputs, two systems with two lines, and
    # rows of ours: DAMD, five of In-Car and self-play, six of MultiWOZ.
    assert len(step) == 12 + 6 + 2 * 2 + 1 + 5 + 6
    ours = step[step["section"] == wide.OURS]
    assert set(ours["figures"]) == {"reproduced"}
    papers = step[(step["section"] != wide.OURS) & (step["figures"] == "reproduced")]
    assert set(papers["status"]) == {"not_run"}
    assert list(ours["In-Car Combined"]) == ["", "", "", "95.00", *[""] * 8]
    base = step[(step["system"] == "Ours-base") & (step["figures"] == "published")]
    assert list(base["note"]) == [
        "MultiWOZ2.0's Combined is printed as 106.9, its own parts give 106.8."
    ]
    twice = re.compile(r"(\b\w[^.]{20,}\.).*\1")
    assert not any(twice.search(note) for note in step["note"])


def test_the_papers_form_has_a_line_for_each_evaluator_below_the_published_one(multiwoz):
    step = wide.wide(multiwoz, PUBLISHED, "step_reward")
    lines = step[step["system"] == "PPTOD"]
    assert lines[["figures", "evaluator", "MultiWOZ2.0 Inform", "status"]].values.tolist() == [
        ["published", "legacy-pred", "89.2", "published_only"],
        ["re-scored", "standard-v1, predicted state, 1000 dialogues", "80.00", "rescored"],
        ["re-scored", "legacy-pred, predicted state, 1000 dialogues", "90.00", "rescored"],
        ["re-scored", "legacy-nogate, predicted state, 1000 dialogues", "90.00", "rescored"],
        ["re-scored", "", "", "not_run"],
    ]
    assert "pptod.json: not JSON" in lines["note"].iloc[4]
    assert set(lines["MultiWOZ2.1 Inform"]) == {"87.1", ""}
    ours = step[step["system"] == "SFT scratch-small on MultiWOZ2.0"]
    assert list(ours["evaluator"].str.split(",").str[0]) == list(inputs.EVALUATORS)
    assert not set(step["system"]) & {"Ours-large without R_u"}  # of Table 2


def test_the_page_puts_re_scored_lines_below_the_published_one(multiwoz):
    page = html.page(multiwoz, PUBLISHED)
    body = page.split("<h2>")[1]
    pptod = body.split(">PPTOD")[1].split(">UBAR")[0]
    badges = re.findall(r'<span class="badge (\w+)">.*?<span class="evaluator">([\w-]+)', pptod)
    assert badges == [
        ("published_only", "legacy-pred"),
        ("rescored", "standard-v1"),
        ("rescored", "legacy-pred"),
        ("rescored", "legacy-nogate"),
    ]
    notes = re.findall("<li>(.*?)</li>", body.split("<h3>")[0])
    for note in (
        "Not re-scored: pptod.json: not JSON.",
        "Not re-scored: the folder of outputs has no such file.",
    ):
        assert notes.count(note) == 1
    assert "<h3>Table 2</h3>" in body and "Ours-large without R_g" in body
    for name in inputs.EVALUATORS:
        assert f"<dt>{name}</dt>" in page


def test_the_page_shows_every_figure_and_needs_nothing_else(table):
    page = html.page(table, PUBLISHED)
    assert page == html.page(table.copy(), PUBLISHED)
    assert not re.search(r"<script|src=|href=|url\(|@import", page)
    shown = re.sub(r"<style>.*</style>", "", page, flags=re.S)
    for column in ("published", "reproduced", "ci_low", "ci_high"):
        for figure in set(table[column]) - {""}:
            assert figure in shown, (column, figure)
    for status in ("reproduced", "published_only", "rescored", "stand_in", "not_run"):
        assert f'<span class="badge {status}">' in shown
    assert "embedded" in shown and "The paper only draws this value" in shown
    opened, closed = re.findall(r"<(t[rdh]|table|span)\b", page), re.findall(
        r"</(t[rdh]|table|span)>", page
    )
    assert {name: opened.count(name) for name in opened} == {
        name: closed.count(name) for name in closed
    }


def test_pictures_are_the_same_bytes_again(table, tmp_path):
    for name in ("one.svg", "two.svg"):
        svg.save(plot.draw(table, PUBLISHED), tmp_path / name)
    first = (tmp_path / "one.svg").read_bytes()
    assert first == (tmp_path / "two.svg").read_bytes()
    assert b"<dc:date>" not in first and str(tmp_path).encode() not in first


def texts(figure):
    """Every text of a figure with its box in pixels, drawn as in the file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    found = []
    for artist in figure.findobj(lambda each: hasattr(each, "get_text") and each.get_visible()):
        if artist.get_text().strip():
            found.append((artist.get_text(), artist.get_window_extent(renderer)))
    return found, figure.bbox


MULTIWOZ = ("multiwoz20", "multiwoz21")
BACKBONES = ("scratch-small", "flan-t5-base", "flan-t5-large")
SCENES = {
    "nothing run": lambda: ([], []),
    "a short run": lambda: (
        [inputs.score(backbone="scratch-tiny")],
        [inputs.simulation("convlab2", 20), inputs.simulation("convlab3", 20)],
    ),
    "the default": lambda: (
        [inputs.score()],
        [inputs.simulation("convlab2"), inputs.simulation("convlab3")],
    ),
    "RL and its arms": lambda: (
        [
            inputs.score(dataset, seed=seed, stage=stage)
            for dataset in ("selfplay", "incar")
            for seed in (1, 2)
            for stage in ("sft", "rl-tod", "rl-nomask")
        ],
        [],
    ),
    "outputs alone": lambda: ([], [], [inputs.rescored("damd")]),
    "MultiWOZ": lambda: (
        [
            inputs.multiwoz_score(name, dataset)
            for name in inputs.EVALUATORS
            for dataset in MULTIWOZ
        ],
        [inputs.simulation("convlab2")],
        [inputs.rescored(file, name) for file in inputs.outputs() for name in inputs.EVALUATORS],
    ),
    "everything": lambda: (
        [
            inputs.score(dataset, backbone, seed, context)
            for dataset in ("selfplay", "incar")
            for backbone in BACKBONES
            for seed in (1, 2, 3)
            for context in ("generated", "gold")
        ]
        + [
            inputs.multiwoz_score(name, dataset, backbone, seed, context)
            for name in inputs.EVALUATORS
            for dataset in MULTIWOZ
            for backbone in BACKBONES
            for seed in (1, 2, 3)
            for context in ("generated", "gold")
        ],
        [inputs.simulation("convlab2"), inputs.simulation("convlab3"), inputs.simulation("mine")],
    ),
}


@pytest.mark.parametrize("scene", SCENES)
def test_no_text_of_the_picture_is_cut_or_covered_by_another(scene):
    scores, simulations, *rescored = SCENES[scene]()
    more = {"rescored": rescored[0], "outputs": inputs.outputs()} if rescored else {}
    table = inputs.build(PUBLISHED, scores, simulations, **more)
    found, page = texts(plot.draw(table, PUBLISHED))
    assert len(found) > 10
    for text, box in found:
        assert box.x0 >= 0 and box.x1 <= page.x1 and box.y0 >= 0 and box.y1 <= page.y1, text
    for place, (text, box) in enumerate(found):
        for other, beside in found[place + 1 :]:
            apart = (
                box.x1 <= beside.x0 + 1
                or beside.x1 <= box.x0 + 1
                or box.y1 <= beside.y0 + 1
                or beside.y1 <= box.y0 + 1
            )
            assert apart, (text, other)


def test_the_picture_names_what_was_not_run(table):
    found, _ = texts(plot.draw(table, PUBLISHED))
    words = [text for text, _ in found]
    assert "Not run" in words and "• Ours-large: MultiWOZ2.0, MultiWOZ2.1, In-Car" in words
    assert "Supervised fine-tuning: stand-ins" in words
    assert {"10.6", "10.67", "97.3", "97.40"} <= set(words)


def test_the_picture_sets_evaluators_of_one_output_side_by_side(multiwoz):
    words = [text for text, _ in texts(plot.draw(multiwoz, PUBLISHED))[0]]
    assert "MultiWOZ: one output under several evaluators" in words
    for system in ("PPTOD", "UBAR†", "GALAXY", "DAMD", "SFT scratch-small"):
        assert f"{system} on MultiWOZ2.0" in words
    assert words.count("standard-v1") == 5 and words.count("published") == 3
    assert {"102.9", "92.00  [90.00, 94.50]"} <= set(words)
    # Match and SuccF1 are In-Car's and the self-play corpus'.
    assert "Supervised fine-tuning" not in " ".join(words)


CURVE = """step,epoch,train_loss,valid_loss,match,succ_f1,bleu,combined,lr
100,1,3.5,,,,,,0.001
200,2,2.0,2.5,50.0,60.0,10.0,65.0,0.0005
300,3,1.0,2.6,49.0,60.0,10.5,65.0,0.0
"""


def test_the_curve_is_the_same_bytes_again_and_marks_the_first_best(tmp_path):
    (tmp_path / "curve.csv").write_text(CURVE)
    curve = curves.read_curve(tmp_path / "curve.csv")
    for name in ("one.svg", "two.svg"):
        svg.save(curves.draw(curve, "selfplay, seed 1"), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    words = [text for text, _ in texts(curves.draw(curve, "selfplay, seed 1"))[0]]
    assert "dotted: best Combined, 65.00 at step 200" in words


def test_a_curve_of_multiwoz_names_its_own_rates(tmp_path):
    text = CURVE.replace("match,succ_f1", "inform,success")
    (tmp_path / "curve.csv").write_text(text)
    words = [t for t, _ in texts(curves.draw(curves.read_curve(tmp_path / "curve.csv"), "x"))[0]]
    assert {"Inform", "Success"} <= set(words) and not {"Match", "SuccF1"} & set(words)


def test_a_curve_without_any_validation_is_drawn(tmp_path):
    (tmp_path / "curve.csv").write_text("\n".join(CURVE.splitlines()[:2]) + "\n")
    words = [
        text for text, _ in texts(curves.draw(curves.read_curve(tmp_path / "curve.csv"), "x"))[0]
    ]
    assert not any("best Combined" in text for text in words)


@pytest.mark.parametrize(
    "text, message",
    [
        (CURVE.replace("bleu", "blue"), "no column 'bleu'"),
        (CURVE.splitlines()[0] + "\n", "no line"),
        (CURVE.replace("3.5", "low"), "column 'train_loss' holds a word"),
    ],
)
def test_a_broken_curve_is_named(tmp_path, text, message):
    (tmp_path / "curve.csv").write_text(text)
    with pytest.raises(TodflowError, match=f"curve.csv: {message}"):
        curves.read_curve(tmp_path / "curve.csv")
