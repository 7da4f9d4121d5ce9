"""What is set right on rooms that stay: labels of ours, and annotations that follow the state."""

from collections.abc import Iterable

from reconciler.core.guards import guard_for
from reconciler.core.rooms import Sorted
from reconciler.model.live import LivePod
from reconciler.model.plans import Desired, MarkRoom, PatchRoom
from reconciler.model.rooms import Mark


def guards(there: Sorted, marks: Iterable[MarkRoom]) -> tuple[MarkRoom, ...]:
    """Return the rooms whose disruption annotations do not say what their state asks for.

    So is one whose state label is none of ours: it counts as busy, and the budget must know it.
    """
    workload = there.workload
    wanted = {mark: guard_for(workload, mark) for mark in Mark}
    marked = {mark.pod.uid for mark in marks}
    return tuple(
        MarkRoom(
            pod,
            pod.mark,
            pod.leaving,
            _reason(pod),
            wanted[pod.mark],
        )
        for pod in (*there.members, *there.leaving)
        if (pod.guard != wanted[pod.mark] or pod.odd_mark) and pod.uid not in marked
    )


def _reason(pod: LivePod) -> str:
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
