"""Hold a value against its shape and tell every difference in plain words."""

import json
import re
from typing import Any

from reconciler.core import formats
from reconciler.core.mistakes import MOST_MISTAKES, Mistake, likely, shown
from reconciler.core.places import Path
from reconciler.core.shapes import Bounds, Shape

_TYPES: dict[type, frozenset[str]] = {
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    str: frozenset({"string"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
    type(None): frozenset({"null"}),
}
_WORDS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "a mapping of properties",
    "null": "nothing",
}
_SWITCHES = {"yes": "true", "on": "true", "True": "true", "TRUE": "true", "y": "true"} | {
    "no": "false", "off": "false", "False": "false", "FALSE": "false", "n": "false"
}  # fmt: skip
_MOST_LISTED = 12


def check(shape: Shape, value: Any, path: Path, found: list[Mistake]) -> None:
    """Append to `found` every way in which `value` is not of `shape`."""
    if len(found) >= MOST_MISTAKES:
        return
    if shape.choices:
        _check_choices(shape, value, path, found)
        return
    if shape.types and not (shape.types & _TYPES[type(value)]):
        found.append(_wrong_type(shape, value, path))
        return
    if shape.format and value is not None:
        _check_format(shape.format, value, path, found)
    if shape.enum and value is not None and value not in shape.enum:
        found.append(_not_listed(shape, value, path))
    if isinstance(value, dict):
        _check_object(shape, value, path, found)
    elif isinstance(value, list):
        _check_list(shape, value, path, found)
    elif isinstance(value, str):
        _check_text(shape, value, path, found)
    elif shape.span is not None and isinstance(value, int | float):
        _check_span(shape.span, value, path, found)


def _check_object(shape: Shape, value: dict[str, Any], path: Path, found: list[Mistake]) -> None:
    for name, item in value.items():
        inner = shape.field(name)
        if inner is not None:
            check(inner, item, (*path, name), found)
        elif shape.closed and len(found) < MOST_MISTAKES:
            found.append(_unknown(shape, value, name, path))
    for name in shape.required:
        if name not in value or (value[name] is None and _may_be_null(shape.field(name))):
            found.append(_missing(shape, name, path))


def _may_be_null(shape: Shape | None) -> bool:
    return shape is None or not shape.types or "null" in shape.types


def _check_list(shape: Shape, value: list[Any], path: Path, found: list[Mistake]) -> None:
    inner = shape.items
    if inner is not None:
        for index, item in enumerate(value):
            if item is None and "null" in inner.types:
                message = "a list has no empty items"
                found.append(Mistake((*path, index), message, "take the '-' out", "type"))
            else:
                check(inner, item, (*path, index), found)
    least, most = shape.length or (None, None)
    if least is not None and len(value) < least:
        found.append(Mistake(path, f"must have at least {least:g} items", "add one", "length"))
    if most is not None and len(value) > most:
        message = f"must have at most {most:g} items, not {len(value)}"
        found.append(Mistake(path, message, "take some out", "length"))
    if shape.unique:
        seen: set[str] = set()
        for index, item in enumerate(value):
            if isinstance(item, str) and item in seen and len(found) < MOST_MISTAKES:
                message = f"{shown(item)} stands in the list twice"
                found.append(Mistake((*path, index), message, "keep one", "duplicate"))
            seen.add(str(item))


def _check_text(shape: Shape, value: str, path: Path, found: list[Mistake]) -> None:
    if shape.accepts(value):
        return
    least, most = shape.length or (None, None)
    if shape.plain:
        wanted = shape.plain
    elif least is not None and len(value) < least:
        wanted = "text that is not empty"
    else:
        wanted = f"text of at most {most:g} characters" if most else "written another way"
    fix = formats.mended(value, shape.accepts)
    found.append(Mistake(path, f"must be {wanted}, not {shown(value)}", fix, "text"))


def _check_span(span: Bounds, value: float, path: Path, found: list[Mistake]) -> None:
    least, most = span
    if least is not None and value < least:
        message = f"must be at least {least:.15g}, not {value}"
        found.append(Mistake(path, message, f"write {least:.15g} or more", "range"))
    elif most is not None and value > most:
        message = f"must be at most {most:.15g}, not {value}"
        found.append(Mistake(path, message, f"write {most:.15g} or less", "range"))


def _check_choices(shape: Shape, value: Any, path: Path, found: list[Mistake]) -> None:
    best: list[Mistake] | None = None
    for choice in shape.choices:
        tried: list[Mistake] = []
        check(choice, value, path, tried)
        if not tried:
            return
        if best is None or tried[0].rule != "type":
            best = tried
    if best and best[0].rule == "range":
        found.extend(best)
        return
    wanted = shape.plain or "of one of the types that the schema names"
    found.append(Mistake(path, f"must be {wanted}, not {shown(value)}", "", "type"))


def _check_format(kind: str, value: Any, path: Path, found: list[Mistake]) -> None:
    problem = formats.problem_of(kind, value)
    if problem is not None:
        sentence, fix = problem
        found.append(Mistake(path, f"{sentence}, not {shown(value)}", fix, kind))


def _wrong_type(shape: Shape, value: Any, path: Path) -> Mistake:
    kinds = sorted(shape.types - {"null"})
    wanted = " or ".join(_WORDS[kind] for kind in kinds)
    return Mistake(path, f"must be {wanted}, not {_what(value)}", _type_fix(kinds, value), "type")


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    # The value itself is not repeated: it may be a secret in the wrong notation.
    if isinstance(value, str):
        return "text" if len(value) > 20 else f"the text {shown(value)}"
    return "a boolean" if isinstance(value, bool) else "a number"


def _type_fix(kinds: list[str], value: Any) -> str:
    if kinds == ["string"] and isinstance(value, int | float):
        return "put it in quotes"
    if kinds == ["boolean"] and isinstance(value, str):
        return f"write {_SWITCHES.get(value, 'true or false')} without quotes"
    if set(kinds) <= {"integer", "number"} and isinstance(value, str):
        return _number_fix(value)
    if kinds == ["array"]:
        return "start each item on a line of its own with '- '"
    return ""


def _number_fix(text: str) -> str:
    bare = text.replace("_", "").lstrip("+").lstrip("0") or "0"
    if len(text) > 20 or not (bare.isascii() and bare.isdigit()):
        return "write a plain number"
    if re.fullmatch("0[0-7]+", text) and bare != "0":
        return f"write {bare}, or {int(text, 8)} if octal was meant"
    return f"write {bare}"


def _not_listed(shape: Shape, value: Any, path: Path) -> Mistake:
    known = [one for one in shape.enum if one != ""]
    listed = ", ".join(str(one) for one in known)
    near = likely(value, known)
    message = f"must be {listed}" if len(known) == 1 else f"must be one of {listed}"
    fix = f"did you mean {shown(near)}?" if near and near != value else ""
    if not fix and len(known) == 1:
        fix = f"write {known[0]}"
    return Mistake(path, f"{message}, not {shown(value)}", fix, "enum")


def _unknown(shape: Shape, value: dict[str, Any], name: str, path: Path) -> Mistake:
    near = likely(name, shape.properties - value.keys())
    known = sorted(shape.properties)
    if near is not None:
        fix = f"did you mean {shown(near)}?"
    elif known and len(known) <= _MOST_LISTED:
        fix = f"known here: {', '.join(known)}"
    else:
        fix = "take it out"
    return Mistake((*path, name), "unknown property", fix, "unknown-property", at_key=True)


def _missing(shape: Shape, name: str, path: Path) -> Mistake:
    example = shape.example(name)
    text = "" if example is None else f" {json.dumps(example)}"
    fix = f"add {name}:{text}"
    return Mistake(path, f"{name} is missing", fix, "missing-property", at_key=True)
