"""Who leaves, and how far each of them is on its way: told, drained, deleted.

Every removal of a room by our own doing goes this way, whatever its cause: scale-in, roll-out, a
spec that left Git, a request, a failure. Only a room without a running container is deleted at
once, for nobody can be sent to it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from reconciler.core import fence, victims, witness
from reconciler.core.failing import Failing, is_failure, is_false_start, tells_its_end_alone
from reconciler.core.guards import guard_for, guarded_as
from reconciler.core.reporting import is_drained_unheard, resting_mark
from reconciler.core.rollout import Step, may_stay
from reconciler.core.rooms import Sorted
from reconciler.core.waits import soonest
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
KEPT_PERCENT, KEPT_ROOMS = 10, 3
"""So many of the wanted rooms (and at least so many) are kept for a post-mortem at once."""


@dataclass(slots=True)
class Departures:
    """Marks to write and rooms to delete; `again_in_seconds` is when the next may be due.

    `held` are the users of host ports by node, anybody's.
    """

    there: Sorted
    held: Mapping[str, Counter[int]] = field(default_factory=lambda: victims.NOBODY)
    marks: list[MarkRoom] = field(default_factory=list)
    removals: list[DeleteRoom] = field(default_factory=list)
    again_in_seconds: float | None = None

    def go(self, pod: LivePod, why: Why, reason: str) -> None:
        """Bring a room one step further on its way out; a protected one stays where it is."""
        there = self.there
        judged, heard = there.of(pod), there.heard(pod)
        if judged.protected:
            if is_drained_unheard(pod, there.workload, heard):
                # As any that was never heard it is kept from others, and its deadline ends it.
                guard = guard_for(there.workload, Mark.NONE)
                stays = f"{pod.name} drains, and nobody is known to have heard it"
                self.marks.append(MarkRoom(pod, Mark.NONE, why, stays, guard))
            return
        if fence.needs_fence(pod, judged, heard) and pod.mark is not Mark.DRAINING:
            guard = guard_for(there.workload, guarded_as(pod, Mark.DRAINING))
            blames = why is Why.FAILED and tells_its_end_alone(pod, heard)
            mark = MarkRoom(pod, Mark.DRAINING, why, reason, guard, blames_revision=blames)
            self.marks.append(mark)
            self.wait(there.workload.departure.quiet_seconds)
            return
        verdict = fence.verdict(pod, there.workload, judged, there.ears, there.now)
        if verdict.may:
            ended = is_failure(pod, judged) or is_false_start(pod, judged, heard)
            blames = why is Why.FAILED and ended
            self.removals.append(DeleteRoom(pod, CAUSES[why], reason, blames))
        self.wait(verdict.again_in_seconds)

    def tell(self, pod: LivePod, why: Why, reason: str) -> None:
        """Tell a room to leave that may not go: nobody is sent to it, its players stay."""
        if not pod.leaving:
            self.marks.append(MarkRoom(pod, pod.mark, why, reason))

    def stay(self, pod: LivePod, reason: str) -> None:
        """Take back that a room is to leave."""
        mark = pod.mark
        if mark is Mark.DRAINING:
            mark = resting_mark(pod, self.there.workload, self.there.heard(pod))
        guard = guard_for(self.there.workload, mark)
        self.marks.append(MarkRoom(pod, mark, Why.STAYS, reason, guard))

    def on_their_way(self, pods: Iterable[LivePod]) -> None:
        """Bring those further that were told to leave before."""
        workload = self.there.workload
        for pod in pods:
            why = pod.leaving or Why.REQUEST
            if fence.is_overdue(pod, workload, self.there.now):
                limit = workload.departure.drain_deadline_seconds
                what = "was never heard, and stays" if pod.mark is Mark.NONE else "is busy"
                reason = f"{pod.name} {what} beyond drainDeadlineSeconds ({limit:.0f} s)"
                self.removals.append(DeleteRoom(pod, Cause.DEADLINE, reason))
                continue
            if workload.departure.drain_deadline_seconds is not None:
                left = pod.seen.left + workload.departure.drain_deadline_seconds
                self.wait(left - self.there.now)
            self._further(pod, why)

    def without_deadline(self, pods: Iterable[LivePod]) -> None:
        """Do the same where a hold stops whoever would go with players: no deadline acts."""
        for pod in pods:
            self._further(pod, pod.leaving or Why.REQUEST)

    def _further(self, pod: LivePod, why: Why) -> None:
        self.go(pod, why, f"{pod.name} leaves ({why})")

    def let_go(self, pods: Iterable[LivePod]) -> None:
        """Delete those that ended as they were told: for them it is over."""
        for pod in pods:
            why = pod.leaving or Why.REQUEST
            self.go(pod, why, f"{pod.name} has ended, as it was told to ({why})")

    def end_post_mortems(self, kept: Iterable[LivePod], reason: str) -> None:
        """Let go who failed and was kept: that ends with the workload, or when somebody asks."""
        for pod in kept:
            if pod.leaving is not Why.REQUEST:
                self.marks.append(MarkRoom(pod, pod.mark, Why.REQUEST, reason))
        self.on_their_way(pod for pod in kept if pod.leaving is Why.REQUEST)

    def wait(self, seconds: float | None) -> None:
        """Look again after so long, where nothing is due earlier."""
        if seconds is not None:
            self.again_in_seconds = soonest(self.again_in_seconds, max(0.0, seconds))


def of_failed(departures: Departures, failing: Failing) -> None:
    """Replace failed rooms: keep them for a post-mortem, or delete them."""
    there = departures.there
    places = _places_to_keep(there)
    for pod in failing.act:
        judged = there.of(pod)
        reason = f"{pod.name} failed: {judged.reason}"
        if places > 0 and is_failure(pod, judged) and pod.leaving is not Why.REQUEST:
            places -= 1
            guard = guard_for(there.workload, Mark.FAILED)
            mark = MarkRoom(pod, Mark.FAILED, Why.FAILED, reason, guard, blames_revision=True)
            departures.marks.append(mark)
        else:
            departures.go(pod, Why.FAILED, reason)
    departures.on_their_way(pod for pod in there.kept if pod.leaving is Why.REQUEST)


def _places_to_keep(there: Sorted) -> float:
    """Return how many failed rooms more are kept: each holds its place on a node, for ever.

    Where no limit of failures is written, a revision that fails and fails would fill the cluster.
    """
    policy = there.workload.failure
    if policy.action != "remove":
        return 0
    if policy.max_failures is not None:
        return math.inf
    most = max(KEPT_ROOMS, there.workload.replicas * KEPT_PERCENT // 100)
    return most - len(there.kept)


def of_step(departures: Departures, step: Step) -> None:
    """Let go what a step of scaling and roll-out lets go."""
    there = departures.there
    revision = there.workload.revision
    choose = partial(victims.choose, rooms=there.members, held=departures.held)
    old = [
        *choose(there.free(there.old_unready), number=step.remove_old_unready),
        *choose(there.free(there.old_ready), number=step.remove_old_ready),
    ]
    for pod in old:
        departures.go(pod, Why.ROLLOUT, f"{pod.name} is of {pod.revision}, {revision} is wanted")
    free = there.free([*there.new_unready, *there.new_ready])
    for pod in choose(free, number=step.remove_excess):
        departures.go(pod, Why.SCALE_IN, f"{pod.name} is above the wanted count")
    for pod in there.held(there.old_unready):
        departures.tell(pod, Why.ROLLOUT, f"{pod.name} is of {pod.revision}, and is not heard")
    for pod in choose(there.held(there.new_unready), number=step.leave_unheard):
        departures.tell(pod, Why.SCALE_IN, f"{pod.name} is above the count, and is not heard")
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


def _busiest_last(there: Sorted, pods: Iterable[LivePod]) -> list[LivePod]:
    """Return the busy rooms of `pods`, those with the fewest players first."""

    def players(pod: LivePod) -> tuple[int, int, int]:
        heard = there.heard(pod)
        return (heard.players, heard.matches, -pod.ordinal) if heard else (0, 0, -pod.ordinal)

    return sorted((pod for pod in pods if pod.uid in there.busy), key=players)


def replaced(there: Sorted) -> int:
    """Return for how many of the failed rooms another one stands.

    It is up, or no node can take it: then their going makes place for it.
    """
    stands = sum(there.of(pod).up or bool(pod.unschedulable) for pod in there.members)
    return max(0, stands + len(there.failed) - there.workload.replicas)


def _healed(broken: Failing, places: int) -> Failing:
    """Return who goes of the failed while nothing else may; others stand for so many of them."""
    failed = (*broken.act, *broken.leave)
    running = [pod for pod in failed if pod.running]
    # Who is on its way goes on: it is not another one each time.
    running.sort(key=lambda pod: pod.mark is not Mark.DRAINING)
    over = len(failed) - len(running)
    stays = {pod.uid for pod in running[max(0, places - over) :]}
    act, leave = (
        tuple(pod for pod in pods if pod.uid not in stays) for pods in (broken.act, broken.leave)
    )
    return replace(broken, act=act, leave=leave)


def next_of_all(
    there: Sorted,
    broken: Failing,
    step: Step,
    may_remove: bool,
    may_heal: bool = False,
    held: Mapping[str, Counter[int]] = victims.NOBODY,
) -> Departures:
    """Bring every room that leaves one step further.

    While nothing may be removed, only failed rooms go: those whose containers ended, for them it
    is over, and, where it `may_heal`, as many of those that run as are replaced. Were none of
    these to go, what holds would never end. `held` are the users of host ports by node.
    """
    going = Departures(there, held)
    if not may_remove:
        broken = _healed(broken, replaced(there) if may_heal else 0)
    of_failed(going, broken)
    going.let_go(there.left)
    if not may_remove:
        going.without_deadline(broken.leave)
    staying = taken_back(going, step)
    if may_remove:
        going.on_their_way(broken.leave)
        of_step(going, step)
        going.on_their_way(pod for pod in there.leaving if pod.uid not in staying)
        doubted = witness.place_for(there)
        if doubted is not None:
            going.tell(doubted, Why.FAILED, witness.REASON.format(name=doubted.name))
    return going
