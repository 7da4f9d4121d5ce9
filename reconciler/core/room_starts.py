"""The rules of a room that starts: until its pod runs and is ready, or for too long."""

from dataclasses import replace

from reconciler.core.hearing import began_anew
from reconciler.core.reporting import drains_unheard
from reconciler.core.room_facts import Facts
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import Health, Heard, Judged, Mark, RoomState

UNPULLABLE = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}
)


def not_scheduled(facts: Facts) -> Judged | None:
    """Tell a pod that no node has taken yet."""
    pod = facts.pod
    if pod.phase is not Phase.PENDING or pod.node:
        return None
    why = f"no node can take it: {pod.unschedulable}" if pod.unschedulable else "not scheduled yet"
    if not facts.recorded_busy:
        return Judged(RoomState.PENDING, why)
    reason = f"last recorded {pod.mark.value}: {why}"
    return Judged(RoomState.PENDING, reason, protected=reason, demand=True)


def starting(facts: Facts) -> Judged | None:
    """Tell a pod that starts, unless somebody may play there already.

    Its phase is Pending until each container was started once: a game runs beside another one
    whose image cannot be pulled. And a game may speak before the kubelet tells that it runs.
    """
    pod = facts.pod
    if pod.phase is not Phase.PENDING or pod.running:
        return None
    if facts.heard is not None and facts.heard.busy:
        return None
    starts = _within_start(facts, RoomState.PENDING, _waits_for(pod))
    waits = facts.recorded_busy and starts.state is RoomState.PENDING
    if not waits and not (facts.deaf and pod.mark is not Mark.NONE):
        return starts
    reason = f"last recorded {pod.mark.value}, and not known to run: {starts.reason}"
    return replace(
        starts,
        state=RoomState.PENDING,
        reason=reason,
        protected=reason,
        demand=facts.recorded_busy,
    )


def not_back(facts: Facts) -> Judged | None:
    """Tell a room whose container ended and cannot begin anew: nobody plays there any more.

    So it is where its image, or a secret of it, is gone meanwhile. Its pod is pending anew where
    its sandbox went, with its node for a moment, say. Who has spoken since runs, whatever the
    kubelet tells.
    """
    pod, heard = facts.pod, facts.heard
    if pod.running or not pod.waiting or facts.deaf:
        return None
    if pod.phase is Phase.PENDING and (heard is None or not _ran_before(heard, pod)):
        return None
    if not pod.seen.starting or _has_spoken_since(heard, pod.seen.starting):
        return None
    judged = _within_start(facts, RoomState.UNREADY, f"its container ended: {_waits_for(pod)}")
    if judged.state is RoomState.ERROR:
        return judged
    if not facts.recorded_busy and not (heard is not None and heard.busy):
        return None
    reason = f"last known busy, and its container may come back: {judged.reason}"
    return replace(judged, reason=reason, protected=reason, demand=True)


def never_ready(facts: Facts) -> Judged | None:
    """Tell a pod that runs and was never ready: it has its time to start."""
    pod = facts.pod
    if pod.ready or pod.lapsed:
        return None
    has_spoken = facts.hears and pod.mark is not Mark.NONE and not _was_drained_in_its_start(facts)
    if pod.phase is Phase.PENDING and (facts.heard is not None or not has_spoken):
        what = f"not all of its containers have started: {_waits_for(pod)}"
        return _within_start(facts, RoomState.UNREADY, what)
    if has_spoken:
        return None
    return _within_start(facts, RoomState.UNREADY, "running, and not ready yet")


def creating(facts: Facts) -> Judged | None:
    """Tell a room that is being made, by its own words.

    One that had begun before has as long again from when that was heard. Players whom it told of
    come before this rule, and the fence stands before its end: for as long as it says nothing of
    players it goes no sooner than any other that is empty by its last word.
    """
    heard = facts.heard
    if heard is None or heard.health is not Health.CREATING:
        return None
    what = "it reports itself Creating"
    if facts.pod.mark is Mark.NONE:
        return _within_start(facts, RoomState.UNREADY, what)
    what += " again, after it had begun"
    return Judged(RoomState.UNREADY, what) if facts.deaf else _within(facts, heard.at, what)


def _has_spoken_since(heard: Heard | None, since: float) -> bool:
    """Whether a room said anything after `since`; one that repeats itself falls silent first."""
    if heard is None:
        return False
    return (heard.periodic and not heard.silent) or heard.at > since


def _ran_before(heard: Heard, pod: LivePod) -> bool:
    """Whether a pending pod tells that what spoke there has ended."""
    return pod.restarts > 0 if heard.silent else began_anew(heard, pod.runs)


def _waits_for(pod: LivePod) -> str:
    if pod.waiting in UNPULLABLE:
        return f"its image cannot be pulled ({pod.waiting})"
    return pod.waiting or "its containers start"


def _was_drained_in_its_start(facts: Facts) -> bool:
    """Whether a room that starts was marked draining before anybody had heard it.

    It is as one without a mark: nobody waits for its word until it is up.
    """
    return facts.heard is None and drains_unheard(facts.pod)


def _within_start(facts: Facts, state: RoomState, what: str) -> Judged:
    """Judge a room that starts: the clock runs from being bound, or from its last restart."""
    since = facts.pod.seen.starting
    return _within(facts, since, what, state) if since else Judged(state, what)


def _within(facts: Facts, since: float, what: str, state: RoomState = RoomState.UNREADY) -> Judged:
    """Judge a room that is not ready `since` then, on the clock that never jumps."""
    limit = facts.workload.timeouts.initialize_seconds
    left = since + limit - facts.now
    if left > 0:
        return Judged(state, what, again_in_seconds=left)
    return Judged(RoomState.ERROR, f"not ready within initializeSeconds ({limit:.0f} s): {what}")
