"""Instants as RFC 3339 writes them, to Unix seconds and back; no clock of the machine."""

import re

from reconciler.core.calendar import DAY_SECONDS, date_of, day_of, time_of

_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}):([0-9]{2})(\.[0-9]{1,9})?"
    r"(?:([Zz])|([+-])([0-9]{2}:[0-9]{2}))"
)


def instant_of_text(text: str) -> float | None:
    """Return the Unix seconds of a text as `2026-12-27T06:00:00+01:00`, None where it is none."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None
    day, time = day_of(found[1]), time_of(found[2])
    ahead = 0 if found[5] else time_of(found[7])
    # A leap second is told as the last second before it.
    seconds = min(int(found[3]), 59) if int(found[3]) <= 60 else None
    if day is None or time is None or ahead is None or seconds is None:
        return None
    if time == DAY_SECONDS or ahead == DAY_SECONDS:
        return None
    if found[6] == "-":
        ahead = -ahead
    return day * DAY_SECONDS + time + seconds + float(found[4] or 0) - ahead


def told(at: float) -> str:
    """Return an instant as people read it: `2026-12-27 05:00 UTC`."""
    days, seconds = divmod(int(at), DAY_SECONDS)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    clock += f":{seconds % 60:02}" if seconds % 60 else ""
    return f"{date_of(days)} {clock} UTC"
