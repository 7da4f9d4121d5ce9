"""How much of a sweep is played: in `make test` a part of it, in `make rooms` all.

A part takes every so many points, from where the program's seed says: another program is tried at
other points. Where a point can go wrong in many ways, it takes some of them at each, in turn, so
that all ways are played at some points.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

from tests.seeds import seed_of_the_program

T = TypeVar("T")

SETTING = "GAMEKEEPER_SWEEPS"
ALL = "all"


def part(points: Sequence[T], of: int) -> list[T]:
    """Return the points to play: every `of`-th, at least one; or all."""
    if os.environ.get(SETTING) == ALL:
        return list(points)
    return list(points[seed_of_the_program(2**32) % max(1, min(of, len(points))) :: of])


def some(ways: Sequence[T], at: int, most: int) -> list[T]:
    """Return the ways to play at a point by its number: `most` of them, or all."""
    if os.environ.get(SETTING) == ALL or most >= len(ways):
        return list(ways)
    return [ways[(at * most + number) % len(ways)] for number in range(most)]
