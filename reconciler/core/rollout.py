"""How many rooms to make and to take away in one step: scaling, roll-out and healing at once.

The arithmetic is that of a Kubernetes Deployment's rolling update (surge rounds up,
unavailability rounds down), with two differences that rooms need: a terminating room never
delays its replacement, and an old room that is not ready goes before one that is.
"""

from dataclasses import dataclass

from reconciler.core.rooms import Sorted
from reconciler.model.specs import Rollout, Share


@dataclass(frozen=True, slots=True)
class Step:
    """Rooms to create (of the desired revision) and to remove, by what they are."""

    create: int
    remove_old_unready: int
    remove_old_ready: int
    remove_excess: int
    """Rooms of the desired revision above the desired count."""


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


def next_step(rooms: Sorted, desired: int, rollout: Rollout, may_remove: bool = True) -> Step:
    """Return the next step from `rooms` towards `desired` rooms of the desired revision.

    Never more than desired + surge rooms alive, never fewer ready than desired - unavailable
    by our own doing: a ready old room goes only when enough others are ready. While removals
    are frozen (`may_remove`), none makes place for a new room either.
    """
    surge, unavailable = bounds(rollout, desired)
    new = len(rooms.new_ready) + len(rooms.new_unready)
    # The place of a room that goes is free once it has gone: its delete may fail, or never be sent.
    create = min(max(0, desired - new), max(0, desired + surge - rooms.alive))
    if not may_remove:
        return Step(create, 0, 0, 0)
    old_unready = len(rooms.old_unready)
    excess = max(0, new - desired)
    going_first = sum(not pod.lapsed for pod in rooms.new_unready)
    excess_ready = min(len(rooms.new_ready), max(0, excess - going_first))
    ready_after = len(rooms.new_ready) - excess_ready + len(rooms.old_ready)
    spare = max(0, ready_after - max(0, desired - unavailable))
    remove_old_ready = min(len(rooms.old_ready), spare)
    return Step(create, old_unready, remove_old_ready, excess)
