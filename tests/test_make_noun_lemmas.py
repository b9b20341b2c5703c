import gzip
import importlib.util

import pytest
from conftest import ROOT

INDEX = "  1 licence\nmiles_davis n 1\nmile n 2 x\nbase_on_balls n 1\nmen n 1\n"
EXCEPTIONS = "bases-on-balls base_on_balls\nmen man\nwoods_men woods_man\nstaves stave staff\n"


@pytest.fixture
def tool():
    path = ROOT / "tools" / "make_noun_lemmas.py"
    spec = importlib.util.spec_from_file_location("make_noun_lemmas", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lines(tool, tmp_path):
    (tmp_path / "index.noun").write_text(INDEX)
    (tmp_path / "noun.exc").write_text(EXCEPTIONS)
    assert tool.lines(tmp_path) == [
        "base_on_balls",
        "men",
        "mile",
        "bases-on-balls base_on_balls",
        "men man",
        "staves stave staff",
    ]


def test_shipped_file_is_sorted_small_and_licensed():
    folder = ROOT / "src" / "todflow" / "corpora" / "incar"
    content = (folder / "noun_lemmas.txt.gz").read_bytes()
    assert len(content) < 300_000
    lines = gzip.decompress(content).decode("utf-8").splitlines()
    nouns = [line for line in lines if " " not in line]
    assert nouns == sorted(set(nouns))
    assert lines[len(nouns) :] == sorted(lines[len(nouns) :])
    assert "Princeton University" in (folder / "WORDNET_LICENSE.txt").read_text()
    assert len(nouns) > 50_000
