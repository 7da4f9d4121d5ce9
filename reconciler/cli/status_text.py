"""The state of a fleet as a person reads it."""

from collections.abc import Iterable, Iterator, Sequence

from reconciler.cli import scaling_status
from reconciler.cli.ages import age
from reconciler.cli.changes import hold_lines
from reconciler.cli.console import Console
from reconciler.cli.output import print_table
from reconciler.cli.reading import counted
from reconciler.cli.statuses import Status, WorkloadStatus
from reconciler.core.conditions import READY, STEP_FAILED
from reconciler.core.freeze_windows import sentence
from reconciler.model.freezes import Freeze
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.printable import escaped
from reconciler.service.lookout import Sighting, written

CLOCK_SECONDS = 60.0
"""By so much the clock of who leads is off before a person is told."""
HEADS = (
    "workload", "wanted", "ready", "busy", "unready", "old", "leaving", "state", "commit", "spec",
)  # fmt: skip
FLEET_HEADS = ("fleet", "available", "health", "pods", "players")


FLEET = "Fleet"
STILL = "rooms run on, and nothing is healed, scaled or rolled out"
GOES_ON = (
    "What was accepted stays wanted: rooms are healed and roll-outs go on; no new commit acts."
)

UNSURE = " by its own clock, which may be behind"
"""Where the API server does not tell when it took the Lease last."""

TRAILERS_SHOWN = 3


def print_text(console: Console, status: Status, now: float) -> None:
    """Print where the fleet comes from, a line a workload, and what is held or failing."""
    record = status.repository
    for line in _taken_in(status):
        console.print(line)
    unread = bool(status.unreadable)
    for line in _seen_lines(console, status.seen, now, unread) if status.seen else ():
        console.print(line)
    face = status.scaling(now)
    for line in scaling_status.face_lines(console, face, now):
        console.print(line)
    for line in (
        *_frozen_lines(console, record.freezes, now),
        *hold_lines(console, status.notices),
    ):
        console.print(line)
    for item in record.endorsements[-TRAILERS_SHOWN:]:
        console.print(f"{item.change_hash} is approved by {item.by}")
    if status.workloads:
        _print_workloads(console, status.workloads)
    for each in status.workloads:
        for line in scaling_status.workload_lines(console, face, each.key, each.record, now):
            console.print(line)


def _taken_in(status: Status) -> Iterator[str]:
    """Say which commit is in effect, and whose word it is."""
    record = status.repository
    if status.unreadable:
        yield "What was taken in cannot be told."
    elif not record.commit:
        yield "No commit was taken in yet."
    else:
        folder = f", folder {escaped(record.path)}" if record.path else ""
        yield f"commit {record.commit} of {record.branch} at {record.repository}{folder}"
        if record.verified:
            yield f"    which is {escaped(record.verified)}"


def _frozen_lines(console: Console, freezes: Iterable[Freeze], now: float) -> Iterator[str]:
    for freeze in freezes:
        if freeze.since <= now < freeze.until:
            said = sentence(freeze).removeprefix("frozen ")
            yield f"{console.paint('frozen', 'yellow')} {said}: what people change in Git waits"


def _print_workloads(console: Console, workloads: Sequence[WorkloadStatus]) -> None:
    console.print()
    print_table(console, HEADS, (_row(each) for each in workloads))
    fleets = [each for each in workloads if each.key.kind == FLEET]
    if fleets:
        console.print()
        print_table(console, FLEET_HEADS, (_fleet_row(each) for each in fleets))
    for line in hold_lines(console, _told_holds(workloads)):
        console.print(line)
    for each in workloads:
        for line in each.rooms.stay_lines:
            console.print(f"{console.paint('stays:', 'yellow')} {each.key}: {line}")
        if each.counts.kept:
            rooms = counted(each.counts.kept, "failed room")
            said = f"{each.key}: {rooms} for a post-mortem, until drained or deleted"
            console.print(f"{console.paint('kept:', 'yellow')} {said}")
        failing = [c for c in each.conditions if c.type == READY and c.reason == STEP_FAILED]
        for condition in failing:
            console.print(f"{console.paint('failing:', 'red')} {each.key}: {condition.message}")


