"""What a room is: an ordered rule table over its pod and its reports, first match wins.

Two questions have two answers (DESIGN §4). *May it go?* A room that is busy, allocated or not
known may not: silence is not emptiness. *Is it demand?* The last that was recorded. Everything is
judged anew from what stands in the cluster and what was heard; nothing here remembers.
"""

from collections.abc import Callable
from dataclasses import dataclass

from reconciler.core.revision import tells_reports
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import (
    BUSY_MARKS,
    NO_EARS,
    Ears,
    Health,
    Heard,
    Judged,
    Mark,
    RoomState,
    Said,
    Why,
)
from reconciler.model.specs import Workload

UNPULLABLE = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}
)
CRASHING = frozenset({"CrashLoopBackOff", "RunContainerError", "CreateContainerError"})

_HAS_REPORTED = BUSY_MARKS | {Mark.IDLE}


@dataclass(frozen=True, slots=True)
class _Facts:
    """All that a room is judged by. `heard` is None where it is not heard, or does not report."""

    pod: LivePod
    workload: Workload
    heard: Heard | None
    ears: Ears
    now: float

    @property
    def hears(self) -> bool:
        return is_heard(self.pod, self.workload) or self.heard is not None

    @property
    def recorded_busy(self) -> bool:
        return self.pod.mark in BUSY_MARKS


def is_heard(pod: LivePod, workload: Workload) -> bool:
    """Whether a room can be expected to report: it was made to, or has done so.

    One that was made while its workload did not report has no token: waiting for its word would
    be waiting for ever.
    """
    return workload.hears and (pod.mark in _HAS_REPORTED or tells_reports(pod.revision))


def judge(
    pod: LivePod,
    workload: Workload,
    heard: Heard | None = None,
    ears: Ears = NO_EARS,
    now: float = 0.0,
) -> Judged:
    """Return what a room is, why, and what follows; `now` is seconds on a clock that never jumps.

    `heard` is what this room said (`ears.rooms[pod.uid]`), None where it said nothing to us.
    """
    facts = _Facts(pod, workload, heard if workload.hears else None, ears, now)
    for rule in RULES:
        judged = rule(facts)
        if judged is not None:
            return judged
    raise AssertionError("the last rule matches everything")


def _being_deleted(facts: _Facts) -> Judged | None:
    if not facts.pod.terminating:
        return None
    return Judged(RoomState.TERMINATING, "its pod is being deleted")


def _failed_and_kept(facts: _Facts) -> Judged | None:
    if facts.pod.mark is not Mark.FAILED or facts.pod.leaving is Why.REQUEST:
        return None
    reason = "it failed and is kept for a post-mortem"
    return Judged(RoomState.ERROR, reason, protected=reason)


def _ended(facts: _Facts) -> Judged | None:
    """Tell a pod that is over: evicted, out of memory, crashed, completed, its node lost."""
    if facts.pod.phase is Phase.SUCCEEDED:
        return Judged(RoomState.TERMINATED, f"its containers ended: {_end_of(facts.pod)}")
    if facts.pod.phase is Phase.FAILED:
        return Judged(RoomState.ERROR, f"its containers ended: {_end_of(facts.pod)}")
    return None


def _not_scheduled(facts: _Facts) -> Judged | None:
    pod = facts.pod
    if pod.phase is not Phase.PENDING or pod.node:
        return None
    why = f"no node can take it: {pod.unschedulable}" if pod.unschedulable else "not scheduled yet"
    return Judged(RoomState.PENDING, why)


def _starting(facts: _Facts) -> Judged | None:
    if facts.pod.phase is not Phase.PENDING:
        return None
    what = facts.pod.waiting or "its containers start"
    if facts.pod.waiting in UNPULLABLE:
        what = f"its image cannot be pulled ({facts.pod.waiting})"
    return _within_start(facts, RoomState.PENDING, what)


def _crash_loop(facts: _Facts) -> Judged | None:
    pod = facts.pod
    if pod.running or pod.waiting not in CRASHING:
        return None
    times = "once" if pod.restarts == 1 else f"{pod.restarts} times"
    return Judged(RoomState.ERROR, f"its container crashed {times} ({pod.waiting})")


def _given_up(facts: _Facts) -> Judged | None:
    """Tell a busy room that is silent beyond the limit that the user wrote in Git."""
    limit = facts.workload.timeouts.silent_busy_seconds
    heard = facts.heard
    if limit is None or facts.ears.deaf or not facts.hears or not facts.recorded_busy:
        return None
    last = heard.at if heard is not None else facts.ears.since
    if not last or (heard is not None and not heard.silent):
        return None
    left = last + limit - facts.now
    if left > 0:
        return None
    reason = f"busy and silent for more than silentBusySeconds ({limit:.0f} s)"
    return Judged(RoomState.ERROR, reason)


def _says_it_ends(facts: _Facts) -> Judged | None:
    heard = facts.heard
    if heard is None or heard.silent or heard.said not in (Said.TERMINATING, Said.TERMINATED):
        return None
    if heard.said is Said.TERMINATED:
        return Judged(RoomState.TERMINATED, "it says that it has terminated")
    left = heard.said_since + facts.workload.timeouts.terminate_seconds - facts.now
    if left > 0:
        reason = "it says that it terminates"
        return Judged(RoomState.TERMINATING, reason, protected=reason, again_in_seconds=left)
    return Judged(
        RoomState.ERROR, "it said that it terminates, and did not within terminateSeconds"
    )


