"""Merging a partial object into a whole one by its schema, and taking fields out again."""

from collections.abc import Iterator
from typing import Any

from reconciler.kube import fieldpaths
from reconciler.kube.fieldsets import FieldSet
from reconciler.kube.json_types import MISSING, Json
from reconciler.kube.schemas import UNTYPED, Schema


def merge(live: Json, applied: Json, schema: Schema) -> Json:
    """Lay the applied fields over the live ones: keyed lists and sets merge, atomic ones do not.

    The result may share parts with both. Raises BadObject for a list item without its keys.
    """
    merged: Json = _merged(live, applied, schema)
    return merged


def remove(obj: Json, fields: FieldSet, schema: Schema) -> Json:
    """Take the fields out of an object; a container that loses all it held becomes null.

    The result may share parts with the object. Raises BadObject for a list item without its keys.
    """
    left: Json = _removed(obj, fields.to_fields_v1(), schema)
    return left if left is not None else {}


def without_nulls(value: Any, schema: Schema) -> Any:
    """Copy a value as the API server stores it: null fields go, what is null in a map is empty."""
    if isinstance(value, dict):
        given = {
            name: _nothing_of_map(name, schema) if child is None else child
            for name, child in value.items()
        }
        return {
            name: without_nulls(child, schema.field(name) or UNTYPED)
            for name, child in given.items()
            if child is not None
        }
    if isinstance(value, list):
        return [without_nulls(item, schema.items()) for item in value]
    return value


def _nothing_of_map(name: str, schema: Schema) -> str | None:
    entry = schema.field(name)
    if schema.properties or entry is None:
        return None
    return "0" if entry.format == "quantity" else "" if entry.type == "string" else None


def _merged(live: Any, applied: Any, schema: Schema) -> Any:
    if applied is MISSING:
        return live
    if isinstance(live, dict) and live and schema.map_type != "atomic":
        if applied is None:
            return live
        if isinstance(applied, dict):
            return _merged_fields(live, applied, schema)
    if isinstance(live, list) and live and schema.list_type != "atomic":
        if applied is None:
            return live
        if isinstance(applied, list):
            return list(_merged_items(live, applied, schema))
    return applied


def _merged_fields(live: Json, applied: Json, schema: Schema) -> Json:
    return {
        name: _merged(
            live.get(name, MISSING), applied.get(name, MISSING), schema.field(name) or UNTYPED
        )
        if name in live
        else applied[name]
        for name in {**live, **applied}
    }


def _merged_items(live: list[Any], applied: list[Any], schema: Schema) -> Iterator[Any]:
    """Yield the items of both: the applied ones in their order, the others where they stood.

    What only the apply has comes right before the shared item that follows it there.
    """
    before = fieldpaths.by_element(live, schema)
    wanted = fieldpaths.by_element(applied, schema)
    waiting = list(reversed(wanted))
    shared = [element for element in waiting if element in before]
    for element, items in before.items():
        if element not in wanted:
            yield from items
        elif element == shared[-1]:
            shared.pop()
            while (following := waiting.pop()) != element:
                yield _merged_item(before, wanted, following, schema)
            yield _merged_item(before, wanted, element, schema)
    for element in reversed(waiting):
        yield _merged_item(before, wanted, element, schema)


def _merged_item(
    before: dict[str, list[Any]], wanted: dict[str, list[Any]], element: str, schema: Schema
) -> Any:
    live = before.get(element) or [MISSING]
    return _merged(live[0], wanted[element][0], schema.items())


def _removed(part: Any, gone: Json, schema: Schema) -> Any:
    if isinstance(part, dict) and part and schema.map_type != "atomic":
        return _fields_left(part, gone, schema) or None
    if isinstance(part, list) and part and schema.list_type != "atomic":
        return list(_items_left(part, gone, schema)) or None
    return None


def _fields_left(part: Json, gone: Json, schema: Schema) -> Json:
    left: Json = {}
    for name, child in part.items():
        inside = gone.get(fieldpaths.field(name))
        if inside is None:
            left[name] = child
        elif inside and "." not in inside:
            left[name] = _removed(child, inside, schema.field(name) or UNTYPED)
    return left


def _items_left(part: list[Any], gone: Json, schema: Schema) -> Iterator[Any]:
    for item in part:
        inside = gone.get(fieldpaths.item_element(item, schema))
        if inside is None:
            yield item
        elif inside and "." not in inside:
            yield _removed(item, inside, schema.items())
