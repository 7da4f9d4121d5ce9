"""What is set right on rooms that stay: labels of ours, and annotations that follow the state."""

from collections.abc import Iterable

from reconciler.core.guards import guard_for
from reconciler.core.rooms import Sorted
from reconciler.model.plans import Desired, MarkRoom, PatchRoom
from reconciler.model.rooms import Mark


def guards(there: Sorted, marks: Iterable[MarkRoom]) -> tuple[MarkRoom, ...]:
    """Return the rooms whose disruption annotations do not say what their state asks for."""
    workload = there.workload
    wanted = {mark: guard_for(workload, mark) for mark in Mark}
    marked = {mark.pod.uid for mark in marks}
    return tuple(
        MarkRoom(
            pod,
            pod.mark,
            pod.leaving,
            f"the disruption annotations of {pod.name} are not as its state asks for",
            wanted[pod.mark],
        )
        for pod in (*there.members, *there.leaving)
        if pod.guard != wanted[pod.mark] and pod.uid not in marked
    )


def labels(there: Sorted, desired: Desired) -> tuple[PatchRoom, ...]:
    """Return the rooms whose labels of ours somebody changed.

    Nothing else of a room is ever compared; an old revision's rooms go anyway.
    """
    return tuple(
        PatchRoom(pod, desired.marks, f"labels of ours were changed on {pod.name}")
        for pod in (*there.new_ready, *there.new_unready)
        if pod.stamps != desired.stamps
    )
