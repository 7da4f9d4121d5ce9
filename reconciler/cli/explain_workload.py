"""Why a workload is what it is, in sentences."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from reconciler.cli.explain_count import count_json, count_lines
from reconciler.cli.explained import Explained, asked_by, nobody_leads, step_of
from reconciler.cli.reading import counted
from reconciler.core.conditions import READY, STEP_FAILED
from reconciler.model.holds import HoldKind, is_untouched
from reconciler.model.printable import escaped
from reconciler.model.rooms import BUSY_MARKS, Mark, Why

SHOWN = 5
WHOLE = (HoldKind.FOREIGN, HoldKind.SUSPENDED, HoldKind.UNREADABLE_RECORD)
"""Holds under which nothing at all is done with a workload."""


def workload_lines(explained: Explained, now: float) -> Iterator[str]:
    """Write the explanation of a workload."""
    status = explained.status
    yield escaped(f"{status.key} is {status.state}: {_wanted(explained)}")
    for head, text in (
        ("its rooms", _rooms(explained)),
        ("its spec", asked_by(explained)),
        *(("not known", text) for text in _unknown(explained)),
        *(count_lines(explained.count, now) if explained.count else ()),
        *(("held", f"{hold.reason} ({hold.kind})") for hold in explained.holds),
        *(("failing", text) for text in _failing(explained)),
        *(("stays", text) for text in _staying(explained)),
        *(("next", text) for text in _next(explained)),
    ):
        yield f"  {head:<12}{escaped(text)}"
    for line in nobody_leads(explained, now):
        yield f"  {line}"


def workload_json(explained: Explained, now: float) -> dict[str, Any]:
    """Return the explanation of a workload as a JSON object."""
    status = explained.status
    return {
        "kind": status.key.kind,
        "namespace": status.key.namespace,
        "name": status.key.name,
        "state": status.state,
        "commit": status.commit or None,
        "source": status.source or None,
        "desired": None if status.is_unknown else status.counts.desired,
        "states": dict(_states(explained)),
        "holds": [{"hold": hold.kind, "reason": hold.reason} for hold in explained.holds],
        "failing": list(_failing(explained)),
        "staying": list(_staying(explained)),
        "next": list(_next(explained)),
        "count": count_json(explained.count, now) if explained.count else None,
        "reportsKnown": not explained.guesses,
    }


def _unknown(explained: Explained) -> Iterator[str]:
    """Say what the rest is judged without."""
    if explained.guesses:
        said = f"what its rooms said last is {explained.whereabouts}"
        yield f"{said}; what follows is judged without it"


def _wanted(explained: Explained) -> str:
    status = explained.status
    if status.is_unknown:
        return "nobody knows how many rooms are wanted: what was accepted is not on record"
    return f"{counted(status.counts.desired, 'room')} wanted"


def _states(explained: Explained) -> Counter[str]:
    return Counter(room.judged.state.value for room in explained.rooms)


def _rooms(explained: Explained) -> str:
    if not explained.rooms:
        return "none"
    said = [f"{number} {state}" for state, number in sorted(_states(explained).items())]
    old = sum(room.current is False for room in explained.rooms)
    if old:
        said.append(f"{old} of them of an old revision")
    return ", ".join(said)


def _staying(explained: Explained) -> Iterator[str]:
    """Name the rooms that are to leave, and stay to the end."""
    if is_untouched(explained.status.holds):
        return  # whatever they were told before, nothing is done with them
    for room in explained.rooms:
        told = room.pod.leaving is not Why.STAYS or room.pod.mark is Mark.DRAINING
        known = room.heard is not None or explained.asked or room.pod.mark in BUSY_MARKS
        if told and known and room.judged.protected:
            yield f"{room.name} is to leave ({room.pod.leaving}): {room.judged.protected}"
    # Of a Scheduler they are not told to leave: the match ends by itself.
    above, wanted = explained.status.rooms.above, explained.status.counts.desired
    if above:
        goes = "it goes" if above == 1 else "they go"
        number = f"{counted(above, 'room')} with players above the {wanted} wanted"
        yield f"{number}: {goes} once known to be empty"
    old = [room for room in explained.rooms if room.current is False and room.judged.protected]
    waiting = sum(room.pod.leaving is Why.STAYS for room in old)
    if waiting:
        yield f"{counted(waiting, 'room')} of an old revision: replaced once known to be empty"


def _failing(explained: Explained) -> Iterator[str]:
    """Say at what the loop failed last: it asks for that again, ever more seldom."""
    for condition in explained.status.conditions:
        if condition.type == READY and condition.reason == STEP_FAILED:
            yield condition.message


def _next(explained: Explained) -> Iterator[str]:
    """Say what the next tick does to the workload."""
    plan = explained.plan
    for item in plan.objects:
        yield f"{item.ref} is written: {item.reason}"
    if plan.creates:
        number = len(plan.creates.seats)
        are = "is" if number == 1 else "are"
        yield f"{counted(number, 'room')} {are} made: {plan.creates.reason}"
    steps = explained.steps
    for step in steps[:SHOWN]:
        yield f"{step.pod.name} {step_of(step)}: {step.reason}"
    if len(steps) > SHOWN:
        yield f"the like of {counted(len(steps) - SHOWN, 'room')} more"
    for prune in plan.prunes:
        yield f"{prune.ref} is deleted: {prune.reason}"
    if plan.idle:
        held = next((hold.kind for hold in explained.holds if hold.kind in WHOLE), "")
        yield f"nothing, while it is held ({held})" if held else "nothing is to be done"
