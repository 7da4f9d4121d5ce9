"""Back-off of a revision whose rooms end: the first replacement is at once, later ones wait.

How often they ended stands in the ordinal record too: whoever leads next goes on from it.
"""

from reconciler.model.plans import Desired
from reconciler.model.records import Failures, Ordinals

FIRST_DELAY_SECONDS = 10.0
LONGEST_DELAY_SECONDS = 300.0
FORGIVEN_AFTER_SECONDS = 600.0
"""Kubernetes' own figures for containers that crash."""


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
    if failures.count <= 1:
        return 0.0
    wait_seconds = FIRST_DELAY_SECONDS * 2.0 ** min(failures.count - 2, 10)
    return failures.last_at + min(wait_seconds, LONGEST_DELAY_SECONDS)


def delay_seconds(not_before_seconds: float, now: float) -> float:
    """Return how long to wait still, 0 when no more.

    A longer wait than the longest there is comes from a clock that was set back since.
    """
    wait_seconds = not_before_seconds - now
    return wait_seconds if 0 < wait_seconds <= LONGEST_DELAY_SECONDS else 0.0
