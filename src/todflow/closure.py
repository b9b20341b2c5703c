"""Which source files a stage runs, found from its imports, and a digest of their content.

Snakemake sees a change of a rule's command or script, not of the modules that these import. Each rule
therefore has the digest of its import closure as a parameter (`code=`), so that an edited module makes
exactly the outputs of the rules that import it stale.
"""

import ast
import functools
import hashlib
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
PACKAGE = Path(__file__).resolve().parent.name


def digest(start: str | Path) -> str:
    """12 hexadecimal digits over the names and contents of `files(start)`.

    Names are relative to the source folder, so two checkouts of the same code agree.
    """
    sha = hashlib.sha256()
    named = {_name(path): path for path in files(start)}
    for name in sorted(named):
        content = named[name].read_bytes()
        sha.update(f"{name}\0{len(content)}\0".encode() + content)
    return sha.hexdigest()[:12]


def _name(path: Path) -> str:
    inside = path.is_relative_to(SOURCE)
    return path.relative_to(SOURCE).as_posix() if inside else f"script/{path.name}"


def files(start: str | Path) -> list[Path]:
    """The import closure of a module (`"todflow.score"`) or script (a path), itself included, sorted.

    It holds the modules of this package that are imported, directly or not, anywhere in the file
    (inside functions too), their packages' `__init__.py`, and the data files beside them that they
    name in a string literal. Raises FileNotFoundError for a module that doesn't exist.
    """
    found: set[Path] = set()
    waiting = [start] if isinstance(start, Path) else _module_files(start)
    if not waiting:
        raise FileNotFoundError(f"no module {start} in {SOURCE}")
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _needs(path) if path.suffix == ".py" else []
    return sorted(found)


def _needs(path: Path) -> list[Path]:
    """What one Python file names: modules of the package, and data files that lie beside it."""
    needed: list[Path] = []
    for kind, name in _names(path, path.stat().st_mtime_ns):
        if kind == "module":
            needed += _module_files(name)
        elif (beside := path.parent / name).is_file():
            needed.append(beside)
    return needed


@functools.cache
def _names(path: Path, _changed: int) -> list[tuple[str, str]]:
    """("module", dotted name) and ("text", string literal) of a file; parsed once per version."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            names += [("module", alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _base(path, node)
            # `from package import name` may name a module or something inside the package.
            names += [("module", f"{base}.{alias.name}") for alias in node.names]
            names.append(("module", base))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if 0 < len(node.value) < 80 and node.value.isprintable() and "/" not in node.value:
                names.append(("text", node.value))
    own = f"{PACKAGE}."
    return [
        (kind, name) for kind, name in names if kind == "text" or f"{name}.".startswith(own)
    ]


def _base(path: Path, node: ast.ImportFrom) -> str:
    """The absolute name of the package or module after `from`."""
    if not node.level:
        return node.module or ""
    package = list(path.relative_to(SOURCE).parent.parts)
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, *([node.module] if node.module else [])])


def _module_files(name: str) -> list[Path]:
    """The file of a module and the `__init__.py` of each package around it; [] if there is none."""
    parts = name.split(".")
    path = SOURCE.joinpath(*parts)
    module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not module.is_file():
        return []
    around = [SOURCE.joinpath(*parts[:depth], "__init__.py") for depth in range(1, len(parts))]
    return [module, *(path for path in around if path.is_file())]
