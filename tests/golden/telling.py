"""A tick's plans as text that a person can judge line by line."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from reconciler.core.messages import as_text
from reconciler.model.holds import Hold
from reconciler.model.plans import CreateRooms, DeleteRoom, Plan
from reconciler.model.readings import Reading
from reconciler.model.reports import Report, Settled


def tell(report: Report, holds: Iterable[Hold], reading: Reading | None) -> Iterator[str]:
    """Yield what a head is found to say, what is held of it, and what is done about it."""
    if reading is not None:
        yield from (as_text(finding) for finding in reading.findings)
    # A workload's own holds stand in its plan; those of the commit, and of new specs, nowhere.
    inner = [hold for item in report.settled for hold in (*item.plan.holds, *item.holds)]
    yield from map(_hold, dict.fromkeys((*holds, *inner)))
    if not report.settled:
        yield "no workload"
    for item in report.settled:
        yield _heading(item.plan)
        yield from (f"  {line}" for line in _lines(item))


def _hold(hold: Hold) -> str:
    about = f" {hold.key}" if hold.key else ""
    approvable = f" [approve {hold.change_hash}]" if hold.change_hash else ""
    return f"held{about} ({hold.kind}): {hold.reason}{approvable}"


def _heading(plan: Plan) -> str:
    counts = plan.counts
    rest = (
        (counts.unready, "not ready"),
        (counts.old, "old"),
        (counts.busy, "busy"),
        (counts.unheard, "unheard"),
        (counts.leaving, "leaving"),
        (counts.kept, "kept"),
        (counts.ended, "ended"),
        (counts.terminating, "terminating"),
    )
    said = [f"{counts.desired} wanted, {counts.ready} ready"]
    return f"{plan.key}: " + ", ".join([*said, *(f"{n} {word}" for n, word in rest if n)])


def _lines(item: Settled) -> Iterator[str]:
    plan = item.plan
    if plan.idle and not item.outcomes:
        yield "nothing to do"
    if not plan.idle and item.holds and not item.outcomes:
        yield "nothing is written"
        return
    yield from (f"apply {each.ref}: {each.reason}" for each in plan.objects)
    copies = [each for each in item.outcomes if each.verb == "copy"]
    yield from (f"copy {each.what}: {each.reason}" for each in copies)
    if plan.copies:
        yield from (f"take the copy {ref} away" for ref in plan.copies.dropped)
    if plan.creates:
        yield from _creates(plan.key.name, plan.creates)
    yield from (_removal(each) for each in plan.removals)
    yield from (f"{each.verb} {each.pod.name}: {each.reason}" for each in plan.marks)
    yield from (f"relabel {each.pod.name}: {each.reason}" for each in plan.patches)
    yield from (f"prune {each.ref}: {each.reason}" for each in plan.prunes)
    if plan.forget:
        yield "forget the records"
    if plan.wake_in_seconds is not None:
        yield f"look again in {plan.wake_in_seconds:g} s"
    yield from (f"failed: {each.what}: {each.error}" for each in item.outcomes if each.error)


def _creates(name: str, creates: CreateRooms) -> Iterator[str]:
    """Yield a line a room where it has ports, else one for names in a row."""
    for seat in creates.seats:
        if seat.host_ports:
            ports = ", ".join(map(str, seat.host_ports))
            yield f"create {name}-{seat.ordinal} on {ports}: {creates.reason}"
    plain = [seat.ordinal for seat in creates.seats if not seat.host_ports]
    for _, run in groupby(enumerate(plain), lambda pair: pair[1] - pair[0]):
        row = [ordinal for _, ordinal in run]
        last = f" to {name}-{row[-1]}" if len(row) > 1 else ""
        yield f"create {name}-{row[0]}{last}: {creates.reason}"


def _removal(removal: DeleteRoom) -> str:
    return f"delete {removal.pod.name} ({removal.cause}): {removal.reason}"
