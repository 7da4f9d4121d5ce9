"""Whether a room is one that reports: by its workload, by its own revision, by what it has done."""

from reconciler.core.kept_reports import heard_of
from reconciler.core.revision import tells_reports
from reconciler.model.live import LivePod
from reconciler.model.rooms import BUSY_MARKS, Heard, Mark
from reconciler.model.specs import Workload

HAS_REPORTED = BUSY_MARKS | {Mark.IDLE}
"""What stands on a room that has reported, or was adopted as one that may be full."""
COVERING = frozenset({Mark.DRAINING, Mark.FAILED})
"""Marks under which nobody sees how a room stood before."""


def is_heard(pod: LivePod, workload: Workload) -> bool:
    """Whether a room can be expected to report: it has done so, or was made to.

    One that was made while its workload did not report has no token: waiting for its word would
    be waiting for ever. One that has reported is still heard when a commit says `reports: none`:
    that sends nobody out of it. Of one whose revision somebody took away nobody knows.
    """
    made_to = not pod.revision or tells_reports(pod.revision)
    return pod.mark in HAS_REPORTED or (workload.hears and made_to)


def is_listened_to(pod: LivePod, workload: Workload) -> bool:
    """Whether what a room says counts: its workload reports, or it did so itself before."""
    return workload.hears or pod.mark is not Mark.NONE


def is_recorded(pod: LivePod) -> bool:
    """Whether what stands on a room's pod tells that somebody heard it.

    The mark `draining` covers the one before it, so whoever writes it says what that told. Where
    nothing is said, for it had none or somebody marked it by hand, nobody knows that it ever spoke.
    """
    if heard_of(pod.kept_report) is not None:
        return True
    if pod.mark is Mark.DRAINING:
        return pod.was_heard
    return pod.mark not in (Mark.NONE, Mark.FAILED)


def tells_by_silence(pod: LivePod) -> bool:
    """Whether it means anything that a room says nothing which said nothing to us before.

    Of one that somebody heard, yes: it has stopped. One without a mark may never have begun.
    """
    return pod.mark is not Mark.NONE and is_recorded(pod)


def drains_unheard(pod: LivePod) -> bool:
    """Whether a room drains of which nothing tells that it ever began: it may be full."""
    if pod.mark is not Mark.DRAINING or pod.was_heard:
        return False
    kept = heard_of(pod.kept_report)
    return kept is None or not kept.begun


def covers_heard(pod: LivePod, mark: Mark) -> bool:
    """Whether `mark`, once it stands, covers one that tells that somebody heard the room."""
    if mark not in COVERING:
        return False
    return pod.was_heard if pod.mark in COVERING else pod.mark in HAS_REPORTED


def resting_mark(pod: LivePod, workload: Workload, heard: Heard | None) -> Mark:
    """Return how a room stands that is empty and stays: as idle, where it has begun to report."""
    if heard is not None and heard.begun:
        return Mark.IDLE
    # One that was heard goes on reporting though a commit says `reports: none` since.
    speaks = is_heard(pod, workload) or covers_heard(pod, pod.mark)
    awaited = (pod.ready or pod.lapsed) and speaks
    return Mark.IDLE if awaited and not drains_unheard(pod) else Mark.NONE


def is_drained_unheard(pod: LivePod, workload: Workload, heard: Heard | None) -> bool:
    """Whether a room that drains unheard is up by now, so that its word is waited for.

    It was told to leave in its start. Who was not is not told either that it may be removed.
    """
    up = (pod.ready or pod.lapsed) and is_heard(pod, workload)
    return up and heard is None and drains_unheard(pod)
