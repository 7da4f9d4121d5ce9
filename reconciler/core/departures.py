"""Who leaves, and how far each of them is on its way: told, drained, deleted.

Every removal of a room by our own doing goes this way, whatever its cause: scale-in, roll-out, a
spec that left Git, a request, a failure. Only a room without a running container is deleted at
once, for nobody can be sent to it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from reconciler.core import fence, victims
from reconciler.core.failing import Failing, is_failure
from reconciler.core.guards import guard_for
from reconciler.core.reporting import is_heard
from reconciler.core.rollout import Step, may_stay
from reconciler.core.rooms import Sorted
from reconciler.model.changes import Cause
from reconciler.model.live import LivePod
from reconciler.model.plans import DeleteRoom, MarkRoom
from reconciler.model.rooms import Mark, Why

CAUSES = {
    Why.STAYS: Cause.REQUEST,
    Why.SCALE_IN: Cause.SCALE_IN,
    Why.ROLLOUT: Cause.ROLLOUT,
    Why.LEFT_GIT: Cause.LEFT_GIT,
    Why.REQUEST: Cause.REQUEST,
    Why.FAILED: Cause.HEALING,
}
"""A room that somebody marked draining by hand was asked to leave."""


@dataclass(slots=True)
class Departures:
    """Marks to write and rooms to delete; `again_in_seconds` is when the next may be due."""

    there: Sorted
    marks: list[MarkRoom] = field(default_factory=list)
    removals: list[DeleteRoom] = field(default_factory=list)
    again_in_seconds: float | None = None

    def go(self, pod: LivePod, why: Why, reason: str) -> None:
        """Bring a room one step further on its way out; a protected one stays where it is."""
        there = self.there
        judged = there.of(pod)
        if judged.protected:
            return
        blames = why is Why.FAILED and is_failure(pod, judged)
        if fence.needs_fence(pod, judged) and pod.mark is not Mark.DRAINING:
            guard = guard_for(there.workload, Mark.DRAINING)
            self.marks.append(MarkRoom(pod, Mark.DRAINING, why, reason, guard))
            self.wait(there.workload.departure.quiet_seconds)
            return
        verdict = fence.verdict(pod, there.workload, judged, there.heard(pod), there.now)
        if verdict.may:
            self.removals.append(DeleteRoom(pod, CAUSES[why], reason, blames))
        self.wait(verdict.again_in_seconds)

    def tell(self, pod: LivePod, why: Why, reason: str) -> None:
        """Tell a busy room to leave: nobody is sent to it any more, its players stay."""
        if not pod.leaving:
            self.marks.append(MarkRoom(pod, pod.mark, why, reason))

    def stay(self, pod: LivePod, reason: str) -> None:
        """Take back that a room is to leave."""
        mark = pod.mark
        if mark is Mark.DRAINING:
            begun = pod.ready or pod.lapsed or self.there.heard(pod) is not None
            mark = Mark.IDLE if begun and is_heard(pod, self.there.workload) else Mark.NONE
        guard = guard_for(self.there.workload, mark)
        self.marks.append(MarkRoom(pod, mark, Why.STAYS, reason, guard))

    def on_their_way(self, pods: Iterable[LivePod]) -> None:
        """Bring those further that were told to leave before."""
        workload = self.there.workload
        for pod in pods:
            why = pod.leaving or Why.REQUEST
            if fence.is_overdue(pod, workload, self.there.now):
                limit = workload.departure.drain_deadline_seconds
                reason = f"{pod.name} is busy beyond drainDeadlineSeconds ({limit:.0f} s)"
                self.removals.append(DeleteRoom(pod, Cause.DEADLINE, reason))
                continue
            if workload.departure.drain_deadline_seconds is not None:
                left = pod.seen.left + workload.departure.drain_deadline_seconds
                self.wait(left - self.there.now)
            self.go(pod, why, f"{pod.name} leaves ({why})")

    def end_post_mortems(self, kept: Iterable[LivePod], reason: str) -> None:
        """Let go who failed and was kept: that ends with the workload, or when somebody asks."""
        for pod in kept:
            if pod.leaving is not Why.REQUEST:
                self.marks.append(MarkRoom(pod, pod.mark, Why.REQUEST, reason))
        self.on_their_way(pod for pod in kept if pod.leaving is Why.REQUEST)

    def wait(self, seconds: float | None) -> None:
        """Look again after so long, where nothing is due earlier."""
        if seconds is not None:
            known = self.again_in_seconds
            seconds = max(0.0, seconds)
            self.again_in_seconds = seconds if known is None else min(known, seconds)


def of_failed(departures: Departures, failing: Failing) -> None:
    """Replace failed rooms: keep them for a post-mortem, or delete them."""
    there = departures.there
    keeps = there.workload.failure.action == "remove"
    for pod in failing.act:
        judged = there.of(pod)
        reason = f"{pod.name} failed: {judged.reason}"
        if keeps and is_failure(pod, judged) and pod.leaving is not Why.REQUEST:
            guard = guard_for(there.workload, Mark.FAILED)
            mark = MarkRoom(pod, Mark.FAILED, Why.FAILED, reason, guard, blames_revision=True)
            departures.marks.append(mark)
        else:
            departures.go(pod, Why.FAILED, reason)
    departures.on_their_way(pod for pod in there.kept if pod.leaving is Why.REQUEST)


def of_step(departures: Departures, step: Step) -> None:
    """Let go what a step of scaling and roll-out lets go."""
    there = departures.there
    everyone = there.members
    revision = there.workload.revision
    for pod in _old(there, step, everyone):
        departures.go(pod, Why.ROLLOUT, f"{pod.name} is of {pod.revision}, {revision} is wanted")
    free = there.free([*there.new_unready, *there.new_ready])
    for pod in victims.choose(free, everyone, step.remove_excess):
        departures.go(pod, Why.SCALE_IN, f"{pod.name} is above the wanted count")
    for pod in _busiest_last(there, there.old_ready)[: step.leave_old]:
        departures.tell(pod, Why.ROLLOUT, f"{pod.name} is of {pod.revision}: it leaves when empty")
    for pod in _busiest_last(there, there.new_ready)[: step.leave_excess]:
        departures.tell(pod, Why.SCALE_IN, f"{pod.name} is above the count: it leaves when empty")


def taken_back(departures: Departures, step: Step) -> set[str]:
    """Let stay what is wanted again; return the uids. A spec that is back keeps all it had."""
    there = departures.there
    back = [pod for pod in there.leaving if pod.leaving is Why.LEFT_GIT]
    others = [pod for pod in may_stay(there) if pod.leaving is not Why.LEFT_GIT]
    staying = [*back, *others[: max(0, step.stay - len(back))]]
    for pod in staying:
        departures.stay(pod, f"{pod.name} is wanted again")
    return {pod.uid for pod in staying}


def _old(there: Sorted, step: Step, everyone: list[LivePod]) -> Iterator[LivePod]:
    unready, ready = there.free(there.old_unready), there.free(there.old_ready)
    yield from victims.choose(unready, everyone, step.remove_old_unready)
    yield from victims.choose(ready, everyone, step.remove_old_ready)


def _busiest_last(there: Sorted, pods: Iterable[LivePod]) -> list[LivePod]:
    """Return the busy rooms of `pods`, those with the fewest players first."""

    def players(pod: LivePod) -> tuple[int, int, int]:
        heard = there.heard(pod)
        return (heard.players, heard.matches, -pod.ordinal) if heard else (0, 0, -pod.ordinal)

    return sorted((pod for pod in pods if pod.uid in there.busy), key=players)


def next_of_all(there: Sorted, broken: Failing, step: Step, may_remove: bool) -> Departures:
    """Bring every room that leaves one step further.

    While nothing may be removed, only those whose containers ended go: for them it is over.
    """
    going = Departures(there)
    if not may_remove:
        broken = replace(broken, act=tuple(pod for pod in broken.act if not pod.running))
    of_failed(going, broken)
    staying = taken_back(going, step)
    if may_remove:
        of_step(going, step)
        going.on_their_way(pod for pod in there.leaving if pod.uid not in staying)
    return going
