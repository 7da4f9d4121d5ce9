"""What should stand on a room's pod by what it says, and how soon.

A room turns busy at once and before its report is answered; it turns idle when it has said so
for a while, and the flip is dropped if it takes that back. What stands is always decided anew
from the pod as it is and what was heard, never carried on from an earlier decision.
"""

from dataclasses import dataclass

from reconciler.core import hearing, kept_reports, room_patch
from reconciler.core.guards import guard_for, guarded_as
from reconciler.core.reporting import COVERING, covers_heard, resting_mark
from reconciler.model.live import ENDED_PHASES, LivePod
from reconciler.model.refs import Json
from reconciler.model.rooms import BUSY_MARKS, Health, Heard, Mark, Said, Why
from reconciler.model.specs import Workload

IDLE_AFTER_SECONDS = 5.0
"""So long a room must have been empty in a row before its pod says so."""
KEPT_WITHIN_SECONDS = 10.0
"""So soon a change of a game that reports on change only stands on its pod."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands on a pod, or should: its mark, and the text of its last report.

    `was_heard` is whether it covers that the room was heard.
    """

    mark: Mark
    note: str
    was_heard: bool


def standing_of(pod: LivePod) -> Standing:
    """Return what stands there."""
    return Standing(pod.mark, pod.kept_report, pod.was_heard)


def wished(pod: LivePod, heard: Heard | None, empty_seconds: float) -> Standing:
    """Return what should stand there now.

    `empty_seconds` is for how long in a row it has said that nobody plays there.
    """
    if heard is None or is_over(pod):
        return standing_of(pod)
    mark = _mark(pod, heard, empty_seconds)
    return Standing(mark, _note(pod, heard), _was_heard(pod, heard, mark))


def is_prompt(pod: LivePod, heard: Heard | None) -> bool:
    """Whether a report may not be answered before what it says stands on the pod."""
    if heard is None or is_over(pod):
        return False
    return (heard.busy and _mark(pod, heard, 0.0) is not pod.mark) or _turns(pod, heard)


def delay_seconds(pod: LivePod, heard: Heard | None, empty_seconds: float) -> float | None:
    """Return in how many seconds something is to be written; None where nothing is."""
    if heard is None or is_over(pod):
        return None
    if _turns(pod, heard) or _mark(pod, heard, empty_seconds) is not pod.mark:
        return 0.0
    delays = []
    if _mark(pod, heard, IDLE_AFTER_SECONDS) is not pod.mark:
        delays.append(IDLE_AFTER_SECONDS - empty_seconds)
    if wished(pod, heard, empty_seconds) != standing_of(pod):
        delays.append(KEPT_WITHIN_SECONDS)
    return min(delays, default=None)


def patch(
    pod: LivePod, wish: Standing, workload: Workload, now: float, address: str = ""
) -> list[Json]:
    """Return the JSON patch from `pod` as it was seen to what should stand; [] if it does.

    Its public `address` goes with it where its pod does not say that yet.
    """
    if wish == standing_of(pod):
        return []
    guard = guard_for(workload, wish.mark) if wish.mark is not pod.mark else None
    operations = room_patch.operations(pod, wish.mark, pod.leaving, now, guard, address)
    operations += room_patch.record(pod, wish.was_heard)
    if wish.note != pod.kept_report:
        operations.append(room_patch.keeps(pod.kept_report))
        operations.append(room_patch.kept(wish.note, pod.kept_report))
    return operations


