"""Measure beside the peers and write RESULTS.md: all of it, or the sections that are named.

python -m benchmarks [NAME...]
"""

import sys
from collections.abc import Callable, Iterable

from benchmarks import idle, live_diff, offline, reactions, rooms
from benchmarks.fleet import ten_thousand
from benchmarks.results import Section, write

FLEET = {"idle": idle.measure, "reactions": reactions.measure}
ALONE: dict[str, Callable[[], Section]] = {
    "offline": offline.measure,
    "rooms": rooms.measure,
    "live-diff": live_diff.measure,
    "idle-many": idle.measure_many,
}


def main(names: list[str]) -> int:
    """Measure, print, write; 1 when something that must hold does not."""
    known = [*ALONE, *FLEET]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no measurement {', '.join(unknown)}; there are {', '.join(known)}.")
        return 1
    passed = True
    for section in measured(names or known):
        print(section.text(), flush=True)
        write([section])
        passed = passed and section.passed
    return 0 if passed else 1


def measured(names: list[str]) -> Iterable[Section]:
    """Measure one after the other; what needs ten thousand rooms shares them."""
    for name in names:
        if name in ALONE:
            yield ALONE[name]()
    if set(names) & set(FLEET):
        with ten_thousand() as fleet:
            for name in names:
                if name in FLEET:
                    yield FLEET[name](fleet)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
