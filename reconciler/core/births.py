"""Which workloads are truly new, so that their rooms are numbered from 0 (ADR 2).

The repository record holds a digest of every workload that ever was. It is written before the
state record of a new one, so whoever made a name is known; two digests that are alike only make
a new workload start at the Unix time.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from reconciler.core.namesakes import other_kinds
from reconciler.model.arrivals import Arrival
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey

DIGEST_BYTES = 5

MOST_KNOWN = 16_000
"""The record stays below 256 KiB: 107 KiB of digests, and as much while all are newborn."""


def digest_of(cluster: str, key: WorkloadKey) -> int:
    """Return the digest of a workload: 40 bits, of 10,000 known ones one new in 10^8 is alike."""
    text = f"{cluster}/{key.kind}/{key.namespace}/{key.name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES], "big")


def enter(
    repository: RepositoryRecord,
    arrival: Arrival,
    records: Mapping[WorkloadKey, StateRecord],
    changed: Iterable[WorkloadKey],
) -> RepositoryRecord:
    """Return the record with the workloads of `changed` known; `records` are those of before.

    Beyond `MOST_KNOWN`, and where the record was lost or is of an older version, nobody can tell
    any more what ever was: then nothing is new.
    """
    known = frozenset() if arrival.blank else repository.known
    fresh = {digest_of(arrival.cluster, key): key for key in changed if key not in records}
    unnamed = {digest for digest, key in fresh.items() if _is_unseen(arrival, key, known)}
    born = frozenset() if known is None else unnamed - known
    if known is not None:
        known = known | fresh.keys()
        if len(known) > MOST_KNOWN:
            known, born = None, frozenset()
    kept = repository.newborn and repository.newborn & (unnamed | _nameless(arrival, records))
    return replace(repository, known=known, newborn=frozenset(kept | born))


def newborn_among(
    repository: RepositoryRecord, cluster: str, keys: Collection[WorkloadKey]
) -> frozenset[WorkloadKey]:
    """Return which of `keys` may start at n = 0."""
    if not repository.newborn:
        return frozenset()
    return frozenset(key for key in keys if digest_of(cluster, key) in repository.newborn)


def _is_unseen(arrival: Arrival, key: WorkloadKey, known: Collection[int] | None) -> bool:
    """Whether nothing tells that a room of that name ever was: of that workload, or of its kind.

    Where a commit changed the kind of a spec, its rooms go by the names that the old ones had.
    """
    if key in arrival.unrecorded or key in arrival.named:
        return False
    return not any(digest_of(arrival.cluster, each) in (known or ()) for each in other_kinds(key))


def _nameless(arrival: Arrival, records: Mapping[WorkloadKey, StateRecord]) -> set[int]:
    return {
        digest_of(arrival.cluster, key)
        for key, record in records.items()
        if record.accepted
        and not record.deleting
        and record.highest is None
        and key not in arrival.named
    }
