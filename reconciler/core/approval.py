"""Approvals: a hash that a person let through becomes the lines that it stands for.

When one was given the API server's clock says, or ours. Both may be set: whatever was ahead, an
approval lets nothing through for longer than an hour from when the clock is right.
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from reconciler.core.change import hash_of_lines
from reconciler.core.counts_in_git import with_count
from reconciler.core.offers import ask_word, asks_of, print_of, prints_of, shown_of
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Removal
from reconciler.model.freezes import Edit
from reconciler.model.readings import Reading
from reconciler.model.records import Approved, Offer, OfferEnd, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey

APPROVAL_SECONDS = 3600.0
"""How long an approval holds, from when it was given."""

OFFERS_KEPT = 40
"""A head with removals in a freeze has six."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A change hash that somebody approved at `at` (Unix seconds)."""

    change_hash: str
    by: str
    at: float


@dataclass(frozen=True, slots=True)
class Ask:
    """What a head takes away: each line, with a mark of the spec that it is asked with.

    `commit` is the head, `now` Unix seconds; `frozen` lines wait for the end of a freeze.
    """

    marks: Mapping[str, str]
    commit: str
    now: float
    frozen: frozenset[str] = frozenset()


def ask_of(
    arrival: Arrival,
    removals: Iterable[Removal],
    edits: Iterable[Edit],
    frozen: frozenset[str],
) -> Ask:
    """Return what a head takes away, with the lines of it that are `frozen`.

    A spec that left Git has an empty mark, and an edit, whose line tells the spec itself.
    """
    reading = arrival.reading
    marks = dict.fromkeys((edit.line for edit in edits), "")
    marks |= {
        removal.line: _mark(reading, removal.key) if removal.key in reading.workloads else ""
        for removal in removals
    }
    return Ask(marks, reading.commit, arrival.now, frozen)


def waiting(
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    frozen: Iterable[str],
) -> frozenset[str]:
    """Return the lines that earlier heads asked for and that wait; `frozen` stand in no record."""
    held = {record.held.line for record in records.values() if record.held}
    shown = prints_of(frozenset[str]().union(*(offer.asks for offer in repository.offers)))
    return frozenset(held | {line for line in frozen if print_of(line) in shown})


def _mark(reading: Reading, key: WorkloadKey) -> str:
    """Return a mark of the spec in Git: a number that it lacks changes without a commit."""
    spec_json = reading.workloads[key].spec_json
    if key in reading.unnumbered:
        spec_json = "unnumbered " + with_count(reading.workloads[key], 0).spec_json
    return hashlib.sha256(spec_json.encode()).hexdigest()[:12]


def offer(repository: RepositoryRecord, ask: Ask, waiting: Collection[str]) -> RepositoryRecord:
    """Remember the hashes that a head may be approved by, before approvals are looked at.

    One stands for all that it removes; where lines of earlier heads are still `waiting`, another
    stands for what is new, for that is the hash which `diff BASE HEAD` printed in review. Of each
    one stands for what a freeze holds and one for the rest: they are printed beside what they let
    through. A hash that stood for another commit's specs, or is used up, is offered again: what
    was approved before does not count for it.
    """
    # Offered anew in the future, by a clock that was set back since: no approval is later.
    offers = tuple(
        replace(item, since=ask.now) if item.since > ask.now else item for item in repository.offers
    )
    for part in _parts(ask, waiting):
        change_hash = hash_of_lines(part)
        if not change_hash:
            continue
        asks = asks_of(part)
        known = next((item for item in offers if item.change_hash == change_hash), None)
        others = tuple(item for item in offers if item is not known)
        if known is None or known.asks != asks or known.end is not OfferEnd.WAITING:
            since = 0.0 if known is None else ask.now
            known = Offer(change_hash, shown_of(part), ask.commit, asks, since)
        offers = (*others, known)
    # What is over tells only why it takes no approval any more: it goes first.
    ended = tuple(item for item in offers if item.end is not OfferEnd.WAITING)
    lasting = tuple(item for item in offers if item.end is OfferEnd.WAITING)
    return replace(repository, offers=(*ended, *lasting)[-OFFERS_KEPT:])


