"""The fence before a removal: when a room that was marked draining may be deleted (DESIGN §4).

Matchmakers act on an older *ready*, so between the mark and the delete a room must have been left
alone for a while and be known empty since: by a report that was sent after that while where the
game repeats itself (ADR 30), by its last count where it reports on change only and said nothing
else since (ADR 36), by its pod alone where it does not report, was never ready, has failed or has
ended. Whoever listens since a moment ago knows a last count from the pod alone: what a game told
meanwhile nobody answered, and it tells it again.
"""

from dataclasses import dataclass

from reconciler.core.reporting import is_heard
from reconciler.core.revision import tells_reports
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import BUSY_MARKS, COMING, Ears, Heard, Judged, Mark, RoomState, Why
from reconciler.model.specs import Workload

BY_POD_ALONE = frozenset(
    {RoomState.PENDING, RoomState.UNREADY, RoomState.ERROR, RoomState.TERMINATED}
)
"""States of rooms that were never ready, have failed or have ended, unless they are protected."""
_OVER = frozenset({RoomState.ERROR, RoomState.TERMINATED})
_MAY_PLAY = BUSY_MARKS | {Mark.NONE}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a draining room may be deleted now, and why or why not.

    `again_in_seconds` is when time alone may change it, None where a report must come first.
    """

    may: bool
    reason: str
    again_in_seconds: float | None = None


def verdict(pod: LivePod, workload: Workload, judged: Judged, ears: Ears, now: float) -> Verdict:
    """Say whether a room may be deleted; `now` is seconds on a clock that never jumps.

    `judged` and `ears` are of the same instant as `pod`, and the delete carries its version:
    whatever changed the pod since makes it fail.
    """
    heard = ears.rooms.get(pod.uid)
    if judged.protected:
        return Verdict(False, judged.protected, judged.again_in_seconds)
    if not needs_fence(pod, judged, heard):
        return Verdict(True, judged.reason)
    if pod.mark is not Mark.DRAINING or not pod.seen.draining:
        return Verdict(False, "it was not seen marked draining yet")
    left, why = _alone(pod, workload, judged, ears, now)
    if left > 0:
        return Verdict(False, f"marked draining, left alone for {left:.1f} s more{why}", left)
    speaks = heard is not None or is_heard(pod, workload)
    if not speaks or judged.state in BY_POD_ALONE:
        return Verdict(True, f"left alone for quietSeconds; {judged.reason}")
    if heard is None:
        return Verdict(False, "not heard since it was marked draining")
    if heard.periodic and not is_known_empty(pod, workload, heard, ears.since_on(pod.node)):
        return Verdict(False, "waits for a report, sent after quietSeconds, that says it is empty")
    known = "known empty" if heard.tells else "it told of no players, and was left alone,"
    return Verdict(True, f"{known} since it was marked draining")


def _alone(
    pod: LivePod, workload: Workload, judged: Judged, ears: Ears, now: float
) -> tuple[float, str]:
    """Return for how many seconds a room is still left alone, and why that is more than usual."""
    heard, ping_seconds = ears.rooms.get(pod.uid), workload.timeouts.ping_seconds
    left, why = pod.seen.draining + workload.departure.quiet_seconds - now, ""
    silent = heard is None and not is_heard(pod, workload)
    if silent and _may_speak(pod, workload) and judged.state not in BY_POD_ALONE:
        left = max(left, pod.seen.draining + ping_seconds - now)
        why = "; its workload reports no more, or did not when it was made: it may still speak"
    if heard is not None and not heard.tells and judged.state not in BY_POD_ALONE:
        # It told of its health alone, perhaps a moment ago and full of players: a game that has
        # none to tell of need not tell, one that has will.
        waits = heard.said_since + ping_seconds - now
        if waits > left:
            left, why = waits, "; it has not told yet how many play there"
    if heard is not None and _may_begin(pod, judged, heard):
        # Who acts on a list of before the mark has come by then: a game that goes on telling of
        # matches and never of players is not waited for without end.
        waits = min(heard.untold_since, pod.seen.draining + ping_seconds) + ping_seconds - now
        if waits > left:
            left, why = waits, f"; {_word_of(heard)}, and has not told since how many play there"
    begun = ears.since_on(pod.node) + ping_seconds - now
    if begun > max(left, 0) and _tells_on_change(pod, workload, judged, heard):
        left, why = begun, "; its game may have told of players while nobody listened"
    return left, why


def _may_begin(pod: LivePod, judged: Judged, heard: Heard) -> bool:
    """Whether players may come to a room of which its last count tells nothing.

    It said something since it was marked, or that a match is given to it, and no count since: who
    was sent there loads, and is counted then. A word that nothing follows is over in a while.
    """
    if not heard.untold_since or judged.state in BY_POD_ALONE:
        return False
    return heard.untold_since > pod.seen.draining or heard.game_state in COMING


def _word_of(heard: Heard) -> str:
    if heard.game_state in COMING:
        return f"its game said {heard.game_state}"
    return "its game said something since it was marked"


def _tells_on_change(pod: LivePod, workload: Workload, judged: Judged, heard: Heard | None) -> bool:
    """Whether a room may have told of players before we listened, and need not say it again soon.

    One that repeats itself is asked for a report since its mark anyway.
    """
    if heard is None:
        return _may_speak(pod, workload) and judged.state not in BY_POD_ALONE
    return not heard.periodic or heard.mixed


def _may_speak(pod: LivePod, workload: Workload) -> bool:
    """Whether a room of which nobody expects a word may say one.

    Where a commit said that its workload reports, it has no token, but may be believed by its
    address. Where one said that it does so no more, it goes on reporting; that it did stood on
    its pod until it was marked draining, and whoever leads since has not heard it.
    """
    return workload.hears or tells_reports(pod.revision)


def was_left_alone(pod: LivePod, workload: Workload, at: float) -> bool:
    """Whether a draining room had been left alone for its quiet time at `at`, by our clock.

    A report that was sent before does not tell of players who were still on their way.
    """
    since = pod.seen.draining
    quiet_seconds = workload.departure.quiet_seconds
    return pod.mark is Mark.DRAINING and since > 0 and since + quiet_seconds <= at


def is_known_empty(pod: LivePod, workload: Workload, heard: Heard, since: float) -> bool:
    """Whether a draining room that repeats itself said late enough that it is empty.

    `quietSeconds` may have been raised since; and of one to which nobody listened until `since`
    nobody knows who came to it meanwhile: its next word tells.
    """
    sent = heard.confirmed_at
    return 0 < sent >= since and was_left_alone(pod, workload, sent)


def needs_fence(pod: LivePod, judged: Judged, heard: Heard | None) -> bool:
    """Whether anybody could be sent to a room: one without a running container takes no player.

    The kubelet tells late that one runs, and some tell of no containers: a room that has spoken,
    or is ready, runs unless it has failed or ended. One whose pod is pending for too long has
    failed to start as far as the kubelet knows, and so it may run.
    """
    if judged.state is RoomState.TERMINATING:
        return False
    if pod.running or (judged.state in _OVER and pod.phase is not Phase.PENDING):
        return pod.running
    return bool(pod.node) and (pod.ready or heard is not None or pod.mark is not Mark.NONE)


def is_overdue(pod: LivePod, workload: Workload, now: float) -> bool:
    """Whether a room that was told to leave stays beyond the deadline that the user wrote."""
    left = deadline_in_seconds(pod, workload, now)
    return left is not None and left <= 0


def deadline_in_seconds(pod: LivePod, workload: Workload, now: float) -> float | None:
    """Return when a room that was told to leave goes whoever plays there; None for never.

    It is busy, or was never heard and may be.
    """
    limit = workload.departure.drain_deadline_seconds
    if limit is None or pod.leaving is Why.STAYS or not pod.seen.left:
        return None
    return pod.seen.left + limit - now if pod.mark in _MAY_PLAY else None
