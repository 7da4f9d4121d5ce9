"""Why a room is what it is, in sentences."""

from collections.abc import Iterator
from typing import Any

from reconciler.cli.ages import age
from reconciler.cli.deadlines import dated, ends_in_seconds
from reconciler.cli.explained import UNASKED, UNHEARD, Explained, asked_by, nobody_leads, step_of
from reconciler.cli.room_detail import detail_json, leaving_of, report_of
from reconciler.cli.room_reading import SeenRoom
from reconciler.cli.statuses import GOING
from reconciler.core import fence
from reconciler.core.failing import is_failure
from reconciler.core.reporting import is_heard
from reconciler.core.rooms import is_told_to_leave, sort_rooms
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.printable import escaped
from reconciler.model.rooms import BUSY_MARKS, NO_EARS, Ears, Mark, RoomState, Why
from reconciler.model.specs import Workload

_UNREAD = frozenset({HoldKind.INCOMPLETE_READ, HoldKind.UNSERVED})
_SUSPENDING = frozenset({HoldKind.SUSPENDED, HoldKind.FOREIGN, HoldKind.UNREADABLE_RECORD})
_OVER = frozenset({RoomState.ERROR, RoomState.TERMINATED})


def room_lines(explained: Explained, room: SeenRoom, now: float) -> Iterator[str]:
    """Write the explanation of a room; `now` is Unix seconds."""
    judged = room.judged
    yield escaped(f"{room.name} is {judged.state}: {judged.reason}")
    for head, text in (
        ("may it go?", _may_go(explained, room, now)),
        ("its pod", _pod(explained, room, now)),
        ("its report", _report(explained, room, now)),
        ("its spec", asked_by(explained)),
        ("revision", _revision(room)),
        *(("held", f"{hold.reason} ({hold.kind})") for hold in explained.holds),
        *(("next", text) for text in _next(explained, room, now)),
    ):
        yield f"  {head:<12}{escaped(text)}"
    for line in nobody_leads(explained, now):
        yield f"  {line}"


def room_json(explained: Explained, room: SeenRoom, now: float) -> dict[str, Any]:
    """Return the explanation of a room as a JSON object."""
    return {
        **detail_json(room, explained.around, now),
        "report": _report(explained, room, now),
        "holds": [{"hold": hold.kind, "reason": hold.reason} for hold in explained.holds],
        "next": list(_next(explained, room, now)),
    }


def _may_go(explained: Explained, room: SeenRoom, now: float) -> str:
    if room.is_unknown and explained.nobody_listens:
        return f"not by our doing: it is {UNHEARD}"
    if room.is_unknown:
        return f"that the loop decides by what it said since: {UNASKED}"
    if room.judged.protected:
        return _protected(explained, room, now)
    return "yes, if something asks for it: nothing protects it"


def _protected(explained: Explained, room: SeenRoom, now: float) -> str:
    """Say that a room with players stays, and where a deadline in Git ends that, until when.

    No deadline acts on what is held, so none is counted down there.
    """
    spec, until = explained.spec, ""
    left = ends_in_seconds(room.pod, spec, now)
    if spec is not None and left is not None:
        stop = _stop(explained, room, spec)
        if stop is None and left <= 0:
            return "yes: its deadline is over, whoever plays there"
        held = f" while it is held ({stop.kind})" if stop else ""
        until = held or f" before its deadline in {age(left)}"
    evicted = _evicted(spec) if room.pod.mark in BUSY_MARKS else ""
    return f"not by our doing{until}{evicted}: {room.judged.protected}"


def _evicted(spec: Workload | None) -> str:
    """Say what becomes of an eviction of a busy room."""
    if spec is None:
        return ""
    if spec.hears and spec.disruption.mode == "occupied":
        return ", and no eviction passes"
    why = "disruption mode count" if spec.hears else "reports: none"
    return f", but an eviction may pass ({why})"


def _pod(explained: Explained, room: SeenRoom, now: float) -> str:
    pod = room.pod
    marked = f"marked {pod.mark}" if pod.mark is not Mark.NONE else "not marked"
    leaves = leaving_of(room, explained.around, now)
    said = [marked, f"to leave {leaves}" if leaves else "not told to leave"]
    ready = "ready" if pod.ready else "not ready"
    return ", ".join([f"{pod.phase} and {ready} on {pod.node or 'no node'}", *said])


