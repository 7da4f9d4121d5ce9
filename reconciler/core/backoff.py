"""A wait that doubles, and that no clock lengthens: of a revision whose rooms end, among others.

The first replacement of a room is at once, later ones wait. How often they ended stands in the
ordinal record too: whoever leads next goes on from it.
"""

from reconciler.model.plans import Desired
from reconciler.model.records import Failures, Ordinals

FIRST_DELAY_SECONDS = 10.0
LONGEST_DELAY_SECONDS = 300.0
FORGIVEN_AFTER_SECONDS = 600.0
"""Kubernetes' own figures for containers that crash."""
_MOST_DOUBLINGS = 20
"""Far more than any wait has; a number of any size is a float then."""


def latest(remembered: Failures | None, ordinals: Ordinals | None) -> Failures | None:
    """Return the later of what this process remembers and of what is on record, None for neither.

    Another process may have led since, or the record have been lost.
    """
    known = [each for each in (remembered, ordinals and ordinals.failures) if each]
    return max(known, key=lambda each: each.last_at, default=None)


def after(before: Failures | None, revision: str, now: float) -> Failures:
    """Count one more end of a room of `revision`."""
    forgiven = (
        before is None
        or before.revision != revision
        or now - before.last_at > FORGIVEN_AFTER_SECONDS
    )
    return Failures(revision, 1 if before is None or forgiven else before.count + 1, now)


def not_before(failures: Failures | None, desired: Desired | None) -> float:
    """Return the Unix time before which no room of what is wanted is made, 0 for at once.

    Rooms of another revision say nothing of it: a commit that mends an image waits for nothing.
    """
    if failures is None or desired is None or failures.revision != desired.workload.revision:
        return 0.0
    wait_seconds = doubled(FIRST_DELAY_SECONDS, failures.count - 2)
    return failures.last_at + wait_seconds if wait_seconds else 0.0


def doubled(
    first_seconds: float, doublings: int, longest_seconds: float = LONGEST_DELAY_SECONDS
) -> float:
    """Return the wait after so many doublings of the first one, 0 where they are below 0."""
    if doublings < 0:
        return 0.0
    return min(first_seconds * 2.0 ** min(doublings, _MOST_DOUBLINGS), longest_seconds)


def delay_seconds(
    until_seconds: float, now: float, longest_seconds: float = LONGEST_DELAY_SECONDS
) -> float:
    """Return how long to wait still, 0 when no more.

    A longer wait than the longest there is comes from a clock that was set back since.
    """
    wait_seconds = until_seconds - now
    return wait_seconds if 0 < wait_seconds <= longest_seconds else 0.0
