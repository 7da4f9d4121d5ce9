"""What a desired object asks for and the live one lacks.

Left-scoped: only fields that the desired object has are looked at, so that defaults and the fields
of others are no difference.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from reconciler.kube import fieldpaths, quantities
from reconciler.kube.fieldpaths import Path
from reconciler.kube.json_types import MISSING, Json, Missing, same
from reconciler.kube.schemas import UNTYPED, Schema


class Difference(NamedTuple):
    """A field, what it should be and what it is; MISSING where the live object lacks it."""

    path: str
    desired: Any
    live: Any | Missing


def left_scoped(desired: Json, live: Json, schema: Schema) -> tuple[Difference, ...]:
    """List the fields of `desired` that `live` does not have with the same value.

    Keyed lists are compared item by item, sets as sets, quantities by amount, atomic lists and
    maps whole. Raises BadObject for a list item without its keys.
    """
    return tuple(
        Difference(fieldpaths.text(path), wanted, found)
        for path, wanted, found in _differences(desired, live, schema, ())
    )


_Found = tuple[Path, Any, Any]


def _differences(desired: Any, live: Any, schema: Schema, path: Path) -> Iterator[_Found]:
    if isinstance(desired, dict) and isinstance(live, dict) and schema.map_type != "atomic":
        yield from _field_differences(desired, live, schema, path)
    elif isinstance(desired, list) and isinstance(live, list) and schema.list_type != "atomic":
        yield from _item_differences(desired, live, schema, path)
    elif not _is_met(desired, live, schema):
        yield path, desired, live


def _field_differences(desired: Json, live: Json, schema: Schema, path: Path) -> Iterator[_Found]:
    for name, wanted in desired.items():
        there = live.get(name, MISSING)
        # Equal texts are most of what is compared when nothing changed, a thousand times over.
        if type(wanted) is str and wanted == there:
            continue
        inside = (*path, fieldpaths.field(name))
        yield from _differences(wanted, there, schema.field(name) or UNTYPED, inside)


def _item_differences(
    desired: list[Any], live: list[Any], schema: Schema, path: Path
) -> Iterator[_Found]:
    found = fieldpaths.by_element(live, schema)
    for element, wanted in fieldpaths.by_element(desired, schema).items():
        there = found.get(element, [])
        inside = (*path, element)
        if len(wanted) == 1 and len(there) <= 1:
            one = there[0] if there else MISSING
            yield from _differences(wanted[0], one, schema.items(), inside)
        elif not _is_met(wanted, there, schema):
            yield inside, wanted, there


def _is_met(desired: Any, live: Any, schema: Schema) -> bool:
    """Tell whether a whole value is there; the API server leaves out empty lists and maps."""
    if live is MISSING or live is None:
        return desired is None or (desired in ([], {}) and not schema.properties)
    if isinstance(desired, dict) and isinstance(live, dict):
        return desired.keys() == live.keys() and all(
            _is_met(wanted, live[name], schema.field(name) or UNTYPED)
            for name, wanted in desired.items()
        )
    if isinstance(desired, list) and isinstance(live, list):
        return len(desired) == len(live) and all(
            _is_met(wanted, one, schema.items()) for wanted, one in zip(desired, live, strict=True)
        )
    if schema.format == "quantity":
        return quantities.equal(desired, live)
    return same(desired, live)
