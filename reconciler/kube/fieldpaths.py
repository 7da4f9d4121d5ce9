"""Paths to the fields of an object, element by element, as managedFields writes them.

An element is `f:<field>`, `k:{"<key>":…}` (a list item by its keys), `v:<value>` (an item of a
set) or `i:<index>`; a path is a tuple of them, the object itself the empty path.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from reconciler.kube.json_types import Json
from reconciler.kube.schemas import Schema

Path = tuple[str, ...]

_ORDER = "fkvi"
_EMPTY: Mapping[str, Any] = {"string": "", "integer": 0}


class BadObject(ValueError):
    """An object that its schema cannot describe; the text is the API server's."""


def field(name: str) -> str:
    """Name a field of an object or an entry of a map."""
    return f"f:{name}"


@lru_cache(maxsize=4096)
def _key_of(pairs: tuple[tuple[str, Any], ...]) -> str:
    return "k:" + _compact(dict(sorted(pairs)))


def key(keys: Mapping[str, Any]) -> str:
    """Name a list item by its key fields."""
    # The type goes along because Python holds 1 and True for one value, and JSON does not.
    if any(isinstance(value, bool | float | dict | list) for value in keys.values()):
        return "k:" + _compact(dict(sorted(keys.items())))
    return _key_of(tuple(keys.items()))


def value(item: Any) -> str:
    """Name an item of a set by its value."""
    return "v:" + _compact(item)


def item_element(item: Any, schema: Schema) -> str:
    """Name an item of a set or of a keyed list of this schema.

    A required key that is left out is empty. Raises BadObject for an item that is no object.
    """
    if schema.list_type == "set":
        if isinstance(item, list):
            raise BadObject("not supported: associative list with lists as elements")
        return value(item)
    if not isinstance(item, dict):
        what = "a null element" if item is None else "non-map elements"
        raise BadObject(f"associative list with keys may not have {what}")
    inner = schema.items()
    found: Json = {}
    for name in schema.list_map_keys:
        part = item.get(name, _absent_key(inner, name))
        if part is not None or name in item:
            found[name] = part
    if not found:
        missing = schema.list_map_keys[0] if schema.list_map_keys else ""
        raise BadObject(
            f'associative list with keys has an element that omits key field "{missing}"'
            " (and doesn't have default value)"
        )
    return key(found)


def _absent_key(inner: Schema, name: str) -> Any:
    if name in inner.key_defaults or name not in inner.required:
        return inner.key_defaults.get(name)
    kept = inner.field(name)
    return _EMPTY.get(kept.type) if kept is not None else None


def by_element(items: list[Any] | None, schema: Schema) -> dict[str, list[Any]]:
    """Sort the items of a set or keyed list by their element, in order; doubles stay together.

    Raises BadObject for an item without any of its keys.
    """
    found: dict[str, list[Any]] = {}
    for index, item in enumerate(items or ()):
        try:
            element = item_element(item, schema)
        except BadObject as error:
            raise BadObject(f"element {index}: {error}") from error
        found.setdefault(element, []).append(item)
    return found


def text(path: Path) -> str:
    """Write a path as conflicts print it: `.spec.containers[name="c"].image`."""
    return "".join(map(_element_text, path))


def order(path: Path) -> tuple[Any, ...]:
    """Give the sort key of a path: the fields of a level before what is inside them."""
    return tuple((1, *_element_order(element)) for element in path[:-1]) + tuple(
        (0, *_element_order(element)) for element in path[-1:]
    )


def _element_order(element: str) -> tuple[int, str]:
    return _ORDER.index(element[0]), element[2:]


def _element_text(element: str) -> str:
    mark, rest = element[0], element[2:]
    if mark == "f":
        return f".{rest}"
    if mark == "i":
        return f"[{rest}]"
    read = json.loads(rest)
    if mark == "v":
        return f"[={_shown(read)}]"
    return "[" + ",".join(f"{name}={_shown(part)}" for name, part in read.items()) + "]"


def _shown(part: Any) -> str:
    if isinstance(part, dict):
        return ",".join(f"{name}={_shown(inner)}" for name, inner in sorted(part.items()))
    return _compact(part)


def _compact(part: Any) -> str:
    return json.dumps(part, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
