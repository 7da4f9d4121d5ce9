"""Patches of JSON documents: merge patch (RFC 7396) and JSON patch (RFC 6902).

The third kind, Kubernetes' own, stands in `strategic`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from reconciler.kube.json_types import MISSING, Json, copied, same
from reconciler.kube.strategic import PatchFailed as PatchFailed
from reconciler.kube.strategic import strategic_patch as strategic_patch


def merge_patch(doc: Any, patch: Any) -> Any:
    """Lay a merge patch over a document: null deletes, lists are replaced whole."""
    if not isinstance(patch, dict):
        return copied(patch)
    merged: Json = copied(doc) if isinstance(doc, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def json_patch(doc: Any, operations: Sequence[Json]) -> Any:
    """Carry out the operations in order.

    Raises PatchFailed, naming the operation, where one cannot be done: then none is.
    """
    root = {"": copied(doc)}
    for number, operation in enumerate(operations, start=1):
        try:
            _carry_out(root, operation)
        except PatchFailed as failure:
            verb, path = operation.get("op"), operation.get("path")
            raise PatchFailed(f"operation {number}, {verb} {path}: {failure}") from failure
    return root[""]


def _carry_out(root: Json, operation: Json) -> None:
    verb = operation.get("op")
    act = _OPERATIONS.get(verb) if isinstance(verb, str) else None
    if act is None:
        raise PatchFailed(f"unknown op, write one of {', '.join(_OPERATIONS)}")
    act(root, operation)


def _add(root: Json, operation: Json) -> None:
    _insert(root, _path(operation, "path"), _value(operation))


def _remove(root: Json, operation: Json) -> None:
    _take(root, _path(operation, "path"))


def _replace(root: Json, operation: Json) -> None:
    path, value = _path(operation, "path"), _value(operation)
    parent = _parent(root, path)
    # An absent field is set, which RFC 6902 forbids and the API server does.
    parent[_index(parent, path[-1]) if isinstance(parent, list) else path[-1]] = value


def _move(root: Json, operation: Json) -> None:
    source, path = _path(operation, "from"), _path(operation, "path")
    if len(path) > len(source) and path[: len(source)] == source:
        raise PatchFailed("a value cannot move into itself")
    _insert(root, path, _take(root, source))


def _copy(root: Json, operation: Json) -> None:
    _insert(root, _path(operation, "path"), copied(_read(root, _path(operation, "from"))))


def _test(root: Json, operation: Json) -> None:
    if not same(_read(root, _path(operation, "path")), operation.get("value")):
        raise PatchFailed("the value is another one")


_OPERATIONS: dict[str, Callable[[Json, Json], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _path(operation: Json, name: str) -> list[str]:
    """Split a JSON pointer; the first part is the root itself."""
    pointer = operation.get(name)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise PatchFailed(f"{name} must be a JSON pointer such as /metadata/labels")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")]


def _value(operation: Json) -> Any:
    value = operation.get("value", MISSING)
    if value is MISSING:
        raise PatchFailed("value is missing")
    return copied(value)


def _read(root: Json, path: list[str]) -> Any:
    """Read a value; a field that is absent passes for null, as in the API server."""
    parent = _parent(root, path)
    return parent.get(path[-1]) if isinstance(parent, dict) else _look(root, path)


def _look(root: Json, path: list[str]) -> Any:
    value: Any = root
    for part in path:
        if isinstance(value, list):
            value = value[_index(value, part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            raise PatchFailed(f"there is no {part!r} on this path")
    return value


def _parent(root: Json, path: list[str]) -> Any:
    parent = _look(root, path[:-1])
    if not isinstance(parent, dict | list):
        raise PatchFailed(f"nothing can be inside the value before {path[-1]!r}")
    return parent


def _insert(root: Json, path: list[str], value: Any) -> None:
    parent = _parent(root, path)
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif path[-1] == "-":
        parent.append(value)
    else:
        parent.insert(_index(parent, path[-1], most=len(parent)), value)


def _take(root: Json, path: list[str]) -> Any:
    value = _look(root, path)
    if len(path) == 1:
        raise PatchFailed("the whole document cannot be removed")
    parent = _parent(root, path)
    if isinstance(parent, list):
        return parent.pop(_index(parent, path[-1]))
    del parent[path[-1]]
    return value


def _index(items: list[Any], part: str, most: int | None = None) -> int:
    last = len(items) - 1 if most is None else most
    if not (part == "0" or (part.isascii() and part.isdigit() and part[0] != "0")):
        raise PatchFailed(f"{part!r} is not an index of a list")
    if int(part) > last:
        raise PatchFailed(f"index {part} is beyond the end of the list")
    return int(part)
