"""The published figures: complete, as printed, and in agreement with the papers' own formula."""

from importlib import resources

import pytest
import yaml

from todflow.errors import TodflowError
from todflow.tables.published import NO_FIGURE, load

PUBLISHED = load()
TABLES = {(table.paper, table.source): table for table in PUBLISHED.tables}


def combined_rows():
    """(system, dataset, the row's printed parts) for every printed Combined."""
    for source in ("Table 1", "Table 2"):
        for system in TABLES["step_reward", source].systems:
            for dataset, figures in system.figures.items():
                if "-" not in figures.values():
                    yield system.name, dataset, [float(text) for text in figures.values()]


def test_every_row_of_both_tables_is_there():
    step, react = TABLES["step_reward", "Table 1"], TABLES["react", "Table 1"]
    assert [system.name for system in step.systems] == [
        *(
            "SimpleTOD",
            "DoTS",
            "PPTOD",
            "UBAR†",
            "LABES",
            "SPACE-3**",
            "SPACE-3",
            "GALAXY*",
            "GALAXY",
        ),
        *("MinTL", "GPT-Critic", "FanReward", "Ours-base", "Ours-large"),
    ]
    assert [system.name for system in react.systems] == [
        "HDC (semantic level)",
        "ACGOS (semantic level)",
        "BERT NLU + HDC + Tpl.",
        "BERT NLU + PPO + Tpl.",
        "BERT NLU + ACGOS + Tpl.",
        "ReAct-LLM (GPT-3.5)",
        "ReAct-LLM (GPT-4)",
    ]
    cells = [
        text for system in step.systems for row in system.figures.values() for text in row.values()
    ]
    # Twelve columns. Dashes: seven systems in In-Car, LABES in 2.0, three RL systems in 2.1.
    assert (len(cells), cells.count("-")) == (14 * 12, 7 * 4 + 4 + 3 * 4)
    assert sum(len(row) for system in react.systems for row in system.figures.values()) == 49


@pytest.mark.parametrize("system, dataset, parts", list(combined_rows()))
def test_combined_is_the_papers_formula(system, dataset, parts):
    first, second, bleu, combined = parts
    difference = abs((first + second) / 2 + bleu - combined)
    assert difference < 0.11
    documented = ("step_reward", system, dataset, "combined") in PUBLISHED.misprints
    assert (difference > 0.0501) == documented


def test_figures_keep_their_printed_precision():
    react = {system.name: system for system in TABLES["react", "Table 1"].systems}
    assert react["BERT NLU + HDC + Tpl."].figures["simulation"]["turns"] == "12"
    human = {system.name: system for system in TABLES["react", "Table 3"].systems}
    assert human["BERT NLU + HDC + Tpl."].figures["human"]["success"] == "60.00"
    step = {system.name: system for system in TABLES["step_reward", "Table 1"].systems}
    assert step["SPACE-3**"].figures["multiwoz20"]["combined"] == "100.0"
    assert step["SimpleTOD"].figures["multiwoz20"]["combined"] == "92.3"


def test_every_system_whose_outputs_are_public_has_its_file():
    files = {part.file: part.system for part in PUBLISHED.rescored.files}
    quoted = {system.name for system in TABLES["step_reward", "Table 1"].systems}
    assert len(files) == len(set(files.values())) == 7
    # DAMD is the one that the paper doesn't quote.
    assert set(files.values()) - quoted == {"DAMD"}
    assert "not those of the paper's own run" in next(
        part.note for part in PUBLISHED.rescored.files if part.system == "UBAR†"
    )


def test_drawn_figures_have_no_number():
    figure = TABLES["step_reward", "Figure 4"]
    assert {text for system in figure.systems for text in system.figures["human"].values()} == {
        "drawn"
    }
    assert "drawn" in NO_FIGURE


def test_systems_of_this_project_say_why_they_are_empty():
    for table in PUBLISHED.tables:
        for system in table.systems:
            assert bool(system.reason) == (system.status == "not_run"), system.name


def changed(tmp_path, change):
    """A copy of the published figures with one change."""
    text = (resources.files("todflow.tables") / "published.yaml").read_text(encoding="utf-8")
    raw = yaml.load(text, Loader=yaml.BaseLoader)
    change(raw)
    path = tmp_path / "other.yaml"
    path.write_text(yaml.safe_dump(raw, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda raw: raw.pop("tables"), "other.yaml: top level: needs the key 'tables'"),
        (
            lambda raw: raw["tables"][0]["systems"][3]["figures"]["multiwoz20"].pop(),
            r"tables\[0\].systems\[3\] \(UBAR†\).figures.multiwoz20: has 3 figures, not 4",
        ),
        (
            lambda raw: raw["tables"][0]["systems"][0]["figures"]["multiwoz20"].__setitem__(
                0, "84,4"
            ),
            "'84,4' isn't a printed figure",
        ),
        (
            lambda raw: raw["tables"][0]["systems"][0].update(status="run"),
            "'run' is none of published_only, not_run",
        ),
        (
            lambda raw: raw["tables"][3]["systems"][0]["evaluator"].update(simulation="mine"),
            "'mine' isn't listed under evaluators",
        ),
        (lambda raw: raw["tables"][3].update(dialogues="many"), "'many' isn't a count"),
        (
            lambda raw: raw["simulations"][0]["definition"].update(initiative="all"),
            r"simulations\[0\].definition.initiative: 'all' isn't a count or null",
        ),
        (lambda raw: raw["simulations"][0].update(own="true"), "'true' is neither yes nor no"),
        (
            lambda raw: raw["misprints"][0].update(metric="bleurt"),
            r"misprints\[0\]: there is no cell",
        ),
        (
            lambda raw: raw["trained"]["paper_rows"].update(
                {"Ours-huge": {"backbone": "x", "stage": "sft"}}
            ),
            "trained.paper_rows: there is no row Ours-huge",
        ),
        (
            lambda raw: raw["trained"]["paper_rows"]["Ours-base"].pop("stage"),
            "trained.paper_rows.Ours-base: needs the key 'stage'",
        ),
        (
            lambda raw: raw["trained"]["metrics"].pop("multiwoz21"),
            "trained.metrics: needs the key 'multiwoz21'",
        ),
        (
            lambda raw: raw["rescored"]["files"][2].pop("note"),
            r"rescored.files\[2\]: needs the key",
        ),
    ],
)
def test_a_broken_file_names_the_place(tmp_path, change, message):
    with pytest.raises(TodflowError, match=message):
        load(changed(tmp_path, change))
