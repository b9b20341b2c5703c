"""The import closure that the staleness of every rule rests on."""

import ast
from pathlib import Path

import pytest

from todflow import closure

SOURCE = closure.SOURCE / "todflow"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package `pkg` in a source folder of its own; returns a function that writes its files."""
    source = tmp_path / "src"
    monkeypatch.setattr(closure, "SOURCE", source)
    monkeypatch.setattr(closure, "PACKAGE", "pkg")

    def write(**modules: str) -> Path:
        (source / "pkg").mkdir(parents=True)
        for name, text in {"__init__": "", **modules}.items():
            (source / "pkg" / f"{name}.py").write_text(text)
        return source / "pkg"

    return write


def names(start):
    return [path.name for path in closure.files(start)]


def test_follows_imports_of_every_form(package):
    package(
        a="import pkg.b\n",
        b="from pkg import c\nfrom pkg.d import thing\n",
        c="def f():\n    from . import e\n",
        d="thing = 1\n",
        e="import os, pandas\n",
        unused="",
    )
    assert names("pkg.a") == ["__init__.py", "a.py", "b.py", "c.py", "d.py", "e.py"]


def test_packages_bring_their_init_and_what_it_imports(package):
    folder = package(a="from pkg.sub.inner import x\n", helper="")
    (folder / "sub").mkdir()
    (folder / "sub" / "__init__.py").write_text("from pkg import helper\n")
    (folder / "sub" / "inner.py").write_text("from .other import x\n")
    (folder / "sub" / "other.py").write_text("x = 1\n")
    assert names("pkg.a") == ["__init__.py", "a.py", "helper.py", "__init__.py", "inner.py", "other.py"]


def test_cycles_end(package):
    package(a="import pkg.b\n", b="import pkg.a\n")
    assert names("pkg.b") == ["__init__.py", "a.py", "b.py"]


def test_data_files_named_in_a_literal_belong_to_it(package):
    folder = package(a='TABLE = "table.json"\n')
    (folder / "table.json").write_text("1")
    (folder / "other.json").write_text("1")
    assert names("pkg.a") == ["__init__.py", "a.py", "table.json"]
    before = closure.digest("pkg.a")
    (folder / "other.json").write_text("2")
    assert closure.digest("pkg.a") == before
    (folder / "table.json").write_text("2")
    assert closure.digest("pkg.a") != before


def test_digest_sees_an_edit_far_down_and_nothing_else(package):
    folder = package(a="import pkg.b\n", b="import pkg.c\n", c="x = 1\n", unused="")
    before = closure.digest("pkg.a")
    (folder / "unused.py").write_text("y = 1\n")
    (folder / "c.py").touch()
    assert closure.digest("pkg.a") == before
    (folder / "c.py").write_text("x = 2\n")
    assert closure.digest("pkg.a") != before


def test_digest_of_a_script_does_not_depend_on_where_the_project_lies(package, tmp_path):
    package(a="x = 1\n")
    first, second = tmp_path / "one" / "script.py", tmp_path / "two" / "script.py"
    for script in (first, second):
        script.parent.mkdir()
        script.write_text("from pkg.a import x\n")
    assert closure.digest(first) == closure.digest(second)
    assert [path.name for path in closure.files(first)] == [
        "script.py",
        "__init__.py",
        "a.py",
    ]


def test_unknown_module_is_an_error(package):
    package()
    with pytest.raises(FileNotFoundError, match="pkg.nothing"):
        closure.digest("pkg.nothing")


def test_no_module_is_imported_in_a_way_that_the_closure_cannot_see():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
                assert "todflow" not in ast.unparse(node), f"{path}: {ast.unparse(node)}"


def test_every_data_file_of_the_package_is_reached_from_some_module():
    reached = set()
    for path in SOURCE.rglob("*.py"):
        reached |= set(closure._needs(path))
    data = {p for p in SOURCE.rglob("*") if p.is_file() and p.suffix not in {".py", ".pyc"}}
    licences = {p for p in data if "licen" in p.name.lower()}
    assert data - licences <= reached
