"""What is kept of a room's last report on its pod, where some of it is told on change only.

A text that cannot be read was never said.
"""

import json
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from reconciler.core.hearing import MOST_PLAYERS, begins
from reconciler.model.rooms import GameState, Health, Heard, Said

MOST_RESTARTS = 2**31
LATEST = 253_402_300_800
"""The year 10000 in Unix seconds."""
LONGEST_KEPT = 400
"""Bytes of the annotation that keeps the last report; a longer one is not ours."""

E = TypeVar("E", bound=StrEnum)


def renewed(
    known: Heard | None, kept: str, now: float, spoke: bool, over_at: float
) -> Heard | None:
    """Return what is heard of a room whose players only its pod tells, by the report kept there.

    Whoever leads beside us, or led before, may have kept another one than was seen when we began
    to listen. Where the room `spoke` to us since, what it said to us stands beside it; `over_at` is
    when it told us that it is over, in Unix seconds, minus infinity for never.
    """
    fresh = heard_of(kept, now)
    if fresh is None or known is None:
        return known or fresh
    if not spoke:
        since = known.said_since if fresh.said is known.said else now
        laid = replace(fresh, at=known.at, said_since=since)
        return known if laid == known else replace(laid, at=now)
    later = fresh.counted >= over_at
    if fresh.players and later and known.said is Said.TERMINATED is not fresh.said:
        # The one who kept them heard the next process: it is over no more.
        said = replace(known, said=None, said_since=now)
    else:
        said = known
    laid = replace(
        said,
        periodic=known.periodic or fresh.periodic,
        players=fresh.players,
        mixed=known.mixed or fresh.mixed or known.periodic is not fresh.periodic,
        runs=fresh.runs,
        counted=fresh.counted,
        after_end=fresh.after_end,
        over_runs=said.over_runs if said.said is Said.TERMINATED else fresh.over_runs,
        long_ago=fresh.long_ago,
    )
    return known if laid == known else replace(laid, at=now)


def kept_of(heard: Heard) -> str:
    """Return the text that keeps what a game said that tells some of it on change only."""
    said = {
        "players": heard.players,
        "matches": heard.matches,
        "said": heard.said,
        "state": heard.game_state,
        "health": heard.health,
        "periodic": heard.periodic,
        "runs": heard.runs,
        "at": heard.counted,
        "ended": heard.after_end,
        "vain": heard.long_ago,
    }
    # The count always: it is what a process that starts anew must not guess.
    kept = {name: value for name, value in said.items() if value or name == "players"}
    is_implied = heard.said is Said.TERMINATED and heard.over_runs == heard.runs
    if heard.over_runs is not None and not is_implied:
        kept["over"] = heard.over_runs
    return json.dumps(kept, separators=(",", ":"))


def heard_of(text: str, now: float = 0.0) -> Heard | None:
    """Read such a text at `now`; None where it is none, for then the room was never heard.

    When it was said is not kept: the clock of another process tells nothing.
    """
    if not text or len(text) > LONGEST_KEPT:
        return None
    try:
        kept: Any = json.loads(text)
        periodic = kept.get("periodic", False) is True
        heard = Heard(
            at=now,
            periodic=periodic,
            mixed=periodic,
            said=_one_of(Said, kept.get("said")),
            matches=_count(kept.get("matches", 0), MOST_PLAYERS),
            players=_count(kept["players"], MOST_PLAYERS),
            health=_one_of(Health, kept.get("health")),
            game_state=_one_of(GameState, kept.get("state")),
            said_since=now,
            runs=tuple(_count(each, MOST_RESTARTS) for each in kept.get("runs", ())),
            counted=_count(kept.get("at", 0), LATEST),
            after_end=kept.get("ended", False) is True,
            long_ago=kept.get("vain", False) is True,
        )
        over = kept.get("over", heard.runs if heard.said is Said.TERMINATED else None)
        if over is not None:
            runs = tuple(_count(each, MOST_RESTARTS) for each in over)
            heard = replace(heard, over_runs=runs)
        # What it said before stands in its mark: that is written with this text.
        return replace(heard, begun=heard.busy or begins(heard))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _count(value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no count")
    return value


def _one_of(kind: type[E], value: str | None) -> E | None:
    return None if value is None else kind(value)
