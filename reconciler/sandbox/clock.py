"""Times as Kubernetes writes them; the moment itself is always an argument."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=4096)
def _whole(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp(now: float) -> str:
    """Write a moment (Unix seconds) in whole seconds."""
    return _whole(int(now))


def micro(now: float) -> str:
    """Write a moment (Unix seconds) in microseconds."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@lru_cache(maxsize=4096)
def moment(text: str) -> float:
    """Read a timestamp back into Unix seconds. Raises ValueError."""
    return datetime.fromisoformat(text).timestamp()


def age(seconds: float) -> str:
    """Write a duration the way tables do: two units at most, coarser as it grows."""
    if seconds < 0:
        return "<invalid>" if seconds < -2 else "0s"
    whole = int(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if whole < 120:
        return f"{whole}s"
    if minutes < 10:
        return f"{minutes}m{_rest(whole % 60, 's')}"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{_rest(minutes % 60, 'm')}"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{_rest(hours % 24, 'h')}"
    if days < 730:
        return f"{days}d"
    years, rest = divmod(days, 365)
    return f"{years}y{_rest(rest, 'd')}" if years < 8 else f"{years}y"


def _rest(amount: int, unit: str) -> str:
    return f"{amount}{unit}" if amount else ""
