"""How fast a count may move: stabilisation windows, turns, cool-downs, steps.

What was advised stands until something else is: after a silence the last advice before it still
counts for a whole window, so that no single look after an outage takes rooms away.
"""

from collections.abc import Callable, Sequence

from reconciler.model.decisions import Advised, Past
from reconciler.model.scaling import Direction, Pace
from reconciler.model.shares import Share

TURN_SECONDS = 600.0
"""A count that turned up is not turned down before: at most 2 changes of direction in 10 minutes.

Players wait for rooms, so upwards nothing may wait; what is damped is the way down.
"""
_SPANS = 20
"""Into how many spans a window is divided: what is remembered stays small."""

Pick = Callable[[int, int], int]


def remember(
    spans: Sequence[Advised], advised: int, now: float, window_seconds: float, pick: Pick
) -> tuple[Advised, ...]:
    """Return what counts within the window ending now, with one more advice.

    `pick` is max for the window downwards and min for the one upwards.
    """
    if window_seconds <= 0:
        return ()
    begin = now - window_seconds
    known = [
        span for at, span in enumerate(spans) if at + 1 == len(spans) or spans[at + 1].since > begin
    ]
    if known and now - known[-1].since < window_seconds / _SPANS:
        last = known.pop()
        return (*known, Advised(last.since, pick(last.replicas, advised)))
    return (*known, Advised(now, advised))


def leaves_in(spans: Sequence[Advised], now: float, window_seconds: float) -> float:
    """Return in how many seconds the earliest span leaves the window."""
    following = spans[1].since if len(spans) > 1 else now
    return max(1.0, following + window_seconds - now)


def cooldown_left(past: Past, way: Direction, pace: Pace, now: float) -> float:
    """Return how many seconds a change this way has still to wait, 0 for none."""
    last = past.raised_at if way == "up" else past.lowered_at
    return 0.0 if last is None else max(0.0, last + pace.cooldown_seconds - now)


def turn_left(past: Past, now: float) -> float:
    """Return how many seconds a change downwards has still to wait after a turn, 0 for none."""
    return 0.0 if past.turned_at is None else max(0.0, past.turned_at + TURN_SECONDS - now)


def limited(count: int, wanted: int, step: Share | None) -> int:
    """Return the count that one change may reach; a share is of the count before, at least 1."""
    if step is None:
        return wanted
    most = max(1, -(-step.value * count // 100) if step.percent else step.value)
    return min(wanted, count + most) if wanted > count else max(wanted, count - most)
