"""Settings: checked against the schema and completed with its defaults."""

import difflib
import math
from collections.abc import Iterator
from copy import deepcopy

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from todflow.errors import TodflowError


# 64.0 is no whole number here, since it would be another text in a path; infinity is no number at all.
STRICT = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    ).redefine(
        "number", lambda _, value: type(value) in (int, float) and math.isfinite(value)
    ),
)


def resolve(raw: dict, schema: dict) -> dict:
    """`raw` with every default of `schema` filled in, at any depth.

    Raises TodflowError that names the first wrong key by its dotted path; an unknown key also gets
    the nearest known one.
    """
    _check_names(raw)
    result = _with_defaults(deepcopy(raw), schema)
    errors = sorted(STRICT(schema).iter_errors(result), key=_position)
    if errors:
        raise TodflowError(f"config: {_explain(errors[0])}")
    return result


def keys(schema: dict, prefix: str = "") -> Iterator[tuple[str, dict]]:
    """Every (dotted key, its schema) in order; a name chosen by the user is written `<name>`."""
    for name, part in _properties(schema):
        path = f"{prefix}{name}"
        yield path, part
        yield from keys(part, path + ".")


def nearest(name: str, known: list[str], key: str) -> None:
    """Raise TodflowError, with the nearest of `known`, if the config `key` holds a `name` not among them."""
    if name not in known:
        raise TodflowError(f"config: '{key}': unknown '{name}'; {_hint(name, known)}")


def _hint(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known)}"


def _properties(schema: dict) -> list[tuple[str, dict]]:
    found = list(schema.get("properties", {}).items())
    free = schema.get("additionalProperties")
    return found + ([("<name>", free)] if isinstance(free, dict) else [])


def _check_names(section: dict, path: str = "") -> None:
    for name, value in section.items():
        if not isinstance(name, str):
            raise TodflowError(f"config: key {name!r} in '{path or 'top level'}' is no text; quote it")
        if isinstance(value, dict):
            _check_names(value, f"{path}.{name}".lstrip("."))


def _with_defaults(value: object, schema: dict) -> object:
    if not isinstance(value, dict):
        return value
    for name, part in schema.get("properties", {}).items():
        if name not in value and "default" in part:
            value[name] = deepcopy(part["default"])
        elif name not in value and part.get("type") == "object" and "properties" in part:
            value[name] = {}
        if name in value:
            value[name] = _with_defaults(value[name], part)
    free = schema.get("additionalProperties")
    if isinstance(free, dict):
        for name in value:
            if name not in schema.get("properties", {}):
                value[name] = _with_defaults(value[name], free)
    return value


def _position(error: ValidationError) -> tuple:
    # Unknown keys first: a misspelt key often shows up as a missing one too.
    return (error.validator != "additionalProperties", [str(part) for part in error.absolute_path])


def _explain(error: ValidationError) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = next(name for name in error.instance if name not in known)
        return f"unknown key '{f'{path}.' if path else ''}{unknown}'; {_hint(unknown, known)}"
    hint = ""
    if error.validator == "type" and isinstance(error.instance, str) and _is_number(error.instance):
        hint = "; YAML reads this as text, write a number with a point such as 2.0e-5"
    return f"'{path or 'top level'}': {error.message}{hint}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
