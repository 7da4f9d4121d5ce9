"""Days and wall clocks, without the machine's clock: dates as counts of days, times as seconds.

A *zone* is a function from Unix seconds to the seconds that its clocks are ahead of UTC then.
A time on a clock that shows it twice is the first of both; one that it never shows is meant as if
the clock had not been put forward yet. So RFC 5545 reads them, and spans that touch on the clock
touch in time, whatever the clocks do.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from reconciler.core.mistakes import Mistake, likely, shown
from reconciler.core.places import Path

DAY_SECONDS = 86_400
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

Zone = Callable[[float], int]
Zones = Mapping[str, Zone]

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2})")
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def utc(_: float) -> int:
    """The zone of UTC."""
    return 0


def check_zone(name: str, zones: Zones, at: Path) -> Iterator[Mistake]:
    """Yield the mistake of a name that is none of `zones`; `at` is where it stands."""
    if name in zones:
        return
    # Compared with those of its region alone: there are more zones than `likely` looks at.
    region = name.partition("/")[0].casefold()
    near = likely(name, [each for each in zones if each.casefold().startswith(region)])
    fix = f"did you mean {near}?" if near else "write one as Europe/Berlin"
    yield Mistake(at, f"there is no time zone {shown(name)}", fix, "time-zone")


def day_of(text: str) -> int | None:
    """Return the day of a date as `2026-12-24`, counted from 1970-01-01; None where there is none.

    Years are those of the Gregorian calendar, counted from March, so that a leap day ends one.
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day = map(int, found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1] + (leap and month == 2):
        return None
    years = year - (month <= 2)
    since_march = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * years + years // 4 - years // 100 + years // 400 + since_march - 719_468


def date_of(day: int) -> str:
    """Return the date of a day that is counted from 1970-01-01: what `day_of` reads."""
    year, month, of_month = parts_of(day)
    return f"{year:04}-{month:02}-{of_month:02}"


def parts_of(day: int) -> tuple[int, int, int]:
    """Return year, month and day of the month of a day that is counted from 1970-01-01."""
    # Eras of 400 years, which all have as many days, and years that begin in March.
    era, of_era = divmod(day + 719_468, 146_097)
    of_year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    since_march = of_era - (365 * of_year + of_year // 4 - of_year // 100)
    month = (5 * since_march + 2) // 153
    of_month = since_march - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return of_year + era * 400 + (month <= 2), month, of_month


def time_of(text: str) -> int | None:
    """Return the seconds since midnight of a time as `18:30`, up to `24:00`; None for others."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hours, minutes = map(int, found.groups())
    seconds = hours * 3600 + minutes * 60
    return seconds if minutes < 60 and seconds <= DAY_SECONDS else None


def weekday_of(day: int) -> str:
    """Return the day of the week of a day: 1970-01-01 was a Thursday."""
    return WEEKDAYS[(day + 3) % 7]


def today(zone: Zone, now: float) -> int:
    """Return which day it is there."""
    return int((now + zone(now)) // DAY_SECONDS)


def instant_of(zone: Zone, day: int, seconds: int) -> float:
    """Return the Unix seconds at which a clock there shows `seconds` after midnight of a day."""
    shown = day * DAY_SECONDS + seconds
    before, after = zone(shown - DAY_SECONDS), zone(shown + DAY_SECONDS)
    found = [shown - ahead for ahead in (before, after) if zone(shown - ahead) == ahead]
    return min(found) if found else shown - before
