"""Whether a partial object fits its schema's structure, as server-side apply checks it."""

from collections.abc import Callable, Iterator
from typing import Any

from reconciler.kube import fieldpaths
from reconciler.kube.fieldpaths import BadObject, Path
from reconciler.kube.json_types import Json
from reconciler.kube.schemas import Schema

_CONTAINERS = {"object": "map", "array": "list"}


def type_problems(obj: Json, schema: Schema) -> list[str]:
    """List what the schema cannot describe, in the API server's words; empty when all fits."""
    return list(_problems(obj, schema, ()))


def _problems(part: Any, schema: Schema, path: Path) -> Iterator[str]:
    # What is a number or a text has no type in the server's own schema: its decoder judges it.
    if part is None or schema.untyped or schema.format == "int-or-string":
        return
    if isinstance(part, dict) and schema.type == "object":
        yield from _field_problems(part, schema, path)
    elif isinstance(part, list) and schema.type == "array":
        yield from item_problems(part, schema, path, _problems)
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


def item_problems(
    part: list[Any],
    schema: Schema,
    path: Path,
    inside: Callable[[Any, Schema, Path], Iterator[str]],
) -> Iterator[str]:
    """Find what is wrong with the names of a list's items, and by `inside` with the items."""
    for item, element, problem in _named_items(part, schema):
        if problem:
            yield f"{fieldpaths.text(path)}: {problem}"
        if element:
            yield from inside(item, schema.items(), (*path, element))


def _named_items(part: list[Any], schema: Schema) -> Iterator[tuple[Any, str, str]]:
    """Yield the items of a list, each with its path element and what is wrong with that, or "".

    The server gives up at the first item that it cannot name: its element is "".
    """
    seen = set()
    for index, item in enumerate(part):
        if schema.list_type == "atomic":
            yield item, f"i:{index}", ""
            continue
        try:
            element = _element(item, schema)
        except BadObject as error:
            yield item, "", f"element {index}: {error}"
            return
        twice = f"duplicate entries for key {fieldpaths.text((element,))}"
        yield item, element, twice if element in seen else ""
        seen.add(element)


def _element(item: Any, schema: Schema) -> str:
    if schema.list_type == "set" and (item is None or isinstance(item, dict)):
        what = "an explicit null" if item is None else "a map type"
        raise BadObject(f"associative list without keys has an element that's {what}")
    return fieldpaths.item_element(item, schema)


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
