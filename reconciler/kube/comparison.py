"""What changed between two states of an object, field by field."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from reconciler.kube import fieldpaths
from reconciler.kube.fieldpaths import Path
from reconciler.kube.fieldsets import FieldSet
from reconciler.kube.json_types import MISSING, Json, same
from reconciler.kube.schemas import UNTYPED, Schema


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paths that left, changed and came; containers count where they left or came whole."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet

    @property
    def written(self) -> FieldSet:
        """The paths that changed or came."""
        return self.modified.union(self.added)

    def without_under(self, roots: Iterable[Path]) -> "Comparison":
        """Leave out these paths and all that is inside them."""
        cut = tuple(roots)
        return Comparison(
            removed=self.removed.without_under(cut),
            modified=self.modified.without_under(cut),
            added=self.added.without_under(cut),
        )


def compare(live: Json, updated: Json, schema: Schema) -> Comparison:
    """Compare two states of an object of one schema.

    Raises BadObject for a list item without its keys.
    """
    found: dict[str, set[Path]] = {"removed": set(), "modified": set(), "added": set()}
    for change, path in _changes(live, updated, schema, ()):
        found[change].add(path)
    return Comparison(**{change: FieldSet(frozenset(paths)) for change, paths in found.items()})


def _changes(left: Any, right: Any, schema: Schema, path: Path) -> Iterator[tuple[str, Path]]:
    if left is right:
        return
    if _is_leaf(left, right, schema):
        if left is MISSING:
            yield "added", path
        elif right is MISSING:
            yield "removed", path
        elif not same(left, right):
            yield "modified", path
        return
    if path and left is MISSING:
        yield "added", path
    elif path and right is MISSING:
        yield "removed", path
    if isinstance(left, list) or isinstance(right, list):
        yield from _item_changes(left, right, schema, path)
    else:
        yield from _field_changes(left, right, schema, path)


def _is_leaf(left: Any, right: Any, schema: Schema) -> bool:
    """Tell whether two values are compared whole; null stands for an empty list or map."""
    present = [part for part in (left, right) if part is not MISSING and part is not None]
    if not any(present):
        return True
    if all(isinstance(part, dict) for part in present):
        return schema.map_type == "atomic"
    if all(isinstance(part, list) for part in present):
        return schema.list_type == "atomic"
    return True


def _field_changes(left: Any, right: Any, schema: Schema, path: Path) -> Iterator[tuple[str, Path]]:
    before, after = _as_dict(left), _as_dict(right)
    for name in {**before, **after}:
        yield from _changes(
            _field_of(left, before, after, name, schema),
            _field_of(right, after, before, name, schema),
            schema.field(name) or UNTYPED,
            (*path, fieldpaths.field(name)),
        )


def _field_of(part: Any, fields: Json, others: Json, name: str, schema: Schema) -> Any:
    """Read a field; one that is never left out reads as empty where it is not set."""
    if name in fields:
        return fields[name]
    if part is MISSING or name not in schema.zeros:
        return MISSING
    zero, other = schema.zeros[name], others[name]
    return None if other is None and zero in (None, {}) else zero


def _item_changes(left: Any, right: Any, schema: Schema, path: Path) -> Iterator[tuple[str, Path]]:
    before = fieldpaths.by_element(left if isinstance(left, list) else None, schema)
    after = fieldpaths.by_element(right if isinstance(right, list) else None, schema)
    for element in {**before, **after}:
        here, there = before.get(element, []), after.get(element, [])
        if max(len(here), len(there)) == 1:
            one = here[0] if here else MISSING
            other = there[0] if there else MISSING
            yield from _changes(one, other, schema.items(), (*path, element))
        elif not same(here, there):
            # Items of one key cannot be told apart: they count as one value.
            change = "modified" if here and there else "added" if there else "removed"
            yield change, (*path, element)


def _as_dict(part: Any) -> Json:
    return part if isinstance(part, dict) else {}
