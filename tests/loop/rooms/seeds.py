"""Which seeds of weather are played, and how one that failed is played again."""

import os
import re
from collections.abc import Iterable, Iterator

TEST = "tests/loop/rooms/test_rooms_weather.py"
SETTING = "GAMEKEEPER_SEEDS"
FEW = "30"


def seeds_of(text: str) -> range:
    """Read how many seeds are meant, or which: `30` is the first thirty, `150-299` is as it says.

    Raises ValueError.
    """
    first, dash, last = text.partition("-")
    return range(int(first), int(last) + 1) if dash else range(int(first))


def replays(tests: Iterable[str]) -> Iterator[str]:
    """Return for each failed test that is one seed the command that plays it again."""
    for name in tests:
        found = re.search(r"test_rooms_weather\.py::.*\[seed-(\d+)\]", name)
        if found:
            seed = found.group(1)
            yield f"{SETTING}={seed}-{seed} .venv/bin/python -m pytest {TEST} -k seed-{seed}"


SEEDS = seeds_of(os.environ.get(SETTING, FEW))
