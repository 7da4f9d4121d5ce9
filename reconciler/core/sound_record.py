"""Whether what was read of a record is what its fields say: a hand may have written anything.

Every decoder takes the JSON as it comes; here each value is held against the type of its field.
What is not sound is a record that cannot be read: it holds its workload, and nothing is guessed.
"""

import types
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

from reconciler.model.shapes import fields_of, is_record

Check = Callable[[Any], str]
"""Return what is wrong with a value, "" where it is sound."""

MOST_SECONDS = 253_402_300_799.0
"""The end of the year 9999: of a later time no calendar tells a date."""
_MOST_COUNT = 2**63 - 1


def problem_of(record: Any) -> str:
    """Return the first field of a record that is not what it says, and why; "" for none."""
    kind: Any = type(record)
    return _check_of(kind)(record)


@cache
def _check_of(hint: Any) -> Check:
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return _any_of(tuple(_check_of(each) for each in inner))
    if origin is typing.Literal:
        return lambda value: "" if value in inner else " is none of its words"
    if origin is frozenset or (origin is tuple and inner[-1] is ...):
        return _all_of(origin, _check_of(inner[0]))
    if origin is tuple:
        return _in_order(tuple(_check_of(each) for each in inner))
    if is_record(hint):
        return _all_fields(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return lambda value: "" if isinstance(value, hint) else " is none of its words"
    raise TypeError(f"no record has a field of type {hint}")


def _all_fields(hint: Any) -> Check:
    checks = [(name, _check_of(told)) for name, told in fields_of(hint)]

    def check(value: Any) -> str:
        if type(value) is not hint:
            return f" is no {hint.__name__}"
        for name, sound in checks:
            problem = sound(getattr(value, name))
            if problem:
                return f".{name}{problem}"
        return ""

    return check


def _any_of(checks: tuple[Check, ...]) -> Check:
    def check(value: Any) -> str:
        problems = [problem for problem in (sound(value) for sound in checks) if problem]
        return problems[0] if len(problems) == len(checks) else ""

    return check


def _all_of(kind: type, sound: Check) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, tuple | frozenset) or type(value) is not kind:
            return f" is no {kind.__name__}"
        if sound is _is_text and set(map(type, value)) <= {str} and "".join(value).isascii():
            return ""  # at once: twenty offers have a thousand words each
        return next((f"[]{problem}" for problem in map(sound, value) if problem), "")

    return check


def _in_order(checks: tuple[Check, ...]) -> Check:
    def check(value: Any) -> str:
        if type(value) is not tuple or len(value) != len(checks):
            return f" is no {len(checks)} values"
        pairs = zip(checks, value, strict=True)
        return next((f"[]{problem}" for problem in (c(v) for c, v in pairs) if problem), "")

    return check


def _is_count(value: Any) -> str:
    return "" if type(value) is int and 0 <= value <= _MOST_COUNT else " is no count"


def _is_time(value: Any) -> str:
    if type(value) not in (int, float) or not 0 <= value <= MOST_SECONDS:
        return " is no time in Unix seconds"
    return ""


def _is_text(value: Any) -> str:
    if type(value) is not str:
        return " is no text"
    if value.isascii():
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        return " is text that nobody can write"
    return ""


def _is(kind: type, name: str) -> Check:
    return lambda value: "" if type(value) is kind else f" is no {name}"


_PLAIN: dict[Any, Check] = {
    bool: _is(bool, "yes or no"),
    bytes: _is(bytes, "bytes"),
    types.NoneType: lambda value: "" if value is None else " is not none",
    int: _is_count,
    float: _is_time,
    str: _is_text,
}
