"""How many rooms to make and to let go in one step: scaling, roll-out and healing at once.

The arithmetic is that of a Kubernetes Deployment's rolling update (surge rounds up,
unavailability rounds down), with three differences that rooms need: a terminating room never
delays its replacement, an old room that is not ready goes before one that is, and a room that
serves players, or may, does not go at all: it is counted until it is empty.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.core.rooms import TAKEN_BACK, Sorted
from reconciler.model.live import LivePod
from reconciler.model.shares import Share
from reconciler.model.specs import Rollout


@dataclass(frozen=True, slots=True)
class Step:
    """Rooms to create (of the desired revision) and to let go, by what they are.

    `stay` of those that were to leave are wanted again. `leave_*` are busy rooms beyond what may
    be removed: a player-driven server never empties while players are still sent to it. Rooms that
    were never heard, and so may not go either, are told as well (`leave_unheard` of the desired
    revision, of an old one all): a place that they took for ever would stop every roll-out.
    """

    create: int
    remove_old_unready: int
    remove_old_ready: int
    remove_excess: int
    """Rooms of the desired revision above the desired count."""
    stay: int = 0
    leave_old: int = 0
    leave_excess: int = 0
    leave_unheard: int = 0


def ceil_share(share: Share, total: int) -> int:
    """Return a share of `total`, rounded up: 25% of 3 is 1."""
    return -(-share.value * total // 100) if share.percent else share.value


def floor_share(share: Share, total: int) -> int:
    """Return a share of `total`, rounded down: 25% of 3 is 0."""
    return share.value * total // 100 if share.percent else share.value


def bounds(rollout: Rollout, desired: int) -> tuple[int, int]:
    """Return (surge, unavailable) in rooms; never both 0, or no roll-out could move."""
    surge = ceil_share(rollout.max_surge, desired)
    unavailable = floor_share(rollout.max_unavailable, desired)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def may_stay(rooms: Sorted) -> list[LivePod]:
    """Return the rooms of the desired revision that left by our doing and could stay.

    Who has players comes first: it would stay anyway.
    """
    revision = rooms.workload.revision
    back = [pod for pod in rooms.leaving if pod.revision == revision and pod.leaving in TAKEN_BACK]
    return sorted(back, key=lambda pod: (pod.uid not in rooms.busy, pod.ordinal))


def _tells_busy_rooms(rooms: Sorted) -> bool:
    """Whether busy rooms are told to leave, not only waited for.

    A match ends by itself; a server that players come to and go from never empties while they
    are sent to it. And where the user set a deadline, its clock must start.
    """
    workload = rooms.workload
    return workload.key.kind == "Fleet" or workload.departure.drain_deadline_seconds is not None


def _quiet(rooms: Sorted, pods: Iterable[LivePod]) -> int:
    """Return how many of `pods` may not go, and nobody is known to play there.

    They were free when they were last heard, and are heard again in a moment, or fail: a leader
    that has just begun would else tell full rooms to leave, and keep free ones.
    """
    return sum(pod.uid not in rooms.busy for pod in rooms.held(pods))


def next_step(
    rooms: Sorted, desired: int, rollout: Rollout, may_remove: bool = True, failed: int = 0
) -> Step:
    """Return the next step from `rooms` towards `desired` rooms of the desired revision.

    Never more than desired + surge rooms alive, never fewer ready than desired - unavailable
    by our own doing: a ready old room goes only when enough others are ready. While removals
    are frozen (`may_remove`), none makes place for a new room either. `failed` rooms keep their
    place: they are replaced no more until people looked.
    """
    surge, unavailable = bounds(rollout, desired)
    new = len(rooms.new_ready) + len(rooms.new_unready) + failed
    stay = min(len(may_stay(rooms)), max(0, desired - new))
    new += stay
    # The place of a room that goes is free once it has gone: its delete may fail, or never be sent.
    create = min(max(0, desired - new), max(0, desired + surge - rooms.alive - failed))
    if not may_remove:
        return Step(create, 0, 0, 0, stay)
    free_new = rooms.free(rooms.new_ready)
    free_unready = rooms.free(rooms.new_unready)
    leave_unheard = min(max(0, new - desired), len(rooms.new_unready) - len(free_unready))
    excess = max(0, new - desired) - leave_unheard
    going_first = sum(not pod.lapsed for pod in free_unready)
    excess_ready = min(len(free_new), max(0, excess - going_first))
    remove_excess = min(excess, len(free_new) + len(free_unready))
    leaves = _tells_busy_rooms(rooms)
    leave_excess = max(0, excess - remove_excess - _quiet(rooms, rooms.new_ready)) if leaves else 0
    ready_after = len(rooms.new_ready) - excess_ready - leave_excess + len(rooms.old_ready)
    spare = max(0, ready_after - max(0, desired - unavailable))
    free_old = len(rooms.free(rooms.old_ready))
    remove_old_ready = min(free_old, spare)
    quiet_old = _quiet(rooms, rooms.old_ready)
    busy_old = len(rooms.old_ready) - free_old - quiet_old
    leave_old = min(busy_old, max(0, spare - remove_old_ready - quiet_old)) if leaves else 0
    return Step(
        create,
        len(rooms.free(rooms.old_unready)),
        remove_old_ready,
        remove_excess,
        stay,
        leave_old,
        leave_excess,
        leave_unheard,
    )
