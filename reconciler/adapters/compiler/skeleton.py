"""Read the text of a rendered template as strict YAML and put the values where their marks are."""

import re
from collections.abc import Sequence
from typing import Any

from reconciler.adapters.compiler.environment import MARK
from reconciler.core.places import Place
from reconciler.core.yaml_strict import parse_file

_WHOLE = re.compile(f"{MARK}([0-9]+){MARK}")


class Malformed(Exception):
    """The text is not one strict YAML document; `line` counts from 1, 0 means unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def fill(text: str, values: Sequence[Any]) -> Any:
    """Return the one document of `text`, with `values` at their marks.

    Raises Malformed.
    """
    return fill_with_places(text, values)[0]


def fill_with_places(text: str, values: Sequence[Any]) -> tuple[Any, Place]:
    """Return the same, and where everything stands in `text`.

    Raises Malformed.
    """
    parsed = parse_file("", text.encode())
    findings = [found for document in parsed.documents for found in document.findings]
    for found in [*([parsed.unreadable] if parsed.unreadable else []), *findings]:
        raise Malformed(f"what it renders to is refused: {found.message}", found.line)
    if len(parsed.documents) != 1:
        raise Malformed(f"it renders to {len(parsed.documents)} documents instead of one")
    return _filled(parsed.documents[0].value, values), parsed.documents[0].places


def _filled(value: Any, values: Sequence[Any]) -> Any:
    """Return `value` with the marks in it replaced; what stands for a mark is not looked into."""
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    if isinstance(value, str) and MARK in value:
        whole = _WHOLE.fullmatch(value)
        if whole is None:
            raise Malformed(
                "a {{ }} is not a value of its own: write nothing around it, no quotes either; "
                'join texts inside, as in {{ "a-" ~ name }}'
            )
        return values[int(whole[1])]
    if not isinstance(value, dict):
        return value
    filled: dict[str, Any] = {}
    for name, item in value.items():
        key = _filled(name, values)
        if not isinstance(key, str):
            raise Malformed(f"the key {key!r} is not text")
        if key in filled:
            raise Malformed(f"the key {key!r} is written twice")
        filled[key] = _filled(item, values)
    return filled
