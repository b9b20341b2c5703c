"""Stage: the folder that convlab 3.0.1 runs from, with the data that its package leaves out.

    python -m todflow.convlab_bridge.data --out results/convlab/manifest.json --log FILE

convlab looks for `data/` three levels above its own modules, and downloads what it does not find.
The package on PyPI has no such folder. Here it is made from files inside the package (databases,
goal model) and from this project's own modules; nothing is downloaded and the installed package is
not touched.

The folder of the manifest gets `data/` and `convlab/`, a mirror of the installed package: real
folders with links to its files. A link to the package as a whole would not do, since some modules
walk up with `..`, which the file system resolves on the far side of a link.
"""

import argparse
import importlib.metadata
import io
import json
import os
import shutil
import zipfile
from pathlib import Path

from todflow.convlab_bridge import slots
from todflow.convlab_bridge.goals import complete_goal_model
from todflow.errors import TodflowError
from todflow.files import atomic, sha256, write_json
from todflow.stage import parser, run

VERSION = "3.0.1"
DOMAINS = ("attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train")

# One hospital, one police station: the shipped databases lack where they are.
HOSPITAL = {"address": "hills rd , cambridge", "postcode": "cb20qq"}
POLICE = {"postcode": "cb11jg"}


def installed_package() -> Path:
    """The installed convlab's folder. Raises TodflowError when it is missing or another version."""
    remedy = f"install it with `pip install --no-deps convlab=={VERSION}`"
    try:
        distribution = importlib.metadata.distribution("convlab")
    except importlib.metadata.PackageNotFoundError:
        raise TodflowError(f"convlab is not installed; {remedy}") from None
    if distribution.version != VERSION:
        raise TodflowError(f"convlab {distribution.version} is installed, not {VERSION}; {remedy}")
    return Path(str(distribution.locate_file("convlab")))


def databases(package: Path) -> dict[str, object]:
    """{domain: content of its database}, with the repairs above."""
    result = {}
    for domain in DOMAINS:
        path = package / "human_eval" / "db" / f"{domain}_db.json"
        result[domain] = json.loads(path.read_text(encoding="utf-8"))
    result["hospital"] = [row | HOSPITAL for row in result["hospital"]]
    result["police"] = [row | POLICE for row in result["police"]]
    return result


def value_sets(database: dict[str, object]) -> dict[str, dict[str, list[str]]]:
    """{domain: {column: its distinct text values, sorted}}; the taxi "database" has no rows."""
    result = {}
    for domain, rows in database.items():
        columns: dict[str, set[str]] = {}
        for row in rows if isinstance(rows, list) else ():
            for column, value in row.items():
                if isinstance(value, str):
                    columns.setdefault(column, set()).add(value)
        result[domain] = {column: sorted(values) for column, values in columns.items()}
    return result


def lower_cased(values: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    """The value sets as the rule-based tracker wants them: keys and values in lower case."""
    return {
        domain: {
            column.lower(): sorted({value.lower() for value in found})
            for column, found in columns.items()
        }
        for domain, columns in values.items()
    }


def ontology_archive() -> bytes:
    """A zip with `data/ontology.json`, of which the tracker reads the empty belief state."""
    state = {domain: dict.fromkeys(names, "") for domain, names in slots.STATE_SLOTS.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        # A fixed date, for same bytes.
        entry = zipfile.ZipInfo("data/ontology.json", date_time=(1980, 1, 1, 0, 0, 0))
        archive.writestr(entry, json.dumps({"state": state}))
    return buffer.getvalue()


def data_files(package: Path) -> dict[str, bytes]:
    """{path in the runtime folder: content} of what convlab expects and does not bring."""
    database = databases(package)
    values = value_sets(database)
    documents = {f"multiwoz/db/{domain}_db.json": rows for domain, rows in database.items()}
    documents["multiwoz/value_set.json"] = values
    documents["multiwoz/value_dict.json"] = lower_cased(values)
    result = {path: json.dumps(content, indent=1).encode() for path, content in documents.items()}
    goal_model = package / "human_eval" / "goal" / "goal_model.pkl"
    result["multiwoz/goal/new_goal_model.pkl"] = complete_goal_model(goal_model)
    unified = "unified_datasets/multiwoz21"
    result[f"{unified}/preprocess.py"] = Path(slots.__file__).read_bytes()
    result[f"{unified}/data.zip"] = ontology_archive()
    return {f"data/{path}": content for path, content in result.items()}


def package_files(package: Path) -> list[str]:
    """The package's modules, and the sentence templates, as paths below the package's parent."""
    found = [*package.rglob("*.py"), *(package / "nlg" / "template" / "multiwoz").glob("*.json")]
    return sorted(str(path.relative_to(package.parent)) for path in found)


def assemble(folder: Path) -> dict:
    """Fill `folder` and return the manifest, {"convlab": version, "files": {path: SHA-256}}."""
    package = installed_package()
    for old in (folder / "convlab", folder / "data"):
        if old.is_symlink():
            old.unlink()
        elif old.exists():
            shutil.rmtree(old)
    contents = data_files(package)
    for path, content in contents.items():
        with atomic(folder / path) as temporary:
            temporary.write_bytes(content)
    linked = package_files(package)
    for path in linked:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(package.parent / path, folder / path)
    files = {path: sha256(folder / path) for path in [*sorted(contents), *linked]}
    return {"convlab": VERSION, "files": files}


def main(args: argparse.Namespace) -> None:
    """Build the folder; the manifest comes last, so a half-built folder has none."""
    args.out.unlink(missing_ok=True)
    write_json(args.out, assemble(args.out.absolute().parent))


def _options() -> argparse.ArgumentParser:
    options = parser("Assemble the folder that convlab runs from.")
    options.add_argument(
        "--out", type=Path, required=True, help="the manifest, in the folder to fill"
    )
    return options


if __name__ == "__main__":
    run(_options(), main)
