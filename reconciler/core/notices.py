"""What is held and stands in no state record: the repository's tells it, and `status` reads it."""

from collections.abc import Iterable, Mapping

from reconciler.model.holds import Hold, HoldKind
from reconciler.model.records import Notice, StateRecord
from reconciler.model.refs import WorkloadKey

NOTICES_KEPT = 50
NOTICE_CHARACTERS = 300


def notices_of(
    holds: Iterable[Hold], records: Mapping[WorkloadKey, StateRecord]
) -> tuple[Notice, ...]:
    """Return what no state record will tell: `status` reads it off the repository's."""
    return tuple(
        _notice(hold)
        for hold in holds
        if hold.kind is not HoldKind.UNREADABLE_RECORD and not _is_told(records, hold.key)
    )[:NOTICES_KEPT]


def _notice(hold: Hold) -> Notice:
    # Of all other hashes the offers tell.
    whole = hold.kind in (HoldKind.UNSIGNED, HoldKind.FROZEN)
    approve = hold.change_hash if whole else ""
    return Notice(hold.kind, str(hold.key or ""), hold.reason[:NOTICE_CHARACTERS], approve)


def _is_told(records: Mapping[WorkloadKey, StateRecord], key: WorkloadKey | None) -> bool:
    record = records.get(key) if key else None
    return record is not None and bool(record.accepted or record.held)
