"""One face for all rooms of a workload: how many are available, how they are, where they stand.

It is what the collections' users read of a collection. Only members count: a room that leaves,
is kept for a post-mortem or terminates is none.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from reconciler.core import kept_reports
from reconciler.core.revision import tells_reports
from reconciler.model.holds import Hold, HoldKind, is_suspended
from reconciler.model.live import ENDED_PHASES, LivePod, Phase
from reconciler.model.rooms import NOTHING_HEARD, Health, Heard, Judged, Mark, RoomState


class FleetHealth(StrEnum):
    """The collections' health of a whole fleet. Never rename a value."""

    CREATING = "Creating"
    HEALTHY = "Healthy"
    FAILED = "Failed"
    NEEDS_INTERVENTION = "NeedsIntervention"


@dataclass(frozen=True, slots=True)
class Rollup:
    """`available` rooms are healthy and run; `health` and `pods` are those of the first room, by
    its number, that is not healthy, or does not run: else Healthy and Running. Where some are
    wanted and none is there, the first one is still to be made: Creating and Pending. Nothing is
    made while the workload is suspended. Of one whose record cannot be read nobody knows how many
    are wanted, and without a room it is not told to be well.
    """

    available: int
    health: FleetHealth
    pods: Phase


def roll_up(
    pods: Iterable[LivePod],
    heard: Mapping[str, Heard] = NOTHING_HEARD,
    holds: Collection[Hold] = (),
    *,
    wanted: int,
) -> Rollup:
    """Return the face of a workload with these pods, of `wanted` ones.

    `heard` is what was heard, by pod uid.
    """
    members = sorted(filter(is_member, pods), key=lambda pod: pod.ordinal)
    healths = [health_of(pod, heard.get(pod.uid)) for pod in members]
    running = [pod.phase is Phase.RUNNING for pod in members]
    none = not members and _lacks(wanted, holds)
    well, up = (Health.CREATING, Phase.PENDING) if none else (Health.HEALTHY, Phase.RUNNING)
    worst = next((each for each in healths if each is not Health.HEALTHY), well)
    stuck = any(hold.kind is HoldKind.NEEDS_INTERVENTION for hold in holds)
    return Rollup(
        available=sum(
            runs and health is Health.HEALTHY for runs, health in zip(running, healths, strict=True)
        ),
        health=FleetHealth.NEEDS_INTERVENTION if stuck else FleetHealth(worst.value),
        pods=next((pod.phase for pod in members if pod.phase is not Phase.RUNNING), up),
    )


def _lacks(wanted: int, holds: Collection[Hold]) -> bool:
    """Whether a workload without a room lacks one, or may."""
    if any(hold.kind is HoldKind.UNREADABLE_RECORD for hold in holds):
        return True
    return wanted > 0 and not is_suspended(holds)


def is_member(pod: LivePod) -> bool:
    """Whether a pod is a room of its workload that counts."""
    gone = pod.terminating or pod.leaving or pod.mark in (Mark.DRAINING, Mark.FAILED)
    return pod.ordinal >= 0 and not gone


def health_of(pod: LivePod, heard: Heard | None = None) -> Health:
    """Return the health of a room: what it says, but never better than its pod.

    One that says nothing of its health is healthy once it is ready, and where it was made to report
    once it was heard. Where nobody listens, what its pod keeps of a report on change is what it
    said.
    """
    if pod.phase in ENDED_PHASES:
        return Health.FAILED
    known = heard or kept_reports.heard_of(pod.kept_report)
    if known is not None and known.health is not None:
        return known.health
    if known is None and pod.mark is Mark.NONE and tells_reports(pod.revision):
        return Health.CREATING
    # A room that lapsed may be full of players: it takes no more, and runs on.
    return Health.HEALTHY if pod.ready or pod.lapsed else Health.CREATING


def by_state(judged: Iterable[Judged]) -> dict[RoomState, int]:
    """Count rooms by their state; every state is there, with 0 where no room is in it."""
    counts = dict.fromkeys(RoomState, 0)
    for each in judged:
        counts[each.state] += 1
    return counts
