"""Which part of a campaign is played: `make test` and CI play a share of it, a campaign all.

`GAMEKEEPER_SHARE` is `10` for a tenth, or `3/10` for that of the number 3, from 0. Which tenth is
meant by `10` follows from the program's text: another program is tried with another tenth. It is at
least a tenth, of 25 points 3; the parts `0/10` to `9/10` have each point once. Where nothing is
set, as in `make test`, it is a thousandth: of most acts one point.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

from tests.seeds import seed_of_the_program

T = TypeVar("T")

SETTING = "GAMEKEEPER_SHARE"
USUAL = "1000"


def share(points: Sequence[T], name: str = "") -> list[T]:
    """Return the points to play, of those of the campaign `name`; a share of their own has one.

    Raises ValueError.
    """
    which, slash, parts = os.environ.get(SETTING, USUAL).rpartition("/")
    of = int(parts)
    if slash:
        return list(points[int(which) % of :: of])
    begin = (seed_of_the_program(of) + sum(map(ord, name))) % of
    # Behind the end it goes on from the beginning, up to before the first that is played.
    places = {(begin + step) % len(points) for step in range(0, len(points), of)}
    return [points[place] for place in sorted(places)]
