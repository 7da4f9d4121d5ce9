"""What is held and stands in no state record: the repository's tells it, and `status` reads it."""

from collections.abc import Iterable, Mapping

from reconciler.model.holds import WHOLE_HEADS, Hold, HoldKind
from reconciler.model.records import Notice, StateRecord
from reconciler.model.refs import WorkloadKey

NOTICES_KEPT = 50
NOTICE_CHARACTERS = 500


def notices_of(
    commit: str, holds: Iterable[Hold], records: Mapping[WorkloadKey, StateRecord]
) -> tuple[Notice, ...]:
    """Return what no state record will tell of a commit that was read: `status` shows it.

    Where all of that commit is held no other record names it.
    """
    return tuple(
        _notice(commit, hold)
        for hold in holds
        if hold.kind is not HoldKind.UNREADABLE_RECORD and not _is_told(records, hold.key)
    )[:NOTICES_KEPT]


def _notice(commit: str, hold: Hold) -> Notice:
    # Of all other hashes the offers tell, with the lines of workloads that are on record.
    told = hold.kind in (HoldKind.UNSIGNED, HoldKind.FROZEN, HoldKind.NO_ACCEPTED_COMMIT)
    approve = hold.change_hash if told else ""
    is_whole = hold.kind in WHOLE_HEADS and hold.key is None
    where = f"commit {commit[:12]}" if is_whole else str(hold.key or "")
    cut = hold.reason[: NOTICE_CHARACTERS - 1] + "…"
    reason = hold.reason if len(hold.reason) <= NOTICE_CHARACTERS else cut
    return Notice(hold.kind, where, reason, approve)


def _is_told(records: Mapping[WorkloadKey, StateRecord], key: WorkloadKey | None) -> bool:
    record = records.get(key) if key else None
    return record is not None and bool(record.accepted or record.held)
