"""When an entry of `schedule` or `chain` holds: times of day, days, dates, in a time zone.

An entry holds from `from` until `to` of every day that its `days` name, between the dates `start`
and `end`, both included. A `to` that is not after `from` is on the next day; days and dates are
those on which it begins. Dates that have passed are no mistake: such an entry just holds no more.
"""

from collections.abc import Iterator

from reconciler.core import calendar
from reconciler.core.calendar import DAY_SECONDS, Zone, Zones, check_zone
from reconciler.core.mistakes import Mistake, shown
from reconciler.model.refs import Json

UTC = "UTC"
_NAMES = ("timeZone", "days", "from", "to", "start", "end")


def check_window(entry: Json, zones: Zones) -> Iterator[Mistake]:
    """Yield the mistakes of an entry that its schema cannot know of."""
    yield from check_zone(entry.get("timeZone") or UTC, zones, ("timeZone",))
    days = {}
    for edge in ("start", "end"):
        text = entry.get(edge)
        days[edge] = calendar.day_of(text) if text else None
        if text and days[edge] is None:
            yield Mistake((edge,), f"there is no day {shown(text)}", "write 2026-12-24", "date")
    if days["start"] is not None and days["end"] is not None and days["end"] < days["start"]:
        message = f"{entry['end']} is before start, {entry['start']}: it would never hold"
        yield Mistake(("end",), message, f"write {entry['start']} or later", "date")


def is_limited(entry: Json) -> bool:
    """Whether an entry says anything about when it holds."""
    return any(entry.get(name) for name in _NAMES)


def holds_at(entry: Json, zones: Zones, now: float) -> bool:
    """Whether an entry holds now. A zone that is not installed any more is taken for UTC."""
    zone = zones[_zone_name(entry, zones)]
    first = calendar.today(zone, now)
    # What began yesterday may last; and a zone that skipped a day is ahead of itself.
    return any(
        _begins_on(entry, day) and _covers(entry, zone, day, now)
        for day in range(first - 2, first + 2)
    )


def told(entry: Json, zones: Zones) -> str:
    """Say when an entry holds: `18:00 to 23:00 on fri, sat from 2026-12-01 (Europe/Berlin)`."""
    begin, end = entry.get("from") or "00:00", entry.get("to") or "24:00"
    words = [f"{begin} to {end}"]
    if entry.get("days"):
        words.append("on " + ", ".join(entry["days"]))
    if entry.get("start"):
        words.append(f"from {entry['start']}")
    if entry.get("end"):
        words.append(f"until {entry['end']}")
    return f"{' '.join(words)} ({_zone_name(entry, zones)})"


def _zone_name(entry: Json, zones: Zones) -> str:
    name: str = entry.get("timeZone") or UTC
    return name if name in zones else UTC


def _begins_on(entry: Json, day: int) -> bool:
    days = entry.get("days")
    if days and calendar.weekday_of(day) not in days:
        return False
    start = calendar.day_of(entry.get("start") or "")
    end = calendar.day_of(entry.get("end") or "")
    return (start is None or start <= day) and (end is None or day <= end)


def _covers(entry: Json, zone: Zone, day: int, now: float) -> bool:
    begin = calendar.time_of(entry.get("from") or "00:00") or 0
    end = calendar.time_of(entry.get("to") or "24:00")
    end = DAY_SECONDS if end is None else end
    last = day + 1 if end <= begin else day
    return calendar.instant_of(zone, day, begin) <= now < calendar.instant_of(zone, last, end)
