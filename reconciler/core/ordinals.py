"""Names that never come back: which n a new room gets (DESIGN §2 rule 5, ADR 2).

The record is raised by compare-and-swap before a batch is POSTed, so a second leader loses
there; names that were raised and perhaps never POSTed are `outstanding` and go first.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from reconciler.model.live import LivePod
from reconciler.model.records import Ordinals

MOST_DIGITS = 18
"""Of a room's number: seconds since 1970 have ten."""

BLIND_SECONDS = 180.0
"""Longer than a silent watch can go unnoticed, twice over: see `Limits.silence_seconds`."""


def first(
    record: Ordinals | None,
    highest: int | None,
    pods: Collection[LivePod],
    now: float,
    newborn: bool = False,
) -> Ordinals:
    """Return the ordinal record to go on from.

    Where it is lost, n goes on after the highest in the state record and among live pods. Where
    nothing is known, a workload that is new starts at 0, and any other at the Unix time in
    seconds, above every name that was ever given.
    """
    seen = max((pod.ordinal for pod in pods), default=-1)
    if record is not None:
        above = 0 if highest is None else highest + 1
        return replace(record, next=max(record.next, seen + 1, above))
    if highest is not None:
        return Ordinals(max(highest, seen) + 1)
    if newborn and not pods:
        return Ordinals(0)
    return Ordinals(max(int(now), seen + 1))


def is_blind(ordinals: Ordinals, version: int, now: float) -> bool:
    """Whether a view at resourceVersion `version` may not show yet what was made last.

    Only for a while: where an API server was restored from a backup, versions began anew.
    """
    return ordinals.seen > version and abs(now - ordinals.seen_at) < BLIND_SECONDS


def settled(ordinals: Ordinals, pods: Iterable[LivePod]) -> Ordinals:
    """Strike off the outstanding names whose pods are there."""
    made = {pod.ordinal for pod in pods}
    return replace(ordinals, outstanding=ordinals.outstanding - made)


def take(ordinals: Ordinals, number: int) -> tuple[tuple[int, ...], Ordinals]:
    """Return the ordinals of the next `number` rooms, and the record that must stand first.

    Outstanding names are used again first (after a crash nobody knows whether they were
    POSTed; a 409 says so); those that are not wanted any more are struck off.
    """
    again = sorted(ordinals.outstanding)[:number]
    fresh = range(ordinals.next, ordinals.next + number - len(again))
    taken = (*again, *fresh)
    raised = replace(ordinals, next=ordinals.next + len(fresh), outstanding=frozenset(taken))
    return taken, raised


def ordinal_of(name: str, workload: str) -> int:
    """Return the n of `<workload>-<n>`, -1 where the name is not of that form."""
    prefix = f"{workload}-"
    number = name[len(prefix) :]
    if not workload or not name.startswith(prefix) or not number.isdecimal():
        return -1
    if len(number) > MOST_DIGITS:
        return -1  # strangers ask for rooms too, and int() takes no number of any length
    return int(number) if str(int(number)) == number else -1


def number_of(name: str, workload: str, given: str) -> int:
    """Return a room's n: that of its name, else the one it was `given` when it was adopted.

    -1 where it has neither.
    """
    number = ordinal_of(name, workload)
    return number if number >= 0 or not given else ordinal_of(f"{workload}-{given}", workload)
