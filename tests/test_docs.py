"""The documents: no gaps left open, no dead links, no traces of one machine."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *[ROOT / name for name in ("README.md", "config/README.md", "envs/README.md")],
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_is_finished_and_its_links_lead_somewhere(page):
    text = page.read_text()
    assert re.findall(r"@[A-Z]+@|TODO|FIXME", text) == []
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_commands_in_the_readme_name_files_that_exist():
    text = (ROOT / "README.md").read_text()
    for name in re.findall(r"--configfile (config/\S+?\.yaml)", text):
        assert (ROOT / name).is_file()
    assert {"table1:", "test:"} <= set(re.findall(r"^\w+:", (ROOT / "Makefile").read_text(), re.M))


def test_the_make_targets_of_the_readme_and_of_ci():
    assert "make test" in (ROOT / ".ci/run").read_text()
    assert "results/table1.csv --cores" in (ROOT / "Makefile").read_text()