def _parts(ask: Ask, waiting: Collection[str]) -> Iterator[Mapping[str, str]]:
    """Yield what one hash each stands for: all of it, and apart what a freeze holds."""
    new = {line: mark for line, mark in ask.marks.items() if line not in waiting}
    for whole in (ask.marks, new):
        waits = {line: mark for line, mark in whole.items() if line in ask.frozen}
        if waits and len(waits) < len(whole):
            yield waits
            yield {line: mark for line, mark in whole.items() if line not in waits}
        yield whole


def close(
    offers: Collection[Offer], marks: Mapping[str, str], held: Collection[str]
) -> tuple[Offer, ...]:
    """Return the offers after a head that asks for lines with these marks; some are `held`.

    What it does not ask for any more nobody can let through: an offer forgets it, and one that is
    over all. So what is kept is bounded by what one head asks for.
    """
    asked = asks_of(marks)
    waits = asks_of({line: mark for line, mark in marks.items() if line in held})
    return tuple(_closed(offer, marks, asked, waits) for offer in offers)


def _closed(
    offer: Offer, marks: Mapping[str, str], asked: frozenset[str], waits: frozenset[str]
) -> Offer:
    if offer.end:
        return replace(offer, lines=(), asks=frozenset())
    asks = offer.asks & asked
    if not asks.isdisjoint(waits):
        lines = tuple(line for line in offer.lines if line in marks)
        return replace(offer, lines=lines, asks=asks)
    end = OfferEnd.DONE if asks else OfferEnd.OVERTAKEN
    return replace(offer, lines=(), asks=frozenset(), end=end)


def grant(
    repository: RepositoryRecord, approvals: Mapping[str, Approval], ask: Ask
) -> tuple[RepositoryRecord, frozenset[str]]:
    """Let those lines of approved offers through that are asked for; approvals add up.

    `approvals` is by the name of the object that gave it. Returns the record and the names that
    were used up, overtaken or expired: their objects go. A hash that no offer knows is kept for a
    later head, since CI shows the hash before the commit is merged. One whose time is an hour away
    from now lets nothing through, be it before or after: a clock is wrong then.
    """
    offers = {offer.change_hash: offer for offer in repository.offers}
    granted: set[Approved] = set()
    done, now = set(), ask.now
    for name, approval in approvals.items():
        if abs(now - approval.at) >= APPROVAL_SECONDS:
            done.add(name)
        elif approval.change_hash in offers:
            done.add(name)
            granted |= _lines(offers[approval.change_hash], approval, ask)
    if not granted:
        return repository, frozenset(done)
    merged = tuple(sorted({*repository.approved, *granted}))
    return replace(repository, approved=merged), frozenset(done)


def _lines(offer: Offer, approval: Approval, ask: Ask) -> set[Approved]:
    # API servers tell times in whole seconds.
    if offer.end is not OfferEnd.WAITING or approval.at < math.floor(offer.since):
        return set()
    until = min(approval.at, ask.now) + APPROVAL_SECONDS
    return {
        Approved(line, until, approval.by, mark)
        for line, mark in ask.marks.items()
        if ask_word(line, mark) in offer.asks
    }


def standing(repository: RepositoryRecord, ask: Ask) -> RepositoryRecord:
    """End what was approved for a spec that a later commit touched, or an hour ago."""
    latest = ask.now + APPROVAL_SECONDS
    approved = tuple(
        replace(entry, until=latest) if entry.until > latest else entry
        for entry in repository.approved
        if entry.until > ask.now and ask.marks.get(entry.line) == entry.mark
    )
    return replace(repository, approved=approved)
