"""Strategic merge patch: Kubernetes' own, which merges lists by the keys in their schema.

Directives of a patch: `$patch: delete | replace` in a map or list item, `$retainKeys`,
`$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`.
"""

from typing import Any

from reconciler.kube.json_types import Json, copied, same
from reconciler.kube.list_order import ordered
from reconciler.kube.patch_marks import (
    DELETE_FROM,
    ORDER,
    PATCH,
    RETAIN,
    is_directive,
    without_directives,
    without_marks,
)
from reconciler.kube.patch_marks import Keyless as Keyless
from reconciler.kube.patch_marks import MixedTypes as MixedTypes
from reconciler.kube.patch_marks import PatchFailed as PatchFailed
from reconciler.kube.schemas import UNTYPED, Schema


def strategic_patch(doc: Json, patch: Json, schema: Schema) -> Json:
    """Lay a strategic merge patch over a document of this schema.

    Raises PatchFailed for a directive that makes no sense, Keyless for a list item without its
    key, and MixedTypes where objects and other things would stand in one list.
    """
    return _merged_map(copied(doc), copied(patch), schema)


def _merged_map(live: Json, patch: Json, schema: Schema) -> Json:
    directive = patch.pop(PATCH, None)
    if directive == "replace":
        return patch
    if directive == "delete":
        return {}
    if directive is not None:
        raise PatchFailed(f"unknown patch type {directive!r}: write delete or replace")
    retained = patch.pop(RETAIN, None)
    if retained is not None:
        live = _retained(live, patch, retained)
    for name in [name for name in patch if name.startswith(DELETE_FROM)]:
        _delete_from(live, name, patch.pop(name))
    for name in [name for name in patch if name.startswith(ORDER)]:
        _put_in_order(live, patch, name, schema)
    for name, value in patch.items():
        _set_field(live, name, value, schema)
    return live


def _retained(live: Json, patch: Json, retained: Any) -> Json:
    if not isinstance(retained, list):
        raise PatchFailed(f"{RETAIN} must be a list of field names")
    strange = sorted(
        name
        for name, value in patch.items()
        if not name.startswith("$") and value is not None and name not in retained
    )
    if strange:
        raise PatchFailed(f"{RETAIN} must name every field of the patch; it lacks {strange}")
    return {name: value for name, value in live.items() if name in retained}


def _put_in_order(live: Json, patch: Json, directive: str, schema: Schema) -> None:
    """Carry out one $setElementOrder together with the list that it is about."""
    order, name = patch.pop(directive), directive.removeprefix(ORDER)
    before, wanted = live.get(name), patch.pop(name, None)
    if not isinstance(order, list):
        raise PatchFailed(f"{directive} must be a list")
    child = schema.field(name) or UNTYPED
    key = child.patch_merge_key
    _check_order(wanted, order, key, directive)
    if before is None and wanted is None:
        return
    if not before and not wanted:
        raise PatchFailed(f"{directive} orders an empty list")
    if before is None:
        merged = without_directives(wanted)
    elif wanted is None:
        merged = before
    else:
        merged = _merged_list(before, wanted, child)
    stood = _places_after(before or [], wanted or [], merged, key) if key else before or []
    live[name] = ordered(merged, order, stood, key)


def _places_after(before: list[Any], wanted: list[Any], merged: list[Any], key: str) -> list[Any]:
    """Give the places that an order is measured by: new items take those of deleted ones.

    So the API server does it, which reuses the list while it deletes and appends.
    """
    kept = [item for item in before if _place_of(merged, key, item.get(key)) is not None]
    new = [item for item in wanted if _place_of(before, key, item.get(key)) is None]
    return [*kept, *new][: len(before)]


def _check_order(wanted: Any, order: list[Any], key: str | None, directive: str) -> None:
    """Refuse an order that leaves out an item of the patch or puts its items another way."""
    if not wanted or not order:
        return
    left = iter([_key_of(item, key) if key else item for item in order])
    for item in wanted:
        if isinstance(item, dict) and item.get(PATCH) == "delete":
            continue
        name = _key_of(item, key) if key else item
        if not any(same(name, one) for one in left):
            raise PatchFailed(f"{directive} lacks {name!r} of the patch, or in that place")


def _set_field(live: Json, name: str, value: Any, schema: Schema) -> None:
    if value is None:
        live.pop(name, None)
    elif name not in live and is_directive(value):
        pass
    elif isinstance(value, dict) and isinstance(live.get(name), dict):
        child = schema.field(name) or UNTYPED
        replaced = "replace" in child.patch_strategy
        live[name] = value if replaced else _merged_map(live[name], value, child)
    elif isinstance(value, list) and isinstance(live.get(name), list):
        child = schema.field(name) or UNTYPED
        merges = "merge" in child.patch_strategy
        live[name] = _merged_list(live[name], value, child) if merges else value
    else:
        live[name] = without_directives(value)


def _delete_from(live: Json, directive: str, gone: Any) -> None:
    name = directive.removeprefix(DELETE_FROM)
    if not isinstance(gone, list):
        raise PatchFailed(f"{directive} must be a list")
    if isinstance(live.get(name), list):
        live[name] = [item for item in live[name] if not any(same(item, one) for one in gone)]


def _merged_list(live: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    key = schema.patch_merge_key
    if not any(isinstance(item, dict) for item in (*live, *patch)):
        return ordered(_distinct([*live, *patch]), patch, live, None)
    if not all(isinstance(item, dict) for item in (*live, *patch)):
        raise MixedTypes(live, patch)
    if key is None:
        raise PatchFailed("a list of objects without a merge key cannot be merged")
    live, patch = _after_item_directives(live, patch, key)
    merged = list(live)
    for item in patch:
        name = _key_of(item, key)
        place = _place_of(merged, key, name)
        if place is None:
            merged.append(without_marks(item))
        else:
            merged[place] = _merged_map(dict(merged[place]), dict(item), schema.items())
    return ordered(merged, patch, live, key)


def _after_item_directives(
    live: list[Any], patch: list[Any], key: str
) -> tuple[list[Any], list[Any]]:
    """Carry out `$patch` of single items; the rest of the patch is still to be merged."""
    left, kept, replaced = live, [], False
    for item in patch:
        directive = item.get(PATCH) if isinstance(item, dict) else None
        if directive is None:
            kept.append(item)
        elif directive == "delete":
            gone = _key_of(item, key)
            left = [one for one in left if not same(one.get(key), gone)]
        elif directive == "replace":
            replaced = True
        else:
            raise PatchFailed(f"unknown patch type {directive!r}: write delete or replace")
    return (kept, []) if replaced else (left, kept)


def _place_of(items: list[Any], key: str, name: Any) -> int | None:
    return next((i for i, one in enumerate(items) if same(one.get(key), name)), None)


def _key_of(item: Any, key: str) -> Any:
    if not isinstance(item, dict) or key not in item:
        raise Keyless(item, key)
    return item[key]


def _distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not any(same(item, one) for one in found):
            found.append(item)
    return found
