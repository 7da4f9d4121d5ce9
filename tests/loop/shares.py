"""Which part of a campaign is played: `make test` and CI play a share of it, a campaign all.

`GAMEKEEPER_SHARE` is `10` for a tenth, or `3/10` for that of the number 3, from 0. Which tenth is
meant by `10` follows from the program's text: another program is tried with another tenth.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

from tests.seeds import seed_of_the_program

T = TypeVar("T")

SETTING = "GAMEKEEPER_SHARE"
USUAL = "100"


def share(points: Sequence[T], name: str = "") -> list[T]:
    """Return the points to play, of those of the campaign `name`.

    Raises ValueError.
    """
    which, slash, parts = os.environ.get(SETTING, USUAL).rpartition("/")
    of = int(parts)
    begin = int(which) if slash else seed_of_the_program(of) + sum(map(ord, name))
    return list(points[begin % of :: of])
