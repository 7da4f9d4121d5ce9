"""Sets of fields: what a manager owns of an object, as managedFields records it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reconciler.kube import fieldpaths
from reconciler.kube.fieldpaths import Path
from reconciler.kube.json_types import Json
from reconciler.kube.schemas import UNTYPED, Schema

_SELF = "."


@dataclass(frozen=True, slots=True)
class FieldSet:
    """An immutable set of paths; a container is in it only where it is owned itself."""

    paths: frozenset[Path] = field(default_factory=frozenset)

    @staticmethod
    def of(*paths: Path) -> "FieldSet":
        """Make a set of these paths."""
        return FieldSet(frozenset(paths))

    @staticmethod
    def from_object(obj: Json, schema: Schema, *, with_parents: bool) -> "FieldSet":
        """List the fields of an object: as an apply owns them, or with every container too.

        Raises BadObject for a list item without its keys.
        """
        return FieldSet(frozenset(_owned(obj, schema, (), with_parents)))

    @staticmethod
    def from_fields_v1(fields: Json) -> "FieldSet":
        """Read the `fieldsV1` of a managedFields entry."""
        return FieldSet(frozenset(_read((), fields)))

    def to_fields_v1(self) -> Json:
        """Write the set as the `fieldsV1` of a managedFields entry."""
        root: Json = {}
        for path in sorted(self.paths):
            node = root
            for element in path:
                node = node.setdefault(element, {})
            node[_SELF] = {}
        return {element: _without_lone_mark(child) for element, child in root.items()}

    def __bool__(self) -> bool:
        return bool(self.paths)

    def __iter__(self) -> Iterator[Path]:
        return iter(sorted(self.paths, key=fieldpaths.order))

    def __len__(self) -> int:
        return len(self.paths)

    def union(self, other: "FieldSet") -> "FieldSet":
        """Give the fields of both."""
        return FieldSet(self.paths | other.paths)

    def difference(self, other: "FieldSet") -> "FieldSet":
        """Give the fields that the other set lacks."""
        return FieldSet(self.paths - other.paths)

    def intersection(self, other: "FieldSet") -> "FieldSet":
        """Give the fields that both have."""
        return FieldSet(self.paths & other.paths)

    def contains(self, path: Path) -> bool:
        """Tell whether the path itself is in the set."""
        return path in self.paths

    def without_under(self, roots: Iterable[Path]) -> "FieldSet":
        """Leave out these paths and all that is inside them."""
        cut = tuple(roots)
        if not cut:
            return self
        return FieldSet(
            frozenset(
                path for path in self.paths if not any(path[: len(root)] == root for root in cut)
            )
        )

    def leaves(self) -> "FieldSet":
        """Leave out the containers that hold other paths of the set."""
        inner = {path[:length] for path in self.paths for length in range(1, len(path))}
        return FieldSet(self.paths - inner)

    def with_named_fields(self, schema: Schema) -> "FieldSet":
        """Add every declared field on the way to a path (entries of maps and lists are not)."""
        more: set[Path] = set()
        for path in self.paths:
            node: Schema | None = schema
            for length, element in enumerate(path[:-1], start=1):
                if node is None:
                    break
                if element.startswith("f:") and element[2:] in node.properties:
                    more.add(path[:length])
                node = node.field(element[2:]) if element.startswith("f:") else node.items()
        return FieldSet(self.paths | more)


def _owned(part: Any, schema: Schema, path: Path, with_parents: bool) -> Iterator[Path]:
    """Yield the paths at and under one value."""
    if isinstance(part, dict) and schema.map_type != "atomic" and (part or not path):
        if with_parents and path:
            yield path
        for name, child in part.items():
            yield from _owned_field(child, name, schema, path, with_parents)
    elif isinstance(part, list) and schema.list_type != "atomic":
        if with_parents:
            yield path
        for element, items in fieldpaths.by_element(part, schema).items():
            inside = (*path, element)
            yield inside
            for item in items:
                if isinstance(item, dict) and schema.items().map_type != "atomic":
                    yield from _owned(item, schema.items(), inside, with_parents)
    else:
        yield path


def _owned_field(
    child: Any, name: str, schema: Schema, path: Path, with_parents: bool
) -> Iterator[Path]:
    inside = (*path, fieldpaths.field(name))
    if name not in schema.properties:
        yield inside
    yield from _owned(child, schema.field(name) or UNTYPED, inside, with_parents)


def _read(path: Path, fields: Json) -> Iterator[Path]:
    for element, inside in fields.items():
        if element == _SELF:
            yield path
        elif inside:
            yield from _read((*path, element), inside)
        else:
            yield (*path, element)


def _without_lone_mark(node: Json) -> Json:
    if node.keys() == {_SELF}:
        return {}
    return {
        name: child if name == _SELF else _without_lone_mark(child) for name, child in node.items()
    }
