"""The marks of a strategic merge patch that are orders to the merge, and how it fails."""

from typing import Any

PATCH = "$patch"
RETAIN = "$retainKeys"
ORDER = "$setElementOrder/"
DELETE_FROM = "$deleteFromPrimitiveList/"


class PatchFailed(ValueError):
    """A patch that cannot be carried out on this document."""


class MixedTypes(ValueError):
    """A list of objects meets one that holds other things too."""

    def __init__(self, live: list[Any], patch: list[Any]) -> None:
        super().__init__("list element types are not identical")
        self.live, self.patch = live, patch


class Keyless(PatchFailed):
    """An item of a list of objects that lacks the key by which they are merged."""

    def __init__(self, item: Any, key: str) -> None:
        super().__init__(f"map: {item} does not contain declared merge key: {key}")
        self.item, self.key = item, key


def without_marks(value: Any) -> Any:
    """Drop the directives of a new list item, which the API server does not carry out there."""
    if isinstance(value, dict):
        return {name: without_marks(child) for name, child in value.items() if not _is_mark(name)}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


def _is_mark(name: str) -> bool:
    return name in (PATCH, RETAIN) or name.startswith((ORDER, DELETE_FROM))


def without_directives(value: Any) -> Any:
    """Drop the directives, and nulls, from what is new."""
    if isinstance(value, dict):
        return {
            name: without_directives(child)
            for name, child in value.items()
            if child is not None and not _is_mark(name) and not is_directive(child)
        }
    if isinstance(value, list):
        return [without_directives(item) for item in value if not is_directive(item)]
    return value


def is_directive(value: Any) -> bool:
    """Tell whether a value is an order to the merge, and no content."""
    return isinstance(value, dict) and PATCH in value
