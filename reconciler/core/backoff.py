"""Back-off of a revision whose rooms end: the first replacement is at once, later ones wait."""

from dataclasses import dataclass, replace

FIRST_DELAY_SECONDS = 10.0
LONGEST_DELAY_SECONDS = 300.0
FORGIVEN_AFTER_SECONDS = 600.0
"""Kubernetes' own figures for containers that crash."""
FIRST_REFUSAL_SECONDS = 0.5
"""A cluster refuses rooms for a moment too: while it counts a quota, or makes an account."""


@dataclass(frozen=True, slots=True)
class Failures:
    """How often rooms of `revision` ended lately; `last_at` in Unix seconds."""

    revision: str
    count: int
    last_at: float


@dataclass(frozen=True, slots=True)
class Refusals:
    """How often the cluster refused rooms of `revision` in a row, and what it `said` last.

    `last_at` in Unix seconds; so many `rooms` were there beside those that it refused then.
    """

    revision: str
    count: int
    last_at: float
    said: str
    rooms: int


def after(before: Failures | None, revision: str, now: float) -> Failures:
    """Count one more end of a room of `revision`."""
    forgiven = (
        before is None
        or before.revision != revision
        or now - before.last_at > FORGIVEN_AFTER_SECONDS
    )
    return Failures(revision, 1 if before is None or forgiven else before.count + 1, now)


def after_refusal(before: Refusals | None, refusal: Refusals) -> Refusals:
    """Add one refusal to those before it."""
    forgiven = (
        before is None
        or before.revision != refusal.revision
        or refusal.last_at - before.last_at > FORGIVEN_AFTER_SECONDS
    )
    count = 0 if before is None or forgiven else before.count
    return replace(refusal, count=count + refusal.count)


def asked_not_before(refusals: Refusals, rooms: int) -> float:
    """Return the Unix time before which no room of that revision is asked for again, 0 for at once.

    `rooms` are there now. Where they are fewer than then, one that went may have left its place in
    a quota: a roll-out in one that is full would wait for minutes with each room that it replaces.
    """
    if rooms < refusals.rooms:
        return 0.0
    wait_seconds = FIRST_REFUSAL_SECONDS * 2.0 ** min(refusals.count - 1, 20)
    return refusals.last_at + min(wait_seconds, LONGEST_DELAY_SECONDS)


def not_before(failures: Failures) -> float:
    """Return the Unix time before which no room of that revision is made."""
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
