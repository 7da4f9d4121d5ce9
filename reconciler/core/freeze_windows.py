"""When a freeze is open: by a schedule on somebody's clocks, or between two dates.

A window that opens on a clock lasts so many seconds of real time, whatever that clock does
meanwhile. A time that the clock shows twice is the first of both; one that it skips is meant as if
it had not been put forward yet. A date is the whole day: the last one is part of the freeze.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from reconciler.core import calendar, cron
from reconciler.core.calendar import DAY_SECONDS, Zone, Zones, check_zone
from reconciler.core.cron import Cron
from reconciler.core.instants import instant_of_text, told
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.places import Path
from reconciler.core.waits import soonest
from reconciler.model.freezes import Freeze, Window
from reconciler.model.masks import redact
from reconciler.model.refs import Json
from reconciler.model.trees import CONFIG_FILE

_AHEAD_DAYS = 2
"""So far ahead the next one is looked for: Git is looked at much more often."""
_JOINED_DAYS = 8
"""So far ahead windows that touch are told as one; one that goes on longer is told anew then."""
_YEARS = ("19", "2")
"""How the years begin that clocks of all time zones can show."""
_FOUR_YEARS = 4 * 366


def check_freeze(entries: list[Json], zones: Zones) -> Iterator[Mistake]:
    """Yield the mistakes of the windows of `freeze` that their schema cannot know of."""
    names: set[str] = set()
    for number, entry in enumerate(entries):
        at: Path = ("spec", "freeze", number)
        if entry["name"] in names:
            message = f"there is another window {shown(entry['name'])}"
            yield Mistake((*at, "name"), message, "give each a name of its own", "freeze")
        names.add(entry["name"])
        yield from _zone_mistakes(entry, at, zones)
        if entry.get("schedule"):
            yield from _schedule_mistakes(entry, at)
        else:
            yield from _date_mistakes(entry, at, zones)


def _zone_mistakes(entry: Json, at: Path, zones: Zones) -> Iterator[Mistake]:
    name = entry.get("timeZone")
    if name:
        yield from check_zone(name, zones, (*at, "timeZone"))
    dated = [entry.get(edge) for edge in ("from", "until")]
    needed = entry.get("schedule") or any(
        each and calendar.day_of(each) is not None for each in dated
    )
    if needed and not name:
        message = "timeZone is missing: whose clocks are meant?"
        yield Mistake(
            at, message, "write timeZone: Europe/Berlin, or UTC", "time-zone", at_key=True
        )


def _schedule_mistakes(entry: Json, at: Path) -> Iterator[Mistake]:
    for name in ("from", "until"):
        if entry.get(name):
            message = "a window has a schedule, or from and until, one of both"
            yield Mistake((*at, name), message, "take one of them out", "freeze", at_key=True)
    duration = entry.get("durationSeconds")
    if not duration:
        message = "durationSeconds is missing: how long does it last?"
        yield Mistake(at, message, "write durationSeconds: 3600", "freeze", at_key=True)
    found = cron.parse(entry["schedule"])
    if isinstance(found, str):
        fix = 'write "0 18 * * fri" for every Friday at 18:00'
        yield Mistake((*at, "schedule"), found, fix, "cron")
    elif duration and _never_ends(found, duration):
        message = "it opens again before it ends: it would never end"
        yield Mistake((*at, "durationSeconds"), message, "write a shorter one", "freeze")


def _never_ends(schedule: Cron, duration: int) -> bool:
    """Whether no day is free of it, in four years, as the dates go."""
    times = schedule.times
    if any(after - before > duration for before, after in pairwise(times)):
        return False
    night = DAY_SECONDS + times[0] - times[-1]
    days = [day for day in range(_FOUR_YEARS) if schedule.is_on(day)]
    gaps = [(after - before - 1) * DAY_SECONDS + night for before, after in pairwise(days)]
    return max(gaps, default=duration + 1) <= duration


def _date_mistakes(entry: Json, at: Path, zones: Zones) -> Iterator[Mistake]:
    if entry.get("durationSeconds"):
        message = "durationSeconds is of a schedule: from and until say how long it lasts"
        yield Mistake((*at, "durationSeconds"), message, "take it out", "freeze", at_key=True)
    found = {}
    for edge in ("from", "until"):
        text = entry.get(edge)
        if not text:
            message = "a window has a schedule, or from and until"
            yield Mistake(at, message, f"add {edge}: 2026-12-23", "freeze", at_key=True)
        elif calendar.day_of(text) is None and instant_of_text(text) is None:
            fix = "write 2026-12-23, or 2026-12-23T18:00:00+01:00 with the zone"
            yield Mistake(
                (*at, edge), f"{shown(text)} is no date and no date and time", fix, "date"
            )
        elif not text.startswith(_YEARS):
            message = f"{shown(text)} is of a year that no time zone tells of"
            yield Mistake((*at, edge), message, "write one from 1900 to 2999", "date")
        else:
            found[edge] = text
    if len(found) == 2:
        begin, end = _between(_window_of(entry, 0), zones)
        if end <= begin:
            message = f"{entry['until']} is not after from, {entry['from']}: it would never open"
            yield Mistake((*at, "until"), message, "write a later one", "date")


def _window_of(entry: Json, line: int) -> Window:
    return Window(
        name=entry["name"],
        # Told in holds and their records; the Config that is on record has it as Git has it.
        reason=redact(entry.get("reason") or ""),
        schedule=entry.get("schedule") or "",
        time_zone=entry.get("timeZone") or "",
        duration_seconds=entry.get("durationSeconds") or 0,
        begin=entry.get("from") or "",
        end=entry.get("until") or "",
        line=line,
    )


def windows_of(entries: Iterable[Json]) -> tuple[Window, ...]:
    """Return the windows of a valid `freeze`; where they stand is not known yet."""
    return tuple(_window_of(entry, 0) for entry in entries)


def open_at(windows: Iterable[Window], zones: Zones, now: float) -> tuple[Freeze, ...]:
    """Return those that are open `now` (Unix seconds), with their ends."""
    found = (_span(window, zones, now) for window in windows)
    pairs = zip(windows, found, strict=True)
    return tuple(_freeze(window, span) for window, span in pairs if span is not None)


def next_change(windows: Iterable[Window], zones: Zones, now: float) -> float | None:
    """Return when the next of them opens or ends; None where none does in the next days."""
    return soonest(*(_next(window, zones, now) for window in windows))


def sentence(freeze: Freeze) -> str:
    """Say what is frozen until when, by which line, and why."""
    why = f": {freeze.reason}" if freeze.reason else ""
    return f"frozen until {told(freeze.until)} by {shown(freeze.name)} ({freeze.place}{why})"


def frozen_reason(freezes: Iterable[Freeze], over_budget: str = "") -> str:
    """Say why what people changed waits, by the freeze that ends last.

    What is `over_budget` waits for a person then: whoever ends the freeze for it has to know that.
    """
    then = (
        f"; then it takes too much: {over_budget}" if over_budget else ", and acts then by itself"
    )
    return f"{sentence(max(freezes))}: what people changed waits{then}"


def _freeze(window: Window, span: tuple[float, float]) -> Freeze:
    place = f"{CONFIG_FILE}:{window.line}" if window.line else CONFIG_FILE
    # A record holds no time before 1970: one that began earlier did so long ago, and no more.
    return Freeze(span[1], max(0.0, span[0]), window.name, window.reason, place)


def _span(window: Window, zones: Zones, now: float) -> tuple[float, float] | None:
    if not window.schedule:
        begin, end = _between(window, zones)
        return (begin, end) if begin <= now < end else None
    schedule = cron.parse(window.schedule)
    if isinstance(schedule, str):
        return None  # nothing of a Config that is not valid gets here
    zone, duration = _zone(window, zones), window.duration_seconds
    first = _last_begin(schedule, zone, now, duration)
    if first is None:
        return None
    end, today = first + duration, calendar.today(zone, first)
    for day in range(today, today + _JOINED_DAYS):
        for at in _begins(schedule, zone, day):
            if at > end:
                return first, end
            # What opens again before it ends goes on.
            end = max(end, at + duration)
    return first, end


def _last_begin(schedule: Cron, zone: Zone, now: float, duration: int) -> float | None:
    """Return when it began last of all; None where that is over."""
    today = calendar.today(zone, now)
    for day in range(today + 1, today - duration // DAY_SECONDS - 3, -1):
        last = max((at for at in _begins(schedule, zone, day) if at <= now), default=None)
        if last is not None:
            return last if now < last + duration else None
    return None


def _begins(schedule: Cron, zone: Zone, day: int) -> list[float]:
    """Return when it begins on a day."""
    if not schedule.is_on(day):
        return []
    return sorted(calendar.instant_of(zone, day, time) for time in schedule.times)


def _next(window: Window, zones: Zones, now: float) -> float | None:
    span = _span(window, zones, now)
    if span is not None:
        return span[1]
    if not window.schedule:
        begin, _ = _between(window, zones)
        return begin if begin > now else None
    schedule, zone = cron.parse(window.schedule), _zone(window, zones)
    if isinstance(schedule, str):
        return None
    today = calendar.today(zone, now)
    days = range(today - 1, today + _AHEAD_DAYS + 1)
    begins = (at for day in days for at in _begins(schedule, zone, day))
    return min((at for at in begins if at > now), default=None)


def _between(window: Window, zones: Zones) -> tuple[float, float]:
    zone = _zone(window, zones)
    first, last = calendar.day_of(window.begin), calendar.day_of(window.end)
    begin = instant_of_text(window.begin) if first is None else calendar.instant_of(zone, first, 0)
    end = instant_of_text(window.end) if last is None else calendar.instant_of(zone, last + 1, 0)
    return begin or 0.0, end or 0.0


def _zone(window: Window, zones: Zones) -> Zone:
    """Return the zone of a window. One that is not installed any more is taken for UTC."""
    try:
        return zones[window.time_zone or "UTC"]
    except KeyError:
        return calendar.utc
