"""All rooms counted for the page of metrics, beside the loop: a sweep a second.

Most rooms are as they were a second ago, and a record that did not change is the same value: so
a sweep over ten thousand rooms looks at few of them, and never holds up the event loop for long.
"""

import asyncio
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric

from reconciler.core import departing, room_state
from reconciler.core.rollup import Rollup, roll_up
from reconciler.loop.lane import Lane
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LivePod, LiveWorkload
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Heard, Judged, Mark, Why
from reconciler.model.specs import Workload
from reconciler.ports import Clock
from reconciler.service.room_metrics import Spread
from reconciler.service.room_tallies import Cell, PortUse, Tallies, families

SWEEP_SECONDS = 1.0
SLICE = 250
"""So many rooms are judged in one stretch of the event loop (about a millisecond)."""
FLEET = "Fleet"
BIG_FLEET_ROOMS = 1000
READY_BUCKETS = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)


_STUCK = HoldKind.NEEDS_INTERVENTION


@dataclass(slots=True)
class _Room:
    """A room as it was counted; `again_at` is when time alone may change what it is (elapsed).

    `cell` is its state and revision; `protected` and `leaving` are why, "" where it is not.
    """

    pod: LivePod
    heard: Heard | None
    again_at: float | None
    cell: Cell
    up: bool
    protected: str
    leaving: str


@dataclass(slots=True)
class _Memory:
    """What a workload was counted from."""

    live: LiveWorkload
    ears: Ears
    spec: Workload
    desired: int
    needs_people: bool
    rooms: dict[str, _Room] = field(default_factory=dict)
    again_at: float | None = None


class RoomCensus:
    """Counts the rooms of a lane while `leading`; a collector of the page of metrics."""

    def __init__(
        self, lane: Lane, leading: Callable[[], bool], clock: Clock, registry: CollectorRegistry
    ) -> None:
        self._lane = lane
        self._leading = leading
        self._clock = clock
        self._began = clock.now()
        self._memories: dict[WorkloadKey, _Memory] = {}
        self._tallies: dict[WorkloadKey, Tallies] = {}
        self._starting: set[str] = set()
        self._ready_seconds = Spread(READY_BUCKETS)
        self._deaf = False
        self._ports_of: Tally[int] = Tally()
        self._ports = PortUse([])
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
            self._deaf = False
            return
        keys = {*lane.wanted.effective, *lane.view.workloads()}
        ports = self._port_use()
        deaf = False
        for number, key in enumerate(sorted(keys)):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            await self._count(key, ports)
            deaf = deaf or bool(lane.reports.of(key).deaf)
        for gone in self._tallies.keys() - keys:
            self._tallies.pop(gone)
            self._memories.pop(gone, None)
        self._deaf = deaf

    def _port_use(self) -> PortUse:
        """Return which host ports are in use; sorted anew only where that changed."""
        use = self._lane.view.port_use()
        if use is not self._ports_of:
            self._ports_of, self._ports = use, PortUse(sorted(use))
        return self._ports

    async def _count(self, key: WorkloadKey, ports: PortUse) -> None:
        lane, now = self._lane, self._lane.view.elapsed()
        memory = self._memories.get(key)
        spec, desired = _spec_of(lane, key)
        needs_people = _needs_people(lane, key)
        fresh = _Memory(lane.view.of(key), lane.reports.of(key), spec, desired, needs_people)
        if memory is None or not _lasts(memory, fresh, now):
            await self._judge(fresh, memory, now)
            self._memories[key] = memory = fresh
            rollup = await _rollup(key, memory) if key.kind == FLEET else None
            self._tallies[key] = replace(_tallies(memory, ports), rollup=rollup)
        elif self._tallies[key].ports != ports.of(memory.spec.port_range):
            tallies = self._tallies[key]
            self._tallies[key] = replace(tallies, ports=ports.of(memory.spec.port_range))

    async def _judge(self, memory: _Memory, before: _Memory | None, now: float) -> None:
        """Judge the rooms that are not as they were; the others are as they were judged."""
        known = before.rooms if before else {}
        alike = before is not None and _judges_alike(before, memory)
        for number, pod in enumerate(memory.live.pods, 1):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            heard = memory.ears.rooms.get(pod.uid)
            room = known.get(pod.uid)
            if room is None or not alike or not _stands(room, pod, heard, now):
                self._time(pod, room)
                room = _room(memory, pod, heard, now)
            memory.rooms[pod.uid] = room
        waits = [room.again_at for room in memory.rooms.values() if room.again_at is not None]
        memory.again_at = min(waits, default=None)
        self._starting -= known.keys() - memory.rooms.keys()

    def _time(self, pod: LivePod, before: _Room | None) -> None:
        """Observe how long a room took from its creation until it was seen ready for once."""
        if before is None and not pod.ready and not (pod.lapsed or pod.restarts or pod.terminating):
            self._starting.add(pod.uid)
        elif pod.ready and (pod.uid in self._starting or self._is_new(pod, before)):
            self._starting.discard(pod.uid)
            self._ready_seconds.observe(max(0.0, self._clock.now() - pod.created_at))

    def _is_new(self, pod: LivePod, before: _Room | None) -> bool:
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
            "1 while so many rooms fell silent at once that our own ears are suspect",
            labels=["cluster"],
        )
        deaf.add_metric([name], float(self._deaf))
        yield deaf


