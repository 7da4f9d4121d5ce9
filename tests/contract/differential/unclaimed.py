"""What the sandbox does not claim to share with a real API server: a list that only shrinks.

A line has one of four forms, and ends with ` | reason`:
`field KIND PATH` is left out (`*` is any one name or index); of the list at `repeats KIND PATH`
each item counts once; the list at `order KIND PATH` is compared whatever its order; the matches of
`text REGEX` are cut out of every text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.contract.differential.steps import Json

LIST = Path(__file__).with_name("unclaimed.txt")
CEILING = Path(__file__).with_name("unclaimed.ceiling")


_FORMS = ("field", "repeats", "order", "text")


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
        ValueError: a line is of none of the forms.
    """
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return tuple(_line(line) for line in lines if line.strip() and not line.startswith("#"))


def _line(line: str) -> Unclaimed:
    what, bar, reason = line.rpartition(" | ")
    form, _, rest = what.partition(" ")
    if not bar or form not in _FORMS or not rest.strip() or not reason.strip():
        raise ValueError(f"{LIST.name}: not `{'|'.join(_FORMS)} ... | reason`: {line}")
    return Unclaimed(form, rest.strip(), reason.strip())


@cache
def _texts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one.what, re.DOTALL) for one in unclaimed() if one.form == "text")


@cache
def _places(kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    told = ((one.form, *one.what.split()) for one in unclaimed() if one.form != "text")
    return tuple((form, tuple(path.split("."))) for form, owner, path in told if owner == kind)


def without(value: Any) -> Any:
    """Give an answer without what is not claimed."""
    if isinstance(value, dict):
        result: Json = {name: without(part) for name, part in value.items()}
        for form, path in _places(str(value.get("kind", ""))):
            _change(form, result, path)
        return result
    if isinstance(value, list):
        return [without(item) for item in value]
    if isinstance(value, str):
        for pattern in _texts():
            value = pattern.sub("", value)
    return value


def _change(form: str, value: Any, path: tuple[str, ...]) -> None:
    name, *rest = path
    if isinstance(value, list) and name == "*":
        for item in value:
            _change(form, item, tuple(rest))
    elif isinstance(value, dict):
        for each in [*value] if name == "*" else [name] if name in value else []:
            if rest:
                _change(form, value[each], tuple(rest))
            elif form == "field":
                del value[each]
            elif isinstance(value[each], list):
                value[each] = _loosened(form, value[each])


def _loosened(form: str, items: list[Any]) -> list[Any]:
    named = [(json.dumps(item, sort_keys=True), item) for item in items]
    if form == "repeats":
        named = [*dict(named).items()]
    else:
        named.sort(key=lambda pair: pair[0])
    return [item for _, item in named]