def _report(explained: Explained, room: SeenRoom, now: float) -> str:
    spec = explained.spec
    if spec is not None and not spec.hears:
        return "none: with `reports: none` its pod alone tells what it is"
    said = report_of(room, now)
    if said:
        return said
    return "it has not been heard" if explained.asked else explained.whereabouts


def _revision(room: SeenRoom) -> str:
    stands = {
        True: "as its spec asks for",
        False: "an old one: a roll-out replaces it",
        None: "which one is wanted is not on record",
    }[room.current]
    return f"{room.pod.revision or 'none'}, {stands}"


def _removal(explained: Explained, room: SeenRoom, spec: Workload, now: float) -> tuple[bool, str]:
    """Say whether a room that leaves may be deleted: the loop's own word where it was asked."""
    if room.told is not None and room.told.removal is not None:
        return room.told.removal
    if room.heard is None and is_heard(room.pod, spec) and not explained.asked:
        return False, f"what it says since it was marked is {explained.whereabouts}"
    verdict = fence.verdict(dated(room.pod), spec, room.judged, _ears_of(room), now)
    return verdict.may, verdict.reason


def _stop(explained: Explained, room: SeenRoom, spec: Workload) -> Hold | None:
    """Return what keeps a room that might be deleted, None where nothing does."""
    kinds = _keeping(explained, room, spec)
    # Whose an object is the plan has just looked up. A name that is skipped keeps no other room.
    holds = (*explained.status.holds, *explained.plan.holds)
    told = (hold for hold in holds if hold.kind is not HoldKind.FOREIGN)
    foreign = (hold for hold in explained.plan.holds if hold.kind is HoldKind.FOREIGN)
    return next((hold for hold in (*told, *foreign) if hold.kind in kinds), None)


def _keeping(explained: Explained, room: SeenRoom, spec: Workload) -> frozenset[HoldKind]:
    """Return the holds that keep such a room, as `core/plan` and `core/departures` have it.

    The end of a workload waits for a complete read alone. Else who has ended goes though nothing
    else may: at once where nothing of it runs, or it was told to leave; as others stand in its
    place where something does, and where a limit of failures lets it.
    """
    if explained.status.state == GOING:
        return _UNREAD | {HoldKind.UNREADABLE_RECORD}
    there = sort_rooms((room.pod,), spec, _ears_of(room))
    if there.left or there.kept:
        return _SUSPENDING
    is_over = room.judged.state in _OVER
    kinds = _SUSPENDING
    if room.pod.running or not is_over:
        kinds |= _UNREAD | {HoldKind.FAILING}
    counted = {item.uid for item in explained.status.record.failures}
    stays = is_failure(room.pod, room.judged) and not is_told_to_leave(room.pod)
    if stays and room.pod.uid not in counted:
        kinds |= {HoldKind.NEEDS_INTERVENTION}
    return kinds


def _ears_of(room: SeenRoom) -> Ears:
    return NO_EARS if room.heard is None else Ears({room.pod.uid: room.heard})


def _next(explained: Explained, room: SeenRoom, now: float) -> Iterator[str]:
    """Say what the next tick does to the room, or what it waits for."""
    plan, uid = explained.plan, room.pod.uid
    steps = [step for step in explained.steps if step.pod.uid == uid]
    for step in steps:
        yield f"it {step_of(step)}: {step.reason}"
    if any(each.pod.uid == uid for each in plan.patches):
        yield "it gets our labels again"
    spec = explained.spec
    leaves = room.pod.leaving is not Why.STAYS or room.pod.mark is Mark.DRAINING
    if leaves and spec is not None and not steps and not room.pod.terminating:
        may, reason = _removal(explained, room, spec, now)
        stop = _stop(explained, room, spec)
        if may and stop is not None:
            is_healed = stop.kind is HoldKind.FAILING and room.judged.state in _OVER
            unless = ", unless another room stands in its place" if is_healed else ""
            yield f"it may be deleted ({reason}), and is not while it is held ({stop.kind}){unless}"
        else:
            yield f"it is {'deleted' if may else 'not deleted yet'}: {reason}"
    elif not steps:
        yield "nothing is to be done with it"
