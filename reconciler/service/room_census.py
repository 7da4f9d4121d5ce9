"""All rooms counted for the page of metrics, beside the loop: a sweep a second.

Most rooms are as they were a second ago, and a record that did not change is the same value: so
a sweep over ten thousand rooms looks at few of them, and never holds up the event loop for long.
"""

import asyncio
import logging
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from dataclasses import replace

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric

from reconciler.loop.lane import Lane
from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.ports import Clock
from reconciler.service.room_counts import (
    Basis,
    Count,
    CountedRoom,
    Sums,
    basis_of,
    judges_alike,
    lasts,
    rollup_of,
    room_of,
    stands,
    tallies_of,
    turned_since,
)
from reconciler.service.room_metrics import Spread
from reconciler.service.room_tallies import PortUse, Tallies, families

SWEEP_SECONDS = 1.0
SLICE = 250
"""So many rooms are judged in one stretch of the event loop (about a millisecond)."""
FLEET = "Fleet"
READY_BUCKETS = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)

log = logging.getLogger("gamekeeper")


class RoomCensus:
    """Counts the rooms of a lane while `leading`; a collector of the page of metrics."""

    def __init__(
        self, lane: Lane, leading: Callable[[], bool], clock: Clock, registry: CollectorRegistry
    ) -> None:
        self._lane = lane
        self._leading = leading
        self._clock = clock
        self._began = clock.now()
        self._memories: dict[WorkloadKey, Count] = {}
        self._tallies: dict[WorkloadKey, Tallies] = {}
        self._starting: set[str] = set()
        self._ready_seconds = Spread(READY_BUCKETS)
        self._deaf = False
        self._ports_of: Tally[int] = Tally()
        self._ports = PortUse([])
        self._stumbled: set[WorkloadKey] = set()
        registry.register(self)

    async def run(self) -> None:
        """Count for ever."""
        while True:
            await self._clock.sleep(SWEEP_SECONDS)
            await self.sweep()

    async def sweep(self) -> None:
        """Count everything once; who does not lead hears nothing, and shows nothing."""
        lane = self._lane
        if not self._leading():
            self._memories.clear()
            self._tallies.clear()
            self._starting.clear()
            self._deaf, self._began = False, self._clock.now()
            return
        keys = {*lane.wanted.effective, *lane.view.workloads()}
        ports = self._port_use()
        deaf = False
        for number, key in enumerate(sorted(keys)):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            try:
                await self._count(key, ports)
                ears = lane.reports.of(key)
                deaf = deaf or bool(ears.deaf or ears.deaf_on or ears.deaf_here)
            except Exception:
                self._stumble(key)
            else:
                self._stumbled.discard(key)
        for gone in self._tallies.keys() - keys:
            self._tallies.pop(gone)
            self._starting.difference_update(self._memories.pop(gone).sums.rooms)
        self._deaf = deaf

    def _stumble(self, key: WorkloadKey) -> None:
        """Show nothing of a workload that trips a defect: it must not cost the others the loop."""
        memory = self._memories.pop(key, None)
        self._starting.difference_update(memory.sums.rooms if memory else ())
        self._tallies.pop(key, None)
        if key not in self._stumbled:
            self._stumbled.add(key)
            log.exception("a defect of Gamekeeper's own: the rooms of %s are not counted", key)

    def _port_use(self) -> PortUse:
        """Return which host ports are in use; sorted anew only where that changed."""
        use = self._lane.view.port_use()
        if use is not self._ports_of:
            self._ports_of, self._ports = use, PortUse(sorted(use))
        return self._ports

    async def _count(self, key: WorkloadKey, ports: PortUse) -> None:
        lane, now = self._lane, self._lane.view.elapsed()
        memory, fresh = self._memories.get(key), basis_of(lane, key)
        if memory is None or not lasts(memory, fresh, now):
            self._memories[key] = memory = await self._judge(fresh, memory, now)
            rollup = await rollup_of(fresh) if key.kind == FLEET else None
            self._tallies[key] = replace(tallies_of(memory, ports), rollup=rollup)
        elif self._tallies[key].ports != ports.of(fresh.spec.port_range):
            tallies = self._tallies[key]
            self._tallies[key] = replace(tallies, ports=ports.of(fresh.spec.port_range))

    async def _judge(self, fresh: Basis, before: Count | None, now: float) -> Count:
        """Judge the rooms that are not as they were; the others are as they were judged."""
        known = before.sums.rooms if before else {}
        alike = before is not None and judges_alike(before.basis, fresh)
        turned = turned_since(before, fresh, now) if before else None
        sums = before.sums if before is not None and turned is not None else Sums()
        for number, pod in enumerate(fresh.live.pods if turned is None else turned, 1):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            heard = fresh.ears.rooms.get(pod.uid)
            room = known.get(pod.uid)
            if room is None or not alike or not stands(room, pod, heard, now):
                self._time(pod, room)
                room = room_of(fresh, pod, heard, now)
            sums.put(room)
        if turned is None:
            self._starting -= known.keys() - sums.rooms.keys()
        return Count(fresh, sums)

    def _time(self, pod: LivePod, before: CountedRoom | None) -> None:
        """Observe how long a room took from its creation until it was seen ready for once."""
        if before is None and not pod.ready and not (pod.lapsed or pod.restarts or pod.terminating):
            self._starting.add(pod.uid)
        elif pod.ready and (pod.uid in self._starting or self._is_new(pod, before)):
            self._starting.discard(pod.uid)
            self._ready_seconds.observe(max(0.0, self._clock.now() - pod.created_at))

    def _is_new(self, pod: LivePod, before: CountedRoom | None) -> bool:
        return before is None and pod.created_at > self._began

    def collect(self) -> Iterator[Metric]:
        """Write the series."""
        name = self._lane.name
        yield from families(name, list(self._tallies.items()))
        seconds = HistogramMetricFamily(
            "gamekeeper_room_ready_seconds",
            "Time from the creation of a room until it was seen ready, to within two seconds",
            labels=["cluster"],
        )
        self._ready_seconds.add_to(seconds, [name])
        yield seconds
        deaf = GaugeMetricFamily(
            "gamekeeper_deaf",
            "1 while so many rooms, or those of one node or workload, fell silent at once that our "
            "own ears are suspect",
            labels=["cluster"],
        )
        deaf.add_metric([name], float(self._deaf))
        yield deaf
