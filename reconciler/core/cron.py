"""Cron's five fields: minute, hour, day of the month, month, day of the week.

As Vixie's cron has it a day counts when both of its fields match; where neither of them begins
with `*`, when either one does. Days and times are those on a wall clock; whose is no matter of this
file.
"""

from dataclasses import dataclass

from reconciler.core.calendar import DAY_SECONDS, WEEKDAYS, parts_of, weekday_of

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", *WEEKDAYS[:-1])
_LONGEST_MONTH = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_MOST_CHARACTERS = 200
MOST_TIMES = 24
"""So often a day is often enough: each is looked at."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the five: its name, its bounds, and words for its numbers, from the first on."""

    name: str
    first: int
    last: int
    words: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _DAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """When a schedule begins: `times` are seconds after midnight, in order.

    `either` is whether one of `days` and `weekdays` (0 is Sunday) is enough.
    """

    times: tuple[int, ...]
    months: frozenset[int]
    days: frozenset[int]
    weekdays: frozenset[int]
    either: bool

    def is_on(self, day: int) -> bool:
        """Whether it begins on a day, which is counted from 1970-01-01."""
        _, month, of_month = parts_of(day)
        if month not in self.months:
            return False
        on_day = of_month in self.days
        on_weekday = _DAYS.index(weekday_of(day)) in self.weekdays
        return on_day or on_weekday if self.either else on_day and on_weekday


def parse(text: str) -> Cron | str:
    """Return the schedule that a text says, or in words what is wrong with it."""
    parts = text.split()
    if len(text) > _MOST_CHARACTERS or len(parts) != len(_FIELDS):
        return "must have five fields: minute, hour, day of the month, month, day of the week"
    found = []
    for field, part in zip(_FIELDS, parts, strict=True):
        numbers = _numbers(field, part)
        if numbers is None:
            return f"{part} is no {field.name}, {field.first} to {field.last}"
        found.append(numbers)
    minutes, hours, days, months, weekdays = found
    # By how it begins, not by what it names: */1 is every day, and limits none, as * does.
    either = not (parts[2].startswith("*") or parts[4].startswith("*"))
    if len(minutes) * len(hours) > MOST_TIMES:
        return f"begins more than {MOST_TIMES} times a day"
    times = tuple(hour * 3600 + minute * 60 for hour in sorted(hours) for minute in sorted(minutes))
    longest = max(_LONGEST_MONTH.get(month, 31) for month in months)
    if not either and min(days) > longest:
        return "there is no such day in these months"
    days_of_week = frozenset(each % 7 for each in weekdays)
    return Cron(times, frozenset(months), frozenset(days), days_of_week, either)


def _numbers(field: _Field, text: str) -> set[int] | None:
    """Return the numbers of a field such as `1-5`, `*/15` or `mon,fri`, None where it is none."""
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if ("/" in part) and not (_is_number(step) and 1 <= int(step) <= DAY_SECONDS):
            return None
        begin, _, end = span.partition("-")
        if span == "*":
            low, high = field.first, field.last
        else:
            first = _number(field, begin)
            last = _number(field, end) if "-" in span else first
            if first is None or last is None or last < first:
                return None
            low, high = first, field.last if step and "-" not in span else last
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _number(field: _Field, text: str) -> int | None:
    if text.casefold() in field.words:
        return field.words.index(text.casefold()) + field.first
    if not _is_number(text):
        return None
    return int(text) if field.first <= int(text) <= field.last else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5
