"""How much of a sweep is played: in `make test` a part of it, in `make rooms` all.

Every point is played either way. Where a point can go wrong in many ways, a part takes some of
them at each, in turn, so that all ways are played at some points.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SETTING = "GAMEKEEPER_SWEEPS"
ALL = "all"


def some(ways: Sequence[T], at: int, most: int) -> list[T]:
    """Return the ways to play at a point by its number: `most` of them, or all."""
    if os.environ.get(SETTING) == ALL or most >= len(ways):
        return list(ways)
    return [ways[(at * most + number) % len(ways)] for number in range(most)]
