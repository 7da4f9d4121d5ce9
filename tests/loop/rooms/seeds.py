"""Which seeds of weather are played, and how one that failed is played again."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from tests.seeds import seed_of_the_program

TEST = "tests/loop/rooms/test_rooms_weather.py"
SETTING = "GAMEKEEPER_SEEDS"
FEW = "30"
FRESH = range(1_000, 1_000_000)
"""Where fresh seeds are drawn, beyond those of the campaign."""


def seeds_of(text: str) -> Sequence[int]:
    """Read how many seeds are meant, or which: `30` is the first thirty, `150-299` is as it says.

    `150-299+10` is these, and ten more that each program has anew. Raises ValueError.
    """
    named, _, fresh = text.partition("+")
    first, dash, last = named.partition("-")
    known = range(int(first), int(last) + 1) if dash else range(int(first))
    number = int(fresh or 0)
    begin = FRESH[seed_of_the_program(len(FRESH) - number)]
    return [*known, *range(begin, begin + number)]


def replays(tests: Iterable[str]) -> Iterator[str]:
    """Return for each failed test that is one seed the command that plays it again."""
    for name in tests:
        found = re.search(r"test_rooms_weather\.py::.*\[seed-(\d+)\]", name)
        if found:
            seed = found.group(1)
            yield f"{SETTING}={seed}-{seed} .venv/bin/python -m pytest {TEST} -k seed-{seed}"


SEEDS = seeds_of(os.environ.get(SETTING, FEW))
