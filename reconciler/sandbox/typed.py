"""What server-side apply checks first: text where text belongs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reconciler.kube import fieldpaths
from reconciler.kube.fieldpaths import Path
from reconciler.kube.schemas import Schema
from reconciler.kube.typecheck import item_problems
from reconciler.sandbox import gotext

_TYPES = {str: "string", bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}


def scalar_problems(part: Any, schema: Schema, path: Path = ()) -> Iterator[str]:
    """Find every place where another value stands than belongs there, in the server's order."""
    if schema.type == "string" and _is_foreign(part, schema):
        shown = f"&value.valueUnstructured{{Value:{gotext.syntax(part)}}}"
        yield f"{fieldpaths.text(path)}: expected string, got {shown}"
    elif schema.type in ("integer", "number") and not _is_number(part):
        told = _TYPES.get(type(part), "nil")
        yield f"{fieldpaths.text(path)}: expected numeric (int or float), got {told}"
    elif (
        schema.type == "boolean"
        and isinstance(part, str | int | float)
        and part not in (True, False)
    ):
        yield f"{fieldpaths.text(path)}: expected boolean, got &{{{gotext.shown(part)}}}"
    elif isinstance(part, dict) and schema.type == "object":
        for name, child in part.items():
            inner = schema.field(name)
            if inner is not None:
                yield from scalar_problems(child, inner, (*path, fieldpaths.field(name)))
    elif isinstance(part, list) and schema.type == "array":
        yield from item_problems(part, schema, path, scalar_problems)


def _is_foreign(part: Any, schema: Schema) -> bool:
    # Times have no type in the server's own schema, so apply lets anything in their place.
    return part is not None and not isinstance(part, str) and schema.format != "date-time"


def _is_number(part: Any) -> bool:
    return part is None or (isinstance(part, int | float) and not isinstance(part, bool))
