"""Demand from elsewhere: rows of a table or of a Prometheus answer to counts a quarter, and back.

A row says how many rooms turned occupied (matches that began, where a room holds one) from its
time on; rows of one quarter of an hour add up. A quarter without a row stays unknown. However long
a table is, no more is kept of it than a history holds and a person reads.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from reconciler.core import calendar
from reconciler.core.demand import MOST, QUARTER_SECONDS, QUARTERS, quarter_of
from reconciler.core.mistakes import MOST_MISTAKES, shown

HEADER = ("time", "starts")
_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?"
)


@dataclass(slots=True)
class Rows:
    """What was read of the last 28 days: counts by number of the quarter; and what is wrong.

    `problems` are the first mistakes, by line, of `problem_count`.
    """

    counts: dict[int, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)
    problem_count: int = 0

    def add(self, line: int, at: float, starts: float, now: float) -> None:
        """Add a row. Times are Unix seconds."""
        quarter, running = quarter_of(at), quarter_of(now)
        if not 0 <= starts <= MOST:
            self.refuse(line, f"{starts:g} is no count of starts")
        elif quarter < 0:
            self.refuse(line, "it is before 1970")
        elif quarter >= running:
            self.refuse(line, "its quarter of an hour is not over yet")
        elif quarter >= running - QUARTERS:
            self.counts[quarter] = min(MOST, self.counts.get(quarter, 0) + round(starts))

    def refuse(self, line: int, why: str) -> None:
        """Note a mistake; beyond those that anybody reads they are only counted."""
        self.problem_count += 1
        if len(self.problems) < MOST_MISTAKES:
            self.problems.append((line, why))


def from_csv(lines: Iterable[str], now: float) -> Rows:
    """Return what a table of `time,starts` says, row by row. `now` is Unix seconds."""
    rows, head = Rows(), ""
    for number, line in enumerate(lines, 1):
        # Each line by itself: a quotation mark that nothing closes must not swallow the next ones.
        try:
            cells = next(csv.reader((line.removeprefix("\ufeff") if number == 1 else line,)), [])
        except csv.Error as error:
            rows.refuse(number, f"this is no table: {error}")
            return rows
        if not head:
            head = ",".join(cell.strip().lower() for cell in cells)
            if head != ",".join(HEADER):
                break
        elif cells:
            _add(rows, number, cells, now)
    if head != ",".join(HEADER):
        rows.refuse(1, f"the first line must be {','.join(HEADER)}")
    return rows


def _add(rows: Rows, number: int, cells: list[str], now: float) -> None:
    if len(cells) != len(HEADER):
        rows.refuse(number, f"{len(cells)} cells instead of {len(HEADER)}")
        return
    at, starts = moment_of(cells[0].strip()), _number(cells[1])
    if isinstance(at, str):
        rows.refuse(number, at)
    elif starts is None:
        rows.refuse(number, f"{shown(cells[1].strip())} is no number")
    else:
        rows.add(number, at, starts, now)


def from_prometheus(text: str, now: float) -> Rows:
    """Return what the answer to a range query says: starts in the 15 minutes before each time."""
    rows = Rows()
    try:
        series = list(_series(json.loads(text)))
    except (
        *(TypeError, ValueError, LookupError),
        *(AttributeError, OverflowError, RecursionError),
    ) as error:
        rows.refuse(1, f"this is no answer of /api/v1/query_range: {error}")
        return rows
    for at, value in series:
        if at % QUARTER_SECONDS:
            why = "is no full quarter of an hour: ask with step=900 and such a start"
            rows.refuse(1, f"{at:.0f} {why}")
            break
        if value is not None:
            rows.add(1, at - QUARTER_SECONDS, value, now)
    return rows


def _series(answer: Any) -> Iterator[tuple[float, float | None]]:
    """Return times and values, None for those that are no number. Raises ValueError."""
    shown = answer if isinstance(answer, dict) else {}
    data: Any = shown.get("data")
    is_matrix = isinstance(data, dict) and data.get("resultType") == "matrix"
    if shown.get("status") != "success" or not is_matrix or not isinstance(data["result"], list):
        raise ValueError("none that succeeded")
    if len(data["result"]) != 1:
        raise ValueError(f"{len(data['result'])} series instead of one: sum() them")
    values = data["result"][0].get("values", ())
    return ((float(at), _number(str(value))) for at, value in values)


def to_csv(counts: Mapping[int, int]) -> Iterator[str]:
    """Write counts by number of the quarter as lines that `from_csv` reads, in Unix seconds."""
    yield ",".join(HEADER)
    for quarter in sorted(counts):
        yield f"{quarter * QUARTER_SECONDS},{counts[quarter]}"


def moment_of(text: str) -> float | str:
    """Return the Unix seconds of a time, or what is wrong with it."""
    seconds = _number(text)
    if seconds is not None:
        return seconds if 0.0 <= seconds < 1e10 else f"{shown(text)} is no time in Unix seconds"
    found = _MOMENT.fullmatch(text)
    day = calendar.day_of(found[1]) if found else None
    time = _time_of(found[2], int(found[3] or 0)) if found else None
    ahead = _ahead(found[4] or "Z") if found else None
    if found is None or day is None or time is None or ahead is None:
        return f"{shown(text)} is no time: write Unix seconds or 2026-11-22T18:30:00Z"
    if found[4] is None:
        return f"{shown(text)} names no time zone: end it with Z for UTC, or +01:00"
    return float(day * calendar.DAY_SECONDS + time - ahead)


def _time_of(text: str, seconds: int) -> int | None:
    """Return the seconds since midnight; None where no clock shows that."""
    time = calendar.time_of(text)
    return None if time is None or seconds > 59 else time + seconds


def _ahead(zone: str) -> int | None:
    """Return how far a zone as `+01:00` is ahead of UTC; None where there is none."""
    if zone == "Z":
        return 0
    time = calendar.time_of(zone[1:])
    return time if time is None or zone[0] == "+" else -time


def _number(text: str) -> float | None:
    try:
        # `float` takes off fewer kinds of white space than `strip`, which the messages are made by.
        value = float(text.strip())
    except ValueError:
        return None
    return value if isfinite(value) else None


def told(rows: Rows, file: str) -> Iterator[str]:
    """Yield what is wrong, each with its place: all of it, up to what anybody reads."""
    for line, what in rows.problems:
        yield f"{file}:{line}: {what}"
    if rows.problem_count > len(rows.problems):
        left = rows.problem_count - len(rows.problems)
        yield f"and {left} more: they are told once these are mended"
