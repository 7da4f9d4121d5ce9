"""What ten thousand rooms cost when nothing happens."""

import re
import time
from collections import Counter

from benchmarks import stage
from benchmarks.fleet import QUIET_SECONDS, Fleet, is_work, ten_thousand
from benchmarks.results import Figure, Section, at_most
from benchmarks.rooms_voices import SAYS_READY, say_all

IDLE_SECONDS, SHORT_SECONDS = 60.0, 30.0
MEMORY_MOST_MIB, PASS_MOST_MS = 300.0, 100.0


def measure_many() -> Section:
    """Measure the same rooms in a thousand workloads."""
    with ten_thousand(1000) as fleet:
        return measure(fleet, "idle-many", SHORT_SECONDS)


def measure_reporting(fleet: Fleet) -> Section:
    """Measure rooms that report, each heard once since the start."""
    return measure(fleet, "idle-reporting", SHORT_SECONDS)


def measure(fleet: Fleet, name: str = "idle", seconds: float = IDLE_SECONDS) -> Section:
    """Measure a full pass, the calls of an idle minute (or half of one), and the memory."""
    with fleet.running(RESYNC_SECONDS="1", POLL_SECONDS="3600") as process:
        if fleet.voices:
            say_all(fleet.rooms_address, fleet.voices, SAYS_READY)
            time.sleep(QUIET_SECONDS)
        log = stage.AuditLog(fleet.cluster)
        before, used = _passes(process), process.cpu_seconds()
        time.sleep(seconds)
        used, after = process.cpu_seconds() - used, _passes(process)
        calls = Counter(f"{each.verb} {each.resource}" for each in log.more() if is_work(each))
        sizes = process.pss_mib()
        rooms = _ready_rooms(process)
    passes = after[0] - before[0]
    took = (after[1] - before[1]) / passes * 1000
    figures = [
        Figure("rooms that its metrics show as ready", f"{rooms:,.0f}"),
        at_most("CPU of a full pass", used / passes * 1000, PASS_MOST_MS, "ms", 1),
        Figure("time of a full pass, mean", f"{took:.1f} ms"),
        at_most(f"API calls in {seconds:.0f} s but the lease and watches", calls.total(), 0, "", 0),
        at_most("PSS when it had made all", fleet.maker_pss_mib, MEMORY_MOST_MIB, "MiB", 0),
        at_most(
            "PSS of all its processes, started anew", sum(sizes.values()), MEMORY_MOST_MIB, "MiB", 0
        ),
    ]
    each = ", ".join(f"`{what}` {size:.0f}" for what, size in sizes.items())
    notes = [
        f"{fleet.shape}; {passes:.0f} full passes in"
        f" {seconds:.0f} s, one a second (`--resync-seconds 1`). The CPU is all that its"
        " processes used meanwhile, divided by the passes: lease, beats and watches are in it.",
        f"PSS in MiB: {each}.",
    ]
    if fleet.voices:
        notes.append("The rooms report; each said once since the start that it is empty.")
    if calls:
        notes.append(f"Calls that should not be: {dict(calls)}.")
    return Section(name, "10,000 rooms and nothing to do", figures, notes)


def _passes(process: stage.Running) -> tuple[float, float]:
    """Return how many passes there were, and how many seconds they took in all."""
    page = process.metrics()
    found = dict(re.findall(r"^gamekeeper_pass_seconds_(count|sum)\{[^}]*\} (\S+)$", page, re.M))
    return float(found["count"]), float(found["sum"])


def _ready_rooms(process: stage.Running) -> float:
    lines = re.findall(r'^gamekeeper_rooms\{.*state="ready".*\} (\S+)$', process.metrics(), re.M)
    return sum(map(float, lines))
