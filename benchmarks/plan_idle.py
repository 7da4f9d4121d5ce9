"""CPU of planning when there is nothing to do: what a full pass of the loop costs.

Measures `core.plan.plan` alone, over snapshots as the views hand them out: 1,000 workloads of
10 rooms, one workload of 10,000 rooms, and one of 10,000 with a port range. No I/O, no records;
what a plan found equal is given to the next one, as the loop does.
Prints one line: the best of some passes, in milliseconds of CPU, and exits 1 if either of the
first two is above what a pass may cost.

    python -m benchmarks.plan_idle
"""

import sys
from collections import Counter
from dataclasses import replace
from time import process_time

from reconciler.assets import kubernetes_definitions
from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.model.plans import Situation
from reconciler.model.records import Owned, StateRecord
from tests.unit.core.making import NOW, a_situation, a_workload, live_objects, pods, port_range

MOST_MS = 60.0
PASSES = 7


def fleet(name: str, rooms: int, ports: bool = False) -> Situation:
    """Return a workload that is exactly as wanted."""
    wanted_range = port_range(20_000, 30_000) if ports else None
    workload = a_workload(name, rooms, port_range=wanted_range)
    in_use = Counter(range(20_000, 30_000)) if ports else Counter[int]()
    inventory = tuple(sorted(Owned(item.ref, made=True) for item in live_objects(workload)))
    record = StateRecord(inventory=inventory)
    return a_situation(workload, pods(rooms), in_use=in_use, record=record)


def best_ms(situations: list[Situation], schemas: Schemas) -> float:
    """Return the CPU milliseconds of the fastest pass; a plan that is not idle is an error."""
    passes = []
    for _ in range(PASSES):
        started = process_time()
        plans = [planning.plan(situation, schemas, NOW) for situation in situations]
        passes.append((process_time() - started) * 1000)
        if not all(plan.idle for plan in plans):
            raise AssertionError("nothing was to be done, and yet something is planned")
        situations = [
            replace(each, confirmed=plan.confirmed)
            for each, plan in zip(situations, plans, strict=True)
        ]
    return min(passes)


def main() -> int:
    """Measure and print."""
    schemas = Schemas(kubernetes_definitions("1.36"))
    many = best_ms([fleet(f"arena-{n}", 10) for n in range(1000)], schemas)
    big = best_ms([fleet("arena", 10_000)], schemas)
    ported = best_ms([fleet("arena", 10_000, ports=True)], schemas)
    print(
        f"plan, nothing to do: 1,000 workloads x 10 rooms {many:.1f} ms, "
        f"1 x 10,000 rooms {big:.1f} ms ({ported:.1f} ms with a port range); "
        f"must be at most {MOST_MS:.0f} ms each"
    )
    return 0 if max(many, big) <= MOST_MS else 1


if __name__ == "__main__":
    sys.exit(main())
