"""The fields in which two JSON documents differ, as paths people write; secrets masked."""

import json
import re
from collections.abc import Iterator
from typing import Any

from reconciler.model.changes import FieldChange

_SECRET_NAME = re.compile(r"token|secret|passw|credential|private|api_?key", re.IGNORECASE)


def compare_fields(before_json: str, after_json: str) -> tuple[FieldChange, ...]:
    """Return the smallest set of fields that differ, in document order.

    The value of an environment variable whose name tells of a secret is masked: that it changes
    is seen, and not from what to what.
    """
    return tuple(differing(json.loads(before_json), json.loads(after_json), ""))


def differing(before: Any, after: Any, path: str) -> Iterator[FieldChange]:
    """Yield the fields that differ below `path`; lists of equal length are compared by place."""
    if isinstance(before, dict) and isinstance(after, dict):
        secret = _is_secret(before) or _is_secret(after)
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else str(name)
            found = differing(before.get(name), after.get(name), inner)
            if secret and name == "value":
                yield from (
                    FieldChange(item.path, _mask("before"), _mask("after")) for item in found
                )
            else:
                yield from found
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differing(one, other, f"{path}[{index}]")
    # In Python 1 == True; in a document they are not the same.
    elif before != after or type(before) is not type(after):
        yield FieldChange(path, _masked(before, "before"), _masked(after, "after"))


def _masked(value: Any, side: str) -> Any:
    if isinstance(value, list):
        return [_masked(item, side) for item in value]
    if not isinstance(value, dict):
        return value
    shown = {name: _masked(item, side) for name, item in value.items()}
    return {**shown, "value": _mask(side)} if "value" in shown and _is_secret(value) else shown


def _is_secret(variable: dict[str, Any]) -> bool:
    return bool(_SECRET_NAME.search(str(variable.get("name", ""))))


def _mask(side: str) -> str:
    return f"*** ({side})"
