"""One workload's rooms, counted: what each counts as, and for how long that stands."""

import asyncio
import math
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, field

from reconciler.core import departing, room_state
from reconciler.core.rollup import Rollup, roll_up
from reconciler.core.turning import turned_of
from reconciler.loop.lane import Lane
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LivePod, LiveWorkload
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Heard, Judged, Mark, Why
from reconciler.model.specs import Workload
from reconciler.service.room_tallies import Cell, PortUse, Tallies

BIG_FLEET_ROOMS = 1000
_STUCK = HoldKind.NEEDS_INTERVENTION


@dataclass(slots=True)
class CountedRoom:
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
class Sums:
    """Rooms summed up one by one: a workload of thousands is not looked through for one of them.

    `waits` are the moments (elapsed) at which time alone may change what a room is, by uid.
    """

    rooms: dict[str, CountedRoom] = field(default_factory=dict)
    up: int = 0
    states: Tally[Cell] = field(default_factory=Tally)
    protected: Tally[Cell] = field(default_factory=Tally)
    leaving: Tally[Cell] = field(default_factory=Tally)
    waits: dict[str, float] = field(default_factory=dict)

    def put(self, room: CountedRoom) -> None:
        """Count a room, in the place of what it was counted as."""
        uid = room.pod.uid
        before = self.rooms.get(uid)
        if before is not None:
            self._add(before, -1)
        self.rooms[uid] = room
        self._add(room, +1)
        if room.again_at is not None:
            self.waits[uid] = room.again_at
        else:
            self.waits.pop(uid, None)

    def _add(self, room: CountedRoom, change: int) -> None:
        self.up += change * room.up
        _add(self.states, room.cell, change)
        if room.protected:
            _add(self.protected, (room.protected,), change)
        if room.leaving:
            _add(self.leaving, (room.leaving,), change)


def _add(tally: Tally[Cell], cell: Cell, change: int) -> None:
    tally[cell] += change
    if not tally[cell]:
        del tally[cell]  # of what is not there no series is shown


@dataclass(slots=True)
class Basis:
    """What a workload is counted from: of most of a thousand it is what it was a second ago."""

    live: LiveWorkload
    ears: Ears
    spec: Workload
    desired: int
    holds: tuple[Hold, ...]


@dataclass(slots=True)
class Count:
    """A workload's rooms, summed up from its basis."""

    basis: Basis
    sums: Sums

    def lasts_at(self, now: float) -> bool:
        """Whether no time is up that alone may change what a room is."""
        return now < min(self.sums.waits.values(), default=math.inf)


def basis_of(lane: Lane, key: WorkloadKey) -> Basis:
    """Return what a workload is counted from now."""
    spec, desired = _spec_of(lane, key)
    live, ears = lane.view.of(key), lane.reports.of(key)
    return Basis(live, ears, spec, desired, _holds(lane, key))


def _spec_of(lane: Lane, key: WorkloadKey) -> tuple[Workload, int]:
    """Return by which spec a workload's rooms are judged, and how many it is to have."""
    wanted = lane.desired(key)
    if wanted is not None:
        return wanted.workload, wanted.workload.replicas
    return departing.workload_of(lane.situation(key)), 0


def lasts(memory: Count, fresh: Basis, now: float) -> bool:
    """Whether a workload counts as it did: nothing of it changed, and no time is up."""
    basis = memory.basis
    same = basis.live is fresh.live and basis.ears is fresh.ears and basis.spec is fresh.spec
    same = same and basis.holds == fresh.holds
    return same and memory.lasts_at(now)


def _holds(lane: Lane, key: WorkloadKey) -> tuple[Hold, ...]:
    """Return what is held of a workload where its face tells of it; mostly nothing."""
    store = lane.store
    stuck = any(each.status and each.reason == _STUCK for each in store.state(key).conditions)
    return store.holds(key) if stuck or store.unreadable(key) else ()


async def rollup_of(basis: Basis) -> Rollup:
    """Return a fleet's face; of a large one in a thread, for all of it is immutable."""
    pods, heard, holds = basis.live.pods, basis.ears.rooms, basis.holds
    wanted = 0 if basis.spec.suspend else basis.desired  # of one that is suspended none is made
    if len(pods) < BIG_FLEET_ROOMS:
        return roll_up(pods, heard, holds, wanted=wanted)
    return await asyncio.to_thread(roll_up, pods, heard, holds, wanted=wanted)


def judges_alike(known: Basis, fresh: Basis) -> bool:
    """Whether a room that did not change is still what it was."""
    before, now = known.ears, fresh.ears
    deaf_alike = (before.deaf, before.deaf_on, before.deaf_here) == (
        now.deaf,
        now.deaf_on,
        now.deaf_here,
    )
    return known.spec is fresh.spec and deaf_alike


def turned_since(memory: Count, fresh: Basis, now: float) -> Sequence[LivePod] | None:
    """Return the rooms to judge anew where all others count as they did; None: look at all."""
    basis = memory.basis
    if not judges_alike(basis, fresh) or not memory.lasts_at(now):
        return None
    turned = turned_of(basis.live, basis.ears, fresh.live, fresh.ears)
    return None if turned is None else [pod for _, pod in turned]


def stands(room: CountedRoom, pod: LivePod, heard: Heard | None, now: float) -> bool:
    """Whether a room counts as it did; `now` is the view's own clock."""
    same = room.pod is pod and room.heard is heard
    return same and (room.again_at is None or now < room.again_at)


def room_of(basis: Basis, pod: LivePod, heard: Heard | None, now: float) -> CountedRoom:
    """Judge a room."""
    judged = room_state.judge(pod, basis.spec, heard, basis.ears, now)
    again = judged.again_in_seconds
    leaves = pod.leaving is not Why.STAYS or pod.mark is Mark.DRAINING
    return CountedRoom(
        pod,
        heard,
        None if again is None else now + again,
        (judged.state.value, "new" if pod.revision == basis.spec.revision else "old"),
        judged.up and not leaves,
        _protection(pod, judged) if judged.protected else "",
        pod.leaving.value or Why.REQUEST.value if leaves else "",
    )


def tallies_of(memory: Count, ports: PortUse) -> Tallies:
    """Return the sums as they are now."""
    sums = memory.sums
    return Tallies(
        memory.basis.desired,
        sums.up,
        sums.states.copy(),
        sums.protected.copy(),
        sums.leaving.copy(),
        ports.of(memory.basis.spec.port_range),
    )


def _protection(pod: LivePod, judged: Judged) -> str:
    if judged.demand:
        return "players"
    if judged.unheard:
        return "unheard"
    return "kept" if pod.mark is Mark.FAILED else "ending"
