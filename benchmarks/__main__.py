"""Measure beside the peers and write RESULTS.md: all of it, or the sections that are named.

python -m benchmarks [NAME...]

Each measurement runs in a process of its own with a deadline, and its section is written when it
is whole: one that fails or hangs loses nothing of the others, nor its own older figures.
"""

import argparse
import faulthandler
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial

from benchmarks import (
    cold,
    decision,
    decision_latency,
    hostile,
    hostile_rooms,
    idle,
    live_diff,
    offline,
    pings,
    ports,
    reactions,
    rooms,
    rooms_failover,
    rooms_flips,
    rooms_load,
    rooms_reactions,
    stretches,
    write_back,
)
from benchmarks.apart import BROKEN, HERE, MISSED, PASSED, measure_apart, summary
from benchmarks.fleet import Fleet, ten_thousand
from benchmarks.results import Section, write

DEADLINE_SECONDS = 1800.0
"""Three times what the longest takes on two busy CPUs."""

Measure = Callable[[Fleet], Section]

FLEET: dict[str, Measure] = {"idle": idle.measure, "reactions": reactions.measure}
PULSE_ROOMS = 2 * rooms_reactions.EVENTS
REPORTING: dict[str, Measure] = {
    "room-flips": rooms_flips.measure,
    "room-load": rooms_load.measure,
    "idle-reporting": idle.measure_reporting,
    "decision-latency": decision_latency.measure,
    # Last: they let rooms end.
    "room-reactions": rooms_reactions.measure,
    "room-failover": rooms_failover.measure,
}
ALONE: dict[str, Callable[[], Section]] = {
    "offline": offline.measure,
    "decision": decision.measure,
    "hostile": hostile.measure,
    "hostile-rooms": hostile_rooms.measure,
    "ports": ports.measure,
    "pings": pings.measure,
    "rooms": rooms.measure,
    "cold": cold.measure,
    "live-diff": live_diff.measure,
    "idle-many": idle.measure_many,
    "stretches": stretches.measure,
    "write-back": write_back.measure,
    "changes": write_back.measure_changes,
    "outage": write_back.measure_outage,
}
KNOWN = [*ALONE, *FLEET, *REPORTING]


def main(words: list[str]) -> int:
    """Measure, print, write; 1 when something does not hold, or could not be measured."""
    given = _given(words)
    if given.here:
        return _measure_here(given.names)
    endings = []
    for group in groups(given.names or KNOWN):
        endings.append(measure_apart(group, DEADLINE_SECONDS))
        print(summary(endings), flush=True)
    return 0 if all(ended.passed for ended in endings) else 1


def _given(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure beside the peers and write RESULTS.md.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(KNOWN)}; or all")
    parser.add_argument(HERE, action="store_true", help="in this process, and without a deadline")
    given = parser.parse_args(words)
    unknown = [name for name in given.names if name not in KNOWN]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(KNOWN)}")
    return given


def groups(names: list[str]) -> list[list[str]]:
    """Return what is measured in one process: what needs ten thousand rooms shares them."""
    alone = [[name] for name in names if name in ALONE]
    sharing = [[name for name in names if name in fleet] for fleet in (FLEET, REPORTING)]
    return [*alone, *filter(None, sharing)]


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
    sharing = [measure for name, measure in FLEET.items() if name in names]
    if sharing:
        with ten_thousand() as fleet:
            yield from (partial(measure, fleet) for measure in sharing)
    sharing = [measure for name, measure in REPORTING.items() if name in names]
    if sharing:
        with ten_thousand(pulse=PULSE_ROOMS, reports="required") as fleet:
            yield from (partial(measure, fleet) for measure in sharing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
