"""What is set right on rooms that stay: labels of ours, and annotations that follow the state."""

from collections.abc import Iterable, Mapping

from reconciler.core.guards import guard_for, guarded_as
from reconciler.core.reporting import COVERING
from reconciler.core.rooms import Sorted
from reconciler.model.live import LivePod
from reconciler.model.plans import Desired, MarkRoom, PatchRoom
from reconciler.model.rooms import Mark

CLOCKS_APART_SECONDS = 60.0
"""So far two clocks may be apart, or a watch late, before what a pod says of a time is wrong."""


def notes(
    there: Sorted, marks: Iterable[MarkRoom], addresses: Mapping[str, str], now: float
) -> tuple[MarkRoom, ...]:
    """Return the rooms whose annotations do not say what their state and their node ask for.

    So is one whose state label is none of ours: it counts as busy, and the budget must know it.
    `addresses` are the nodes' public ones. A room is told its own by its first flip, and anew where
    its node's changes; one that does not report has no flip, and costs no request for it. `now` is
    Unix seconds.
    """
    workload, told = there.workload, there.workload.hears
    early = {pod.uid for pod in there.leaving if _is_told_too_early(pod, there, now)}
    wanted = {mark: guard_for(workload, mark) for mark in Mark}
    marked = {mark.pod.uid for mark in marks}
    return tuple(
        MarkRoom(
            pod,
            pod.mark,
            pod.leaving,
            _reason(pod, guard, pod.uid in early),
            guard,
            addresses.get(pod.node, ""),
            retold=pod.uid in early,
        )
        for pod in (*there.members, *there.leaving, *there.kept)
        for guard in (wanted[guarded_as(pod, pod.mark)],)
        if pod.uid not in marked
        and (
            pod.guard != guard
            or pod.odd_mark
            or pod.uid in early
            or _has_stale_record(pod)
            or (told and pod.mark and addresses.get(pod.node, pod.address) != pod.address)
        )
    )


def _has_stale_record(pod: LivePod) -> bool:
    """Whether its record that it was heard stands beside no mark that covers.

    Left there, it would count for whatever covers next, which may be somebody's hand.
    """
    return pod.was_heard and pod.mark not in COVERING


def _is_told_too_early(pod: LivePod, there: Sorted, now: float) -> bool:
    """Whether its pod says that it was told to leave long before we saw that.

    It is written by the clock of whoever asked, and a process that begins anew counts the user's
    deadline from it: a slow one would end matches early.
    """
    limited = there.workload.departure.drain_deadline_seconds is not None
    if not limited or not pod.leaving_since or not pod.seen.left:
        return False
    return now - pod.leaving_since > there.now - pod.seen.left + CLOCKS_APART_SECONDS


def _reason(pod: LivePod, guard: tuple[str, str], early: bool) -> str:
    if early:
        return f"{pod.name} says that it was told to leave earlier than it was: a clock is wrong"
    if _has_stale_record(pod):
        return f"{pod.name} still says that it was heard before a mark that it has no more"
    if pod.guard == guard and not pod.odd_mark:
        return f"{pod.name} does not say the public address of its node"
    if pod.odd_mark:
        return f"the state of {pod.name} is {pod.odd_mark!r}, none of ours: it counts as busy"
    return f"the disruption annotations of {pod.name} are not as its state asks for"


def labels(there: Sorted, desired: Desired) -> tuple[PatchRoom, ...]:
    """Return the rooms whose labels of ours somebody changed.

    Nothing else of a room is ever compared; an old revision's rooms go anyway.
    """
    return tuple(
        PatchRoom(pod, desired.marks, f"labels of ours were changed on {pod.name}")
        for pod in (*there.new_ready, *there.new_unready)
        if pod.stamps != desired.stamps
    )
