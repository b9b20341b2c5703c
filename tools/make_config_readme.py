"""Write the table of keys in config/README.md from the schema: .venv/bin/python tools/make_config_readme.py"""

import json
from pathlib import Path

import yaml

from todflow.config import keys

ROOT = Path(__file__).resolve().parent.parent
START = "<!-- keys: written by tools/make_config_readme.py -->\n"


def table(schema: dict) -> str:
    """One Markdown row per key: name, type or choices, default, meaning."""
    rows = ["| key | values | default | meaning |", "| --- | --- | --- | --- |"]
    for path, part in keys(schema):
        default = json.dumps(part["default"]) if "default" in part else ""
        if len(default) > 40:
            default = "see config.yaml"
        rows.append(
            f"| `{path}` | {_values(part)} | {f'`{default}`' if default else ''} | {part['description']} |"
        )
    return "\n".join(rows) + "\n"


def _values(part: dict) -> str:
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if part.get("type") == "array":
        return f"list of {_values(part['items'])}"
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    return " or ".join({"object": "section"}.get(kind, kind) for kind in kinds)


def with_table(readme: str, schema: dict) -> str:
    """The README with its table replaced."""
    return readme.split(START)[0] + START + table(schema)


if __name__ == "__main__":
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    readme = ROOT / "config" / "README.md"
    readme.write_text(with_table(readme.read_text(), schema))
