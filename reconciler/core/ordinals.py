"""Names that never come back: which n a new room gets (DESIGN §2 rule 5, ADR 2).

The record is raised by compare-and-swap before a batch is POSTed, so a second leader loses
there; names that were raised and perhaps never POSTed are `outstanding` and go first.
"""

from collections.abc import Iterable

from reconciler.model.live import LivePod
from reconciler.model.records import Ordinals


def first(record: Ordinals | None, highest: int, pods: Iterable[LivePod], now: float) -> Ordinals:
    """Return the ordinal record to go on from.

    Where it is lost, n goes on after the highest in the state record and among live pods; where
    nothing at all is known it starts at the Unix time in seconds, above any name ever given.
    """
    seen = max((pod.ordinal for pod in pods), default=-1)
    if record is not None:
        return Ordinals(max(record.next, seen + 1, highest + 1), record.outstanding)
    if highest:
        return Ordinals(max(highest, seen) + 1)
    return Ordinals(max(int(now), seen + 1))


def settled(ordinals: Ordinals, pods: Iterable[LivePod]) -> Ordinals:
    """Strike off the outstanding names whose pods are there."""
    return Ordinals(ordinals.next, ordinals.outstanding - {pod.ordinal for pod in pods})


def take(ordinals: Ordinals, number: int) -> tuple[tuple[int, ...], Ordinals]:
    """Return the ordinals of the next `number` rooms, and the record that must stand first.

    Outstanding names are used again first (after a crash nobody knows whether they were
    POSTed; a 409 says so); those that are not wanted any more are struck off.
    """
    again = sorted(ordinals.outstanding)[:number]
    fresh = range(ordinals.next, ordinals.next + number - len(again))
    taken = (*again, *fresh)
    return taken, Ordinals(ordinals.next + len(fresh), frozenset(taken))
