"""How much of a sweep is played: in `make test` a part of it, in `make rooms` more, or all.

A part takes every so many points, from where the program's seed says: another program is tried at
other points. Where a point can go wrong in many ways, it takes some of them at each, in turn, so
that all ways are played at some points. `GAMEKEEPER_SWEEPS` is `all`, or `5` for at least a fifth.
"""

import math
import os
import sys
from collections.abc import Sequence
from typing import TypeVar

from tests.seeds import seed_of_the_program

T = TypeVar("T")

SETTING = "GAMEKEEPER_SWEEPS"
ALL = "all"


def part(points: Sequence[T], of: int) -> list[T]:
    """Return the points to play: every `of`-th, at least one; or more, or all."""
    step = min(of, _least())
    return list(points[seed_of_the_program(2**32) % max(1, min(step, len(points))) :: step])


def some(ways: Sequence[T], at: int, most: int) -> list[T]:
    """Return the ways to play at a point by its number: `most` of them; or more, or all."""
    most = max(most, math.ceil(len(ways) / _least()))
    if most >= len(ways):
        return list(ways)
    return [ways[(at * most + number) % len(ways)] for number in range(most)]


def _least() -> int:
    """Return which part is to be played at least: 5 for a fifth, 1 for all."""
    asked = os.environ.get(SETTING)
    return 1 if asked == ALL else int(asked or sys.maxsize)
