"""What the sandbox does not claim to share with a real API server: a list that only shrinks.

A line is `field KIND PATH | reason` (`*` is any one name or index) or `text REGEX | reason`, of
which the matches are cut out of every text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.contract.differential.steps import Json

LIST = Path(__file__).with_name("unclaimed.txt")
CEILING = Path(__file__).with_name("unclaimed.ceiling")


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """One line of the list."""

    form: str
    what: str
    reason: str


@cache
def unclaimed() -> tuple[Unclaimed, ...]:
    """Read the list.

    Raises:
        ValueError: a line is not of the two forms.
    """
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return tuple(_line(line) for line in lines if line.strip() and not line.startswith("#"))


def _line(line: str) -> Unclaimed:
    what, bar, reason = line.rpartition(" | ")
    form, _, rest = what.partition(" ")
    if not bar or form not in ("field", "text") or not rest.strip() or not reason.strip():
        raise ValueError(f"{LIST.name}: not `field KIND PATH | reason` nor `text ...`: {line}")
    return Unclaimed(form, rest.strip(), reason.strip())


@cache
def _texts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one.what, re.DOTALL) for one in unclaimed() if one.form == "text")


@cache
def _fields(kind: str) -> tuple[tuple[str, ...], ...]:
    told = (one.what.split() for one in unclaimed() if one.form == "field")
    return tuple(tuple(path.split(".")) for owner, path in told if owner in (kind, "*"))


def without(value: Any) -> Any:
    """Give an answer without what is not claimed."""
    if isinstance(value, dict):
        result: Json = {name: without(part) for name, part in value.items()}
        for path in _fields(str(value.get("kind", ""))):
            _cut(result, path)
        return result
    if isinstance(value, list):
        return [without(item) for item in value]
    if isinstance(value, str):
        for pattern in _texts():
            value = pattern.sub("", value)
    return value


def _cut(value: Any, path: tuple[str, ...]) -> None:
    name, *rest = path
    if isinstance(value, list) and name == "*":
        for item in value:
            _cut(item, tuple(rest))
    elif isinstance(value, dict):
        for each in [*value] if name == "*" else [name] if name in value else []:
            if rest:
                _cut(value[each], tuple(rest))
            else:
                del value[each]