def _spec_of(lane: Lane, key: WorkloadKey) -> tuple[Workload, int]:
    """Return by which spec a workload's rooms are judged, and how many it is to have."""
    wanted = lane.wanted.effective.get(key)
    if wanted is not None:
        return wanted.workload, wanted.workload.replicas
    return departing.workload_of(lane.situation(key)), 0


def _lasts(memory: _Memory, fresh: _Memory, now: float) -> bool:
    """Whether a workload counts as it did: nothing of it changed, and no time is up."""
    same = memory.live is fresh.live and memory.ears is fresh.ears and memory.spec is fresh.spec
    same = same and memory.needs_people == fresh.needs_people
    return same and (memory.again_at is None or now < memory.again_at)


def _needs_people(lane: Lane, key: WorkloadKey) -> bool:
    """Whether its record says that failed rooms are replaced no more."""
    conditions = lane.store.state(key).conditions
    return any(each.status and each.reason == _STUCK for each in conditions)


async def _rollup(key: WorkloadKey, memory: _Memory) -> Rollup:
    """Return a fleet's face; of a large one in a thread, for all of it is immutable."""
    reason = "failed rooms are replaced no more"
    holds = (Hold(_STUCK, key, reason),) if memory.needs_people else ()
    pods, heard = memory.live.pods, memory.ears.rooms
    if len(pods) < BIG_FLEET_ROOMS:
        return roll_up(pods, heard, holds)
    return await asyncio.to_thread(roll_up, pods, heard, holds)


def _judges_alike(memory: _Memory, fresh: _Memory) -> bool:
    return memory.spec is fresh.spec and memory.ears.deaf == fresh.ears.deaf


def _stands(room: _Room, pod: LivePod, heard: Heard | None, now: float) -> bool:
    same = room.pod is pod and room.heard is heard
    return same and (room.again_at is None or now < room.again_at)


def _room(memory: _Memory, pod: LivePod, heard: Heard | None, now: float) -> _Room:
    judged = room_state.judge(pod, memory.spec, heard, memory.ears, now)
    again = judged.again_in_seconds
    leaves = pod.leaving is not Why.STAYS or pod.mark is Mark.DRAINING
    return _Room(
        pod,
        heard,
        None if again is None else now + again,
        (judged.state.value, "new" if pod.revision == memory.spec.revision else "old"),
        judged.up and not leaves,
        _protection(pod, judged) if judged.protected else "",
        pod.leaving.value or Why.REQUEST.value if leaves else "",
    )


def _tallies(memory: _Memory, ports: PortUse) -> Tallies:
    rooms = memory.rooms.values()
    return Tallies(
        memory.desired,
        sum(room.up for room in rooms),
        Tally(room.cell for room in rooms),
        Tally((room.protected,) for room in rooms if room.protected),
        Tally((room.leaving,) for room in rooms if room.leaving),
        ports.of(memory.spec.port_range),
    )


def _protection(pod: LivePod, judged: Judged) -> str:
    if judged.demand:
        return "players"
    if judged.unheard:
        return "unheard"
    return "kept" if pod.mark is Mark.FAILED else "ending"
