"""Whether a partial object fits its schema's structure, as server-side apply checks it."""

from collections.abc import Iterator
from typing import Any

from reconciler.kube import fieldpaths
from reconciler.kube.fieldpaths import Path
from reconciler.kube.json_types import Json
from reconciler.kube.schemas import Schema

_CONTAINERS = {"object": "map", "array": "list"}


def type_problems(obj: Json, schema: Schema) -> list[str]:
    """List what the schema cannot describe, in the API server's words; empty when all fits."""
    return list(_problems(obj, schema, ()))


def _problems(part: Any, schema: Schema, path: Path) -> Iterator[str]:
    if part is None or schema.untyped:
        return
    if isinstance(part, dict) and schema.type == "object":
        yield from _field_problems(part, schema, path)
    elif isinstance(part, list) and schema.type == "array":
        yield from _item_problems(part, schema, path)
    elif schema.type in _CONTAINERS or isinstance(part, dict | list):
        # Times have no type in the server's own schema.
        scalar = "" if schema.format == "date-time" else schema.type
        wanted = _CONTAINERS.get(schema.type, scalar or "any scalar")
        yield f"{fieldpaths.text(path)}: expected {wanted}, got &{{{_printed(part)}}}"


def _field_problems(part: Json, schema: Schema, path: Path) -> Iterator[str]:
    for name, child in part.items():
        inside = (*path, fieldpaths.field(name))
        declared = schema.field(name)
        if declared is None:
            yield f"{fieldpaths.text(inside)}: field not declared in schema"
        else:
            yield from _problems(child, declared, inside)


def _item_problems(part: list[Any], schema: Schema, path: Path) -> Iterator[str]:
    if schema.list_type == "atomic":
        for index, item in enumerate(part):
            yield from _problems(item, schema.items(), (*path, f"i:{index}"))
        return
    try:
        found = fieldpaths.by_element(part, schema)
    except fieldpaths.BadObject as problem:
        yield f"{fieldpaths.text(path)}: {problem}"
        return
    for element, items in found.items():
        inside = (*path, element)
        if len(items) > 1:
            keys = fieldpaths.text((element,))
            yield f"{fieldpaths.text(path)}: duplicate entries for key {keys}"
        for item in items:
            yield from _problems(item, schema.items(), inside)


def _printed(part: Any) -> str:
    """Print a value as Go does."""
    if isinstance(part, dict):
        inside = " ".join(f"{name}:{_printed(part[name])}" for name in sorted(part))
        return f"map[{inside}]"
    if isinstance(part, list):
        return f"[{' '.join(map(_printed, part))}]"
    if isinstance(part, bool):
        return str(part).lower()
    return str(part)
