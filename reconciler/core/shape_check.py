"""Hold a value against its shape and tell every difference in plain words."""

import json
from collections.abc import Callable
from typing import Any

from reconciler.core.mistakes import Mistake, shown
from reconciler.core.places import Path
from reconciler.core.shapes import Bounds, Shape
from reconciler.kube import names, quantities

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
        elif shape.closed:
            found.append(_unknown(shape, value, name, path))
    for name in shape.required:
        if name not in value:
            found.append(_missing(shape, name, path))


def _check_list(shape: Shape, value: list[Any], path: Path, found: list[Mistake]) -> None:
    inner = shape.items
    if inner is not None:
        for index, item in enumerate(value):
            check(inner, item, (*path, index), found)
    least, most = shape.length or (None, None)
    if least is not None and len(value) < least:
        found.append(Mistake(path, f"must have at least {least:g} items", "add one", "length"))
    if most is not None and len(value) > most:
        message = f"must have at most {most:g} items, not {len(value)}"
        found.append(Mistake(path, message, "take some out", "length"))
    if shape.unique:
        for index, item in enumerate(value):
            if item in value[:index]:
                message = f"{shown(item)} stands in the list twice"
                found.append(Mistake((*path, index), message, "keep one", "duplicate"))


def _check_text(shape: Shape, value: str, path: Path, found: list[Mistake]) -> None:
    least, most = shape.length or (None, None)
    too_short = least is not None and len(value) < least
    too_long = most is not None and len(value) > most
    wrong = shape.pattern is not None and shape.pattern.fullmatch(value) is None
    if not (too_short or too_long or wrong):
        return
    if shape.plain:
        wanted = shape.plain
    elif too_short:
        wanted = "text that is not empty"
    else:
        wanted = f"text of at most {most:g} characters" if too_long else "written another way"
    found.append(Mistake(path, f"must be {wanted}, not {shown(value)}", "", "text"))


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
    if kind == "quantity":
        problem = _quantity_problem(value)
    elif kind == "int-or-string":
        problem = None if type(value) in (int, str) else "must be a whole number or a text"
    else:
        judge = _FORMATS.get(kind)
        problem = judge(value) if judge is not None and isinstance(value, str) else None
    if problem is not None:
        found.append(Mistake(path, f"{shown(value)}: {problem}", "", kind))


def _quantity_problem(value: Any) -> str | None:
    if type(value) not in (int, float, str):
        return "must be an amount such as 250m, 2 or 512Mi"
    try:
        quantities.parse(value)
    except ValueError:
        return "is no amount: write a number with an optional unit, such as 250m, 2 or 512Mi"
    return None


def _port_name_problem(text: str) -> str | None:
    good = len(text) <= 15 and any(c.isalpha() for c in text) and "--" not in text
    if good and names.label_problem(text) is None:
        return None
    return (
        "a port name has at most 15 lower-case letters, digits and single '-', at least one letter"
    )


_FORMATS: dict[str, Callable[[str], str | None]] = {
    "dns-label": names.label_problem,
    "dns-subdomain": names.subdomain_problem,
    "env-name": names.env_name_problem,
    "port-name": _port_name_problem,
}


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
        bare = value.replace("_", "").lstrip("+").lstrip("0") or "0"
        return f"write {bare}" if bare.isascii() and bare.isdigit() else "write a plain number"
    if kinds == ["array"]:
        return "start each item on a line of its own with '- '"
    return ""


def _not_listed(shape: Shape, value: Any, path: Path) -> Mistake:
    known = [one for one in shape.enum if one != ""]
    listed = ", ".join(str(one) for one in known)
    near = names.nearest(value, known) if isinstance(value, str) else None
    message = f"must be {listed}" if len(known) == 1 else f"must be one of {listed}"
    fix = f"did you mean {shown(near)}?" if near and near != value else ""
    if not fix and len(known) == 1:
        fix = f"write {known[0]}"
    return Mistake(path, f"{message}, not {shown(value)}", fix, "enum")


def _unknown(shape: Shape, value: dict[str, Any], name: str, path: Path) -> Mistake:
    near = names.nearest(name, shape.properties - value.keys())
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
