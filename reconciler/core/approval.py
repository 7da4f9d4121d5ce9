"""Approvals: a hash that a person let through becomes the lines that it stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reconciler.model.records import Approved, RepositoryRecord

APPROVAL_SECONDS = 3600.0
"""How long an approval holds, from when it was given."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A change hash that somebody approved at `at` (Unix seconds)."""

    change_hash: str
    by: str
    at: float


def grant(
    repository: RepositoryRecord, approvals: Mapping[str, Approval], now: float
) -> tuple[RepositoryRecord, frozenset[str]]:
    """Let the lines of approved offers through; approvals add up.

    `approvals` is by the name of the object that gave it. Returns the record and the names that
    were used up or expired: their objects go. A hash that no offer knows is kept for a later
    head, since CI shows the hash before the commit is merged.
    """
    lines_of = {offer.change_hash: offer.lines for offer in repository.offers}
    granted: set[Approved] = set()
    done = set()
    for name, approval in approvals.items():
        until = approval.at + APPROVAL_SECONDS
        if until <= now:
            done.add(name)
        elif approval.change_hash in lines_of:
            done.add(name)
            granted |= {
                Approved(line, until, approval.by) for line in lines_of[approval.change_hash]
            }
    if not granted:
        return repository, frozenset(done)
    merged = tuple(sorted({*repository.approved, *granted}))
    return replace(repository, approved=merged), frozenset(done)
