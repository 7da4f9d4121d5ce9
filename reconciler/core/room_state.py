"""What a room is: an ordered rule table over its pod and its reports, first match wins.

Two questions have two answers (DESIGN §4). *May it go?* A room that is busy, allocated or not
known may not: silence is not emptiness. *Is it demand?* The last that was recorded. Everything is
judged anew from what stands in the cluster and what was heard; nothing here remembers.
"""

from collections.abc import Callable

from reconciler.core import hearing, room_starts
from reconciler.core.reporting import is_listened_to
from reconciler.core.room_facts import Facts
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import (
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

CRASHING = frozenset({"CrashLoopBackOff", "RunContainerError", "CreateContainerError"})


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
    said = heard if is_listened_to(pod, workload) else None
    facts = Facts(pod, workload, said, ears, now)
    for rule in RULES:
        judged = rule(facts)
        if judged is not None:
            return judged
    raise AssertionError("the last rule matches everything")


def _being_deleted(facts: Facts) -> Judged | None:
    if not facts.pod.terminating:
        return None
    return Judged(RoomState.TERMINATING, "its pod is being deleted")


def _failed_and_kept(facts: Facts) -> Judged | None:
    if facts.pod.mark is not Mark.FAILED or facts.pod.leaving is Why.REQUEST:
        return None
    reason = "it failed and is kept for a post-mortem"
    return Judged(RoomState.ERROR, reason, protected=reason)


def _ended(facts: Facts) -> Judged | None:
    """Tell a pod that is over: evicted, out of memory, crashed, completed, its node lost."""
    if facts.pod.phase is Phase.SUCCEEDED:
        return Judged(RoomState.TERMINATED, f"its containers ended: {_end_of(facts.pod)}")
    if facts.pod.phase is Phase.FAILED:
        return Judged(RoomState.ERROR, f"its containers ended: {_end_of(facts.pod)}")
    return None


def _game_over(facts: Facts) -> Judged | None:
    """Tell a room whose game ended for good, while a container beside it runs on.

    Who tells of players since, for the game, is believed; a new leader listens for a while.
    """
    heard, pod = facts.heard, facts.pod
    if not pod.ended or (heard is not None and heard.busy and not heard.silent):
        return None
    if facts.hears and facts.deaf:
        return None
    reason = f"its game ended, and does not begin anew: {pod.ended}"
    if facts.recorded_busy and facts.hears and heard is None:
        since = facts.ears.since
        left = since + facts.workload.timeouts.ping_seconds - facts.now if since else None
        if left is None or left > 0:
            why = f"last recorded {pod.mark.value}, and not heard since; {reason}"
            return Judged(RoomState.UNREADY, why, protected=why, demand=True, again_in_seconds=left)
    has_failed = "exit code" in pod.ended
    return Judged(RoomState.ERROR if has_failed else RoomState.TERMINATED, reason)


def _crash_loop(facts: Facts) -> Judged | None:
    pod = facts.pod
    if pod.running or pod.phase is Phase.PENDING or pod.waiting not in CRASHING:
        return None
    heard = facts.heard
    if heard is not None and heard.defies == pod.runs and not heard.silent:
        return None  # it told of players since, so the kubelet is late
    if not pod.restarts:
        return Judged(RoomState.ERROR, f"its container ended, or cannot start ({pod.waiting})")
    times = "once" if pod.restarts == 1 else f"{pod.restarts} times"
    return Judged(
        RoomState.ERROR, f"its container ended, and was restarted {times} ({pod.waiting})"
    )


def _given_up(facts: Facts) -> Judged | None:
    """Tell a room that may be full and is silent beyond the limit that the user wrote in Git."""
    left = facts.patience_seconds
    if left is None or left > 0:
        return None
    limit = facts.workload.timeouts.silent_busy_seconds
    what = "busy and silent" if facts.recorded_busy or facts.heard is not None else "not heard"
    reason = f"{what} for more than silentBusySeconds ({limit:.0f} s)"
    return Judged(RoomState.ERROR, reason)


def _says_it_ends(facts: Facts) -> Judged | None:
    heard = facts.heard
    if heard is None or heard.silent or heard.said not in (Said.TERMINATING, Said.TERMINATED):
        return None
    if hearing.is_outlived(heard, facts.pod):
        return None  # nothing is heard yet of the process that runs now
    if heard.said is Said.TERMINATED:
        return Judged(RoomState.TERMINATED, "it says that it has terminated")
    left = heard.said_since + facts.workload.timeouts.terminate_seconds - facts.now
    if left > 0:
        reason = "it says that it terminates"
        return Judged(RoomState.TERMINATING, reason, protected=reason, again_in_seconds=left)
    if heard.busy or facts.pod.mark is Mark.ALLOCATED:
        return None  # it takes its time, with players in it, or on their way to it
    if facts.recorded_busy and not heard.tells:
        return None  # whoever led before heard of its match: to us it said only that it ends
    return Judged(
        RoomState.ERROR, "it said that it terminates, and did not within terminateSeconds"
    )


def _busy(facts: Facts) -> Judged | None:
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
    elif hearing.is_doubtful(heard, facts.pod):
        what += f", or did {_when(heard, facts.pod)}"
        if facts.workload.timeouts.silent_busy_seconds is None:
            what += ": it stays until it tells a count, for timeouts.silentBusySeconds is not set"
    again = facts.patience_seconds
    return Judged(state, what, protected=what, demand=True, up=True, again_in_seconds=again)


def _when(heard: Heard, pod: LivePod) -> str:
    """Say when a room told of players of whom nobody knows whether they are there."""
    if heard.long_ago:
        return "long ago, to a process that did not lead"
    if heard.over_runs is not None:
        return "before it said that it was over"
    return f"right before its game {'ended' if pod.ended else 'began anew'}"


def _recorded_busy(facts: Facts) -> Judged | None:
    """Tell a room that stands as busy or allocated on its pod: that holds until it is unsaid."""
    if not facts.hears or not facts.recorded_busy or not facts.pod.running:
        return None
    allocated = facts.pod.mark is Mark.ALLOCATED
    state = RoomState.ALLOCATED if allocated else RoomState.OCCUPIED
    reason = f"last recorded {facts.pod.mark.value}"
    if facts.heard is None or facts.heard.silent:
        reason += "; silence is not emptiness"
    return Judged(
        state,
        reason,
        protected=reason,
        demand=True,
        up=True,
        unheard=facts.heard is None or not facts.heard.tells,
        again_in_seconds=facts.patience_seconds,
    )


def _post_mortem_over(facts: Facts) -> Judged | None:
    if facts.pod.mark is not Mark.FAILED:
        return None
    return Judged(RoomState.ERROR, "it failed, and its post-mortem is over")


def _reports_failure(facts: Facts) -> Judged | None:
    if facts.heard is None or facts.heard.health is not Health.FAILED:
        return None
    return Judged(RoomState.ERROR, "it reports itself Failed")


def _silent(facts: Facts) -> Judged | None:
    heard = facts.heard
    if heard is None or not heard.silent:
        return None
    if facts.deaf:
        return _known(facts, f"silent, and perhaps not heard: {facts.deaf}")
    limit = facts.workload.timeouts.ping_seconds
    return Judged(RoomState.ERROR, f"idle, and silent for more than pingSeconds ({limit:.0f} s)")


def _perhaps_unheard(facts: Facts) -> Judged | None:
    """Tell a room that reports on change only, whose next word we may not hear."""
    heard = facts.heard
    if heard is None or heard.periodic or not facts.deaf or facts.pod.mark is Mark.NONE:
        return None
    return _known(facts, f"empty by its last word, and perhaps not heard since: {facts.deaf}")


def _unheard(facts: Facts) -> Judged | None:
    if not facts.hears or facts.heard is not None:
        return None
    if facts.pod.mark is Mark.NONE:
        reason = "it is ready and has never been heard"
        again = facts.patience_seconds
        return Judged(
            RoomState.UNREADY, reason, protected=reason, unheard=True, again_in_seconds=again
        )
    return _known(facts, f"last recorded {facts.pod.mark.value}, not heard since")


def _draining(facts: Facts) -> Judged | None:
    if facts.pod.mark is not Mark.DRAINING:
        return None
    return Judged(RoomState.DRAINING, f"leaves: {facts.pod.leaving.value or 'marked by hand'}")


def _idle(facts: Facts) -> Judged | None:
    up = facts.pod.ready
    if up and facts.heard is not None and hearing.is_outlived(facts.heard, facts.pod):
        reason = "its game began anew, and was not heard since"
    elif facts.hears:
        reason = "it says so" if up else "its pod is not ready"
    else:
        reason = "its pod is ready" if up else "its pod was ready and is not"
    return Judged(RoomState.READY if up else RoomState.UNREADY, reason, up=up)


RULES: tuple[Callable[[Facts], Judged | None], ...] = (
    _being_deleted,
    _failed_and_kept,
    _ended,
    _game_over,
    room_starts.not_scheduled,
    room_starts.starting,
    _crash_loop,
    room_starts.not_back,
    _given_up,
    _says_it_ends,
    _busy,
    _recorded_busy,
    _post_mortem_over,
    _reports_failure,
    _silent,
    room_starts.never_ready,
    _perhaps_unheard,
    _unheard,
    _draining,
    room_starts.creating,
    _idle,
)
"""In order: what Kubernetes knows for certain comes before what the room says, what protects
before what lets go."""


def _known(facts: Facts, reason: str) -> Judged:
    """Judge a room that is not heard by what was recorded last: protected, and no demand."""
    draining = facts.pod.mark is Mark.DRAINING
    state = RoomState.READY if facts.pod.ready else RoomState.UNREADY
    return Judged(
        RoomState.DRAINING if draining else state,
        reason,
        protected=reason,
        up=facts.pod.ready and not draining,
        unheard=True,
        again_in_seconds=facts.patience_seconds,
    )


def _end_of(pod: LivePod) -> str:
    return pod.ended or pod.phase.value
