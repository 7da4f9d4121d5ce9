"""What earlier days and weeks say of the next minutes: how demand grows at this time of day.

Only the shape counts, never the height: the filters follow the height themselves.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from reconciler.core.demand import HEAD_BYTES, MARK, QUARTER_SECONDS, UNKNOWN, quarter_of
from reconciler.core.policies.adaptive_memory import Floats

DAY_QUARTERS, WEEK_DAYS = 96, 7
REACH = 5
"""Quarters on each side that are looked at."""
WINDOW = np.arange(-REACH - 2, REACH + 3)
KERNEL: Floats = np.array([1.0, 2.0, 3.0, 2.0, 1.0]) / 9.0


Shape = tuple[float, ...]


def shapes(history: bytes, now: float, instants: Sequence[float]) -> tuple[Shape, Shape] | None:
    """Return the relative demand at instants near `now`, by season: days, a week ago.

    None where not a day is known.
    """
    here = quarter_of(now)
    rows = _rows(history, here)
    if rows is None:
        return None
    first = here - REACH + 0.5
    places = [min(2.0 * REACH - 0.001, max(0.0, at / QUARTER_SECONDS - first)) for at in instants]
    days, week = rows
    return tuple(_at(days, place) for place in places), tuple(_at(week, place) for place in places)


def _at(row: Sequence[float], place: float) -> float:
    """Return a row at a place between two of its numbers."""
    left = int(place)
    return row[left] + (place - left) * (row[left + 1] - row[left])


@lru_cache(maxsize=256)
def _rows(history: bytes, here: int) -> tuple[Shape, Shape] | None:
    """Return the smoothed demand around a quarter of an hour, by season; none of it is 0.

    The history changes every quarter of an hour only, so it is reckoned once in that time.
    """
    if len(history) < HEAD_BYTES + 4 * (DAY_QUARTERS + REACH + 3) or history[:4] != MARK:
        return None
    counts = np.frombuffer(history, dtype="<u4", offset=HEAD_BYTES)
    newest = int.from_bytes(history[4:8], "little")
    days = np.arange(1, WEEK_DAYS + 1)[:, None] * DAY_QUARTERS
    places = len(counts) - 1 - newest + here - days + WINDOW
    inside = (places >= 0) & (places < len(counts))
    seen = counts[np.where(inside, places, 0)].astype(np.float64)
    known = (inside & (seen != UNKNOWN)).all(axis=1)
    if not known.any():
        return None
    daily = np.asarray(seen[known].mean(axis=0), dtype=np.float64)
    weekly: Floats = seen[-1] if known[-1] else daily
    return _smooth(daily), _smooth(weekly)


def _smooth(row: Floats) -> Shape:
    """Return a row of quarters without most of its chance."""
    return tuple((np.convolve(row, KERNEL, mode="valid") + 1.0).tolist())
