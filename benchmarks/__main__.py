"""Measure beside the peers and write RESULTS.md: all of it, or the sections that are named.

python -m benchmarks [NAME...]

Each measurement runs in a process of its own with a deadline, and its section is written when it
is whole: one that fails or hangs loses nothing of the others, nor its own older figures.
"""

import faulthandler
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial

from benchmarks import hostile, idle, live_diff, offline, ports, reactions, rooms, stretches
from benchmarks.apart import BROKEN, HERE, MISSED, PASSED, measure_apart, summary
from benchmarks.fleet import ten_thousand
from benchmarks.results import Section, write

DEADLINE_SECONDS = 1800.0
"""Three times what the longest takes on two busy CPUs."""

FLEET = {"idle": idle.measure, "reactions": reactions.measure}
ALONE: dict[str, Callable[[], Section]] = {
    "offline": offline.measure,
    "hostile": hostile.measure,
    "ports": ports.measure,
    "rooms": rooms.measure,
    "live-diff": live_diff.measure,
    "idle-many": idle.measure_many,
    "stretches": stretches.measure,
}


def main(names: list[str]) -> int:
    """Measure, print, write; 1 when something does not hold, or could not be measured."""
    here = HERE in names
    names = [name for name in names if name != HERE]
    known = [*ALONE, *FLEET]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no measurement {', '.join(unknown)}; there are {', '.join(known)}.")
        return 1
    if here:
        return _measure_here(names)
    endings = []
    for group in groups(names or known):
        endings.append(measure_apart(group, DEADLINE_SECONDS))
        print(summary(endings), flush=True)
    return 0 if all(ended.passed for ended in endings) else 1


def groups(names: list[str]) -> list[list[str]]:
    """Return what is measured in one process: what needs ten thousand rooms shares them."""
    alone = [[name] for name in names if name in ALONE]
    sharing = [name for name in names if name in FLEET]
    return [*alone, sharing] if sharing else alone


def _measure_here(names: list[str]) -> int:
    """Measure in this process; MISSED when something does not hold, BROKEN when it could not."""
    faulthandler.register(signal.SIGUSR1)
    code = PASSED
    for measure in _measures(names):
        try:
            section = measure()
        except Exception:
            traceback.print_exc()
            code = BROKEN
            continue
        print(section.text(), flush=True)
        write([section])
        code = max(code, PASSED if section.passed else MISSED)
    return code


def _measures(names: list[str]) -> Iterable[Callable[[], Section]]:
    yield from (ALONE[name] for name in names if name in ALONE)
    sharing = [name for name in names if name in FLEET]
    if sharing:
        with ten_thousand() as fleet:
            for name in sharing:
                yield partial(FLEET[name], fleet)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
