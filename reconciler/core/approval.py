"""Approvals: a hash that a person let through becomes the lines that it stands for."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from reconciler.core.change import hash_of_lines
from reconciler.model.changes import Removal
from reconciler.model.records import Approved, Offer, RepositoryRecord

APPROVAL_SECONDS = 3600.0
"""How long an approval holds, from when it was given."""

OFFERS_KEPT = 20


@dataclass(frozen=True, slots=True)
class Approval:
    """A change hash that somebody approved at `at` (Unix seconds)."""

    change_hash: str
    by: str
    at: float


def offer(
    repository: RepositoryRecord,
    removals: Iterable[Removal],
    waiting: Collection[str],
    commit: str,
) -> RepositoryRecord:
    """Remember the hashes that a head may be approved by, before approvals are looked at.

    One stands for all that it removes; where lines of earlier heads are still `waiting`, another
    stands for what is new, for that is the hash which `diff BASE HEAD` printed in review.
    """
    lines = {removal.line for removal in removals}
    offers = repository.offers
    for part in (lines, lines - set(waiting)):
        change_hash = hash_of_lines(part)
        if change_hash and all(known.change_hash != change_hash for known in offers):
            offers = (*offers, Offer(change_hash, tuple(sorted(part)), commit))
    return replace(repository, offers=offers[-OFFERS_KEPT:])


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