def _row(each: WorkloadStatus) -> tuple[object, ...]:
    counts = each.counts
    return (
        each.key, _or_unknown(each, counts.desired), counts.ready, counts.busy, counts.unready,
        _or_unknown(each, counts.old), counts.leaving + counts.terminating, each.state,
        each.commit[:12] or "-", each.source or "-",
    )  # fmt: skip


def _fleet_row(each: WorkloadStatus) -> tuple[object, ...]:
    rollup, players = each.rooms.rollup, each.rooms.players
    shown = "-" if players is None else players
    return each.key, rollup.available, rollup.health.value, rollup.pods.value, shown


def _told_holds(workloads: Iterable[WorkloadStatus]) -> Iterator[Hold]:
    """Return the holds but those that the rooms which stay tell themselves, with their number."""
    for each in workloads:
        for hold in each.holds:
            if hold.kind is not HoldKind.OCCUPIED or not each.rooms.staying:
                yield hold


def _or_unknown(each: WorkloadStatus, count: int) -> int | str:
    """Return a count that only the record tells."""
    return "?" if each.is_unknown else count


def _clock_lines(console: Console, ahead_seconds: float) -> Iterator[str]:
    """Say that whoever leads has a wrong clock."""
    if abs(ahead_seconds) >= CLOCK_SECONDS:
        side = "ahead of" if ahead_seconds > 0 else "behind"
        off = console.paint(f"its clock is {abs(ahead_seconds) / 60.0:.0f} min {side}", "yellow")
        yield f"    {off} the API server's: dates in Git are read by it"


def _seen_lines(console: Console, seen: Sighting, now: float, unread: bool) -> Iterator[str]:
    """Say who leads and whether they see Git; what still goes on when somebody does not.

    Where the record of what was accepted is `unread`, no look at Git ends well, and what that means
    is told below.
    """
    if not seen.holder and not seen.renewed_at:
        nobody = console.paint("Nobody holds the Lease yet", "red")
        yield f"{nobody}: a loop that has just started takes it within seconds; until one does,"
        yield f"    {STILL}. Start one: gamekeeper run"
    elif not seen.holder:
        yield f"{console.paint('No process leads', 'red')}: {STILL}. Start one: gamekeeper run"
    elif seen.is_over(now):
        silent = console.paint(f"{seen.holder} led, and is silent", "red")
        doubt = UNSURE if seen.ahead_seconds is None else ""
        since = f"{age(now - seen.renewed_at)}{doubt}"
        yield f"{silent} for {since}: {STILL} until it or another one runs"
    else:
        yield f"led by {seen.holder}"
        yield from _clock_lines(console, seen.ahead_seconds or 0.0)
    if seen.renewed_at and (not seen.holder or seen.is_over(now)):
        yield "    A process with --no-lease is not seen here: its log and metrics tell of it."
    if seen.error:
        what = "No look at Git ends well" if unread else "Git cannot be read"
        failing = console.paint(what, "red")
        since = f"since {written(seen.blind_since)} ({age(now - seen.blind_since)})"
        yield f"{failing} {since}: {seen.error}"
        if not unread:
            yield f"    {GOES_ON}"
    for trouble in seen.untold_at(now):
        failing = console.paint(f"{trouble.name} is not told", "red")
        since = f"since {written(trouble.since)} ({age(now - trouble.since)})"
        lost = f"; {counted(trouble.gave_up, 'message')} given up" if trouble.gave_up else ""
        yield f"{failing} {since}: {trouble.error}{lost}"
    if seen.looked_at:
        yield f"last look at Git {age(now - seen.looked_at)} ago"
