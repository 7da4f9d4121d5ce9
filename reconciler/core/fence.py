"""The fence before a removal: when a room that was marked draining may be deleted (DESIGN §4).

Matchmakers act on an older *ready*, so between the mark and the delete a room must have been left
alone for a while and be known empty since: by a report that came in after the mark where the game
repeats itself, by its last count where it reports on change only, by its pod alone where it does
not report, was never ready, has failed or has ended.
"""

from dataclasses import dataclass

from reconciler.core.reporting import is_heard
from reconciler.model.live import LivePod
from reconciler.model.rooms import BUSY_MARKS, Heard, Judged, Mark, RoomState, Why
from reconciler.model.specs import Workload

BY_POD_ALONE = frozenset(
    {RoomState.PENDING, RoomState.UNREADY, RoomState.ERROR, RoomState.TERMINATED}
)
"""States of rooms that were never ready, have failed or have ended, unless they are protected."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a draining room may be deleted now, and why or why not.

    `again_in_seconds` is when time alone may change it, None where a report must come first.
    """

    may: bool
    reason: str
    again_in_seconds: float | None = None


def verdict(
    pod: LivePod, workload: Workload, judged: Judged, heard: Heard | None, now: float
) -> Verdict:
    """Say whether a room may be deleted; `now` is seconds on a clock that never jumps.

    `judged` and `heard` are of the same instant as `pod`, and the delete carries its version:
    whatever changed the pod since makes it fail.
    """
    if judged.protected:
        return Verdict(False, judged.protected, judged.again_in_seconds)
    if not needs_fence(pod, judged):
        return Verdict(True, judged.reason)
    if pod.mark is not Mark.DRAINING or not pod.seen.draining:
        return Verdict(False, "it was not seen marked draining yet")
    left = pod.seen.draining + workload.departure.quiet_seconds - now
    if left > 0:
        return Verdict(False, f"marked draining, left alone for {left:.1f} s more", left)
    speaks = heard is not None or is_heard(pod, workload)
    if not speaks or judged.state in BY_POD_ALONE:
        return Verdict(True, f"left alone for quietSeconds; {judged.reason}")
    if heard is None:
        return Verdict(False, "not heard since it was marked draining")
    if heard.periodic and not heard.confirmed:
        return Verdict(False, "waits for a report that says it is empty")
    return Verdict(True, "known empty since it was marked draining")


def needs_fence(pod: LivePod, judged: Judged) -> bool:
    """Whether anybody could be sent to a room: one without a running container takes no player."""
    return pod.running and judged.state is not RoomState.TERMINATING


def is_overdue(pod: LivePod, workload: Workload, now: float) -> bool:
    """Whether a room that was told to leave is busy beyond the deadline that the user wrote."""
    limit = workload.departure.drain_deadline_seconds
    if limit is None or pod.leaving is Why.STAYS or not pod.seen.left:
        return False
    return pod.mark in BUSY_MARKS and now - pod.seen.left >= limit
