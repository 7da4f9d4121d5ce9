"""The fields in which two JSON documents differ, as paths people write."""

import json
from collections.abc import Iterator

from reconciler.model.changes import FieldChange


def compare_fields(before_json: str, after_json: str) -> tuple[FieldChange, ...]:
    """Return the smallest set of fields that differ, in document order."""
    return tuple(differing(json.loads(before_json), json.loads(after_json), ""))


def differing(before: object, after: object, path: str) -> Iterator[FieldChange]:
    """Yield the fields that differ below `path`; lists of equal length are compared by place."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else str(name)
            yield from differing(before.get(name), after.get(name), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differing(one, other, f"{path}[{index}]")
    # In Python 1 == True; in a document they are not the same.
    elif before != after or type(before) is not type(after):
        yield FieldChange(path, before, after)