def leave_patch(
    pod: LivePod,
    heard: Heard | None,
    workload: Workload,
    leaves: bool,
    now: float,
    *,
    own: bool = False,
) -> list[Json]:
    """Return the patch that asks a room to leave when it is empty, or takes that back; [] if so.

    An idle room drains at once; one that does not report is idle. The post-mortem of one that is
    kept is over. Only a request is taken back. A room's `own` does not stand over another reason to
    leave: taken back, it would take that with it, and begin its deadline anew. A person's does, for
    a scale-in may be taken back as well, and the room is to go all the same.
    """
    rests = resting_mark(pod, workload, heard)
    mark, leaving = pod.mark, pod.leaving
    if leaves and heeds_request(pod, own=own):
        leaving = Why.REQUEST
        if mark is rests and not (heard is not None and heard.busy):
            mark = Mark.DRAINING
    elif not leaves and leaving is Why.REQUEST:
        leaving = Why.STAYS
        mark = rests if mark is Mark.DRAINING else mark
    if (mark, leaving) == (pod.mark, pod.leaving):
        return []
    guard = guard_for(workload, guarded_as(pod, mark)) if mark is not pod.mark else None
    operations = room_patch.operations(pod, mark, leaving, now, guard)
    return [*operations, *room_patch.record(pod, covers_heard(pod, mark))]


def heeds_request(pod: LivePod, *, own: bool) -> bool:
    """Whether a request to leave, a room's `own` or a person's, becomes the reason why it does."""
    if pod.mark is Mark.FAILED:
        return True
    return pod.leaving is Why.STAYS or not (own or pod.leaving is Why.FAILED)


def is_over(pod: LivePod) -> bool:
    """Whether nothing that the room says changes its fate any more."""
    return pod.terminating or pod.phase in ENDED_PHASES


def _mark(pod: LivePod, heard: Heard, empty_seconds: float) -> Mark:
    if pod.mark is Mark.FAILED and not (pod.running and heard.busy and not heard.silent):
        return Mark.FAILED
    if heard.busy:
        given_up = pod.mark is Mark.DRAINING and hearing.is_doubtful(heard, pod)
        return Mark.DRAINING if given_up else Mark.BUSY
    if not heard.tells and (heard.silent or pod.mark is Mark.BUSY):
        return pod.mark  # it never said that nobody plays there
    empty = Mark.DRAINING if pod.leaving else Mark.IDLE
    if pod.mark is Mark.NONE:
        # One that says it is being created has not begun: the clock of its start runs on. And one
        # whose first word is that it is over never does.
        never = heard.said is Said.TERMINATED and not heard.begun
        return Mark.NONE if never or heard.health is Health.CREATING else empty
    if pod.mark is Mark.BUSY and empty_seconds >= IDLE_AFTER_SECONDS:
        return empty
    return pod.mark


def _was_heard(pod: LivePod, heard: Heard, mark: Mark) -> bool:
    return mark in COVERING and (heard.begun or covers_heard(pod, mark))


def _note(pod: LivePod, heard: Heard) -> str:
    """Return the report to keep: an old one beside newer words is what the next leader believes."""
    keeps = hearing.keeps(heard)
    if not heard.tells and (pod.mark in BUSY_MARKS or not keeps):
        return pod.kept_report  # a count of 0 that nobody told would stand there as a word
    return kept_reports.kept_of(heard) if keeps else ""


def _turns(pod: LivePod, heard: Heard) -> bool:
    """Whether a game that tells its players on change only went from none to some, or back.

    Its first word of all is such a turn: it is not said again, and a room that nobody heard is
    protected for ever. So is a count of 0 beside a match that its pings still tell of: the next
    leader hears the pings again, and never the count. And so are players of whom a process
    told that may have begun since: the next leader would take them for those of the one before.
    And that it repeats itself, once in its life: by its count alone it never falls silent, and is
    asked for no report before it goes.
    """
    if _note(pod, heard) == pod.kept_report:
        return False
    kept = kept_reports.heard_of(pod.kept_report)
    if kept is None or kept.busy != heard.busy or kept.periodic is not heard.periodic:
        return True
    later = heard.counted >= kept.counted + hearing.KEPT_BEHIND_SECONDS
    if heard.players and (later or _under(kept) != _under(heard)):
        return True
    return (kept.players > 0) != (heard.players > 0)


def _under(heard: Heard) -> tuple[tuple[int, ...], bool]:
    """Return what tells under which process, and which end of its game, players were told of."""
    return heard.runs, heard.after_end
