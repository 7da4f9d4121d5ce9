"""Host ports planned as one batch: 20,000 at once, beside the heap that they were taken from.

Measures `core.host_ports.choose` alone, no I/O: in CPU time, so that other work on the machine
counts little. The heap asks for the least used number once for each port; what it chooses must be
chosen here too, or nothing is measured.

    python -m benchmarks ports
"""

import heapq
import random
from collections import Counter
from collections.abc import Callable
from time import process_time

from benchmarks.results import Figure, Section, at_most
from reconciler.core.host_ports import choose
from reconciler.model.specs import PortRange

MOST_MS = 40.0
PASSES = 7
PORTS = 20_000
USUAL = PortRange(20_000, 30_000)

Batch = tuple[int, int, PortRange, Counter[int]]
Choose = Callable[[int, int, PortRange, Counter[int]], list[tuple[int, ...]]]


def batches() -> dict[str, Batch]:
    """Return what is planned, by what it is."""
    seeded = random.Random(1)
    worn = Counter({number: seeded.randrange(20) for number in range(20_000, 30_001)})
    wide = PortRange(20_000, 65_535)
    return {
        "one port a room, a free range of 45,536": (1, PORTS, wide, Counter()),
        "one port a room, a free range of 10,001": (1, PORTS, USUAL, Counter()),
        "three ports a room, a range that others use unevenly": (3, PORTS // 3, USUAL, worn),
        "four ports a room, a range of 7": (4, PORTS // 4, PortRange(20_000, 20_006), Counter()),
    }


def measure() -> Section:
    """Measure every batch, ours and the heap's."""
    figures: list[Figure] = []
    for what, batch in batches().items():
        if choose(*batch) != _by_heap(*batch):
            raise AssertionError(f"{what}: chosen otherwise than one by one")
        ours_ms, heap_ms = _best_ms(choose, batch), _best_ms(_by_heap, batch)
        figures.append(at_most(f"20,000 ports, {what}", ours_ms, MOST_MS, "ms", digits=1))
        times = f"{heap_ms:.1f} ms, {heap_ms / ours_ms:.1f} times ours"
        figures.append(Figure("- the same ports from a heap", times))
    notes = (
        f"The best of {PASSES} passes, CPU time.",
        "The limit is the reference. Agones' search, which is quadratic, did not run here.",
    )
    return Section("ports", "host ports of 20,000 rooms in one batch", figures, notes)


def _best_ms(chosen_by: Choose, batch: Batch) -> float:
    passes = []
    for _ in range(PASSES):
        started = process_time()
        chosen_by(*batch)
        passes.append((process_time() - started) * 1000)
    return min(passes)


def _by_heap(
    ports: int, rooms: int, port_range: PortRange, in_use: Counter[int]
) -> list[tuple[int, ...]]:
    heap = [(in_use[number], number) for number in range(port_range.start, port_range.end + 1)]
    heapq.heapify(heap)
    seats = []
    for _ in range(rooms):
        taken = [heapq.heappop(heap) for _ in range(ports)]
        seats.append(tuple(number for _, number in taken))
        for uses, number in taken:
            heapq.heappush(heap, (uses + 1, number))
    return seats