def _busy(facts: _Facts) -> Judged | None:
    """Tell a room in which players are, by its own words."""
    heard = facts.heard
    if heard is None or not heard.busy:
        return None
    most = facts.workload.matches_max
    state = RoomState.ACTIVE if 0 < heard.matches < most else RoomState.OCCUPIED
    what = f"{heard.matches} of {most} matches run" if heard.matches else "it says so"
    if heard.players:
        what += f", {heard.players} players"
    if heard.silent:
        what += "; it has been silent since"
    return Judged(state, what, protected=what, demand=True, up=True)


def _recorded_busy(facts: _Facts) -> Judged | None:
    """Tell a room that stands as busy or allocated on its pod: that holds until it is unsaid."""
    if not facts.hears or not facts.recorded_busy or not facts.pod.running:
        return None
    allocated = facts.pod.mark is Mark.ALLOCATED
    state = RoomState.ALLOCATED if allocated else RoomState.OCCUPIED
    reason = f"last recorded {facts.pod.mark.value}"
    if facts.heard is None or facts.heard.silent:
        reason += "; silence is not emptiness"
    unheard = facts.heard is None
    return Judged(state, reason, protected=reason, demand=True, up=True, unheard=unheard)


def _reports_failure(facts: _Facts) -> Judged | None:
    if facts.heard is None or facts.heard.health is not Health.FAILED:
        return None
    return Judged(RoomState.ERROR, "it reports itself Failed")


def _silent(facts: _Facts) -> Judged | None:
    heard = facts.heard
    if heard is None or not heard.silent:
        return None
    if facts.ears.deaf:
        return _known(facts, RoomState.READY, f"silent, but so are others: {facts.ears.deaf}")
    limit = facts.workload.timeouts.ping_seconds
    return Judged(RoomState.ERROR, f"idle, and silent for more than pingSeconds ({limit:.0f} s)")


def _never_ready(facts: _Facts) -> Judged | None:
    pod = facts.pod
    if pod.ready or pod.lapsed or (facts.hears and pod.mark is not Mark.NONE):
        return None
    return _within_start(facts, RoomState.UNREADY, "running, and not ready yet")


def _unheard(facts: _Facts) -> Judged | None:
    if not facts.hears or facts.heard is not None:
        return None
    if facts.pod.mark is Mark.NONE:
        reason = "it is ready and has never been heard"
        return Judged(RoomState.UNREADY, reason, protected=reason, unheard=True)
    return _known(facts, RoomState.READY, f"last recorded {facts.pod.mark.value}, not heard since")


def _draining(facts: _Facts) -> Judged | None:
    if facts.pod.mark is not Mark.DRAINING:
        return None
    return Judged(RoomState.DRAINING, f"leaves: {facts.pod.leaving.value or 'marked by hand'}")


def _creating(facts: _Facts) -> Judged | None:
    if facts.heard is None or facts.heard.health is not Health.CREATING:
        return None
    what = "it reports itself Creating"
    if facts.pod.mark is Mark.NONE:
        return _within_start(facts, RoomState.UNREADY, what)
    return Judged(RoomState.UNREADY, what)


def _idle(facts: _Facts) -> Judged | None:
    up = facts.pod.ready
    if facts.hears:
        reason = "it says so" if up else "its pod is not ready"
    else:
        reason = "its pod is ready" if up else "its pod was ready and is not"
    return Judged(RoomState.READY if up else RoomState.UNREADY, reason, up=up)


RULES: tuple[Callable[[_Facts], Judged | None], ...] = (
    _being_deleted,
    _failed_and_kept,
    _ended,
    _not_scheduled,
    _starting,
    _crash_loop,
    _given_up,
    _says_it_ends,
    _busy,
    _recorded_busy,
    _reports_failure,
    _silent,
    _never_ready,
    _unheard,
    _draining,
    _creating,
    _idle,
)
"""In order: what Kubernetes knows for certain comes before what the room says, what protects
before what lets go."""


def _known(facts: _Facts, state: RoomState, reason: str) -> Judged:
    """Judge a room that is not heard by what was recorded last: protected, and no demand."""
    draining = facts.pod.mark is Mark.DRAINING
    return Judged(
        RoomState.DRAINING if draining else state,
        reason,
        protected=reason,
        up=facts.pod.ready and not draining,
        unheard=True,
    )


def _within_start(facts: _Facts, state: RoomState, what: str) -> Judged:
    """Judge a room that starts: the clock runs from being bound, or from its last restart."""
    limit = facts.workload.timeouts.initialize_seconds
    since = facts.pod.seen.starting
    left = since + limit - facts.now if since else None
    if left is None or left > 0:
        return Judged(state, what, again_in_seconds=left)
    return Judged(RoomState.ERROR, f"not ready within initializeSeconds ({limit:.0f} s): {what}")


def _end_of(pod: LivePod) -> str:
    return pod.ended or pod.phase.value
