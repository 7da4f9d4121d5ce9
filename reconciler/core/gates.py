"""Which removals a head may not make by itself: the three gates of DESIGN §2 rule 3 and §6."""

from collections.abc import Mapping

from reconciler.core import budget, vanish
from reconciler.core.arrivals import Arrival
from reconciler.model.changes import Cause, Removal
from reconciler.model.holds import HoldKind
from reconciler.model.records import HeldRemoval, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets, Config


def blocked(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    removals: tuple[Removal, ...],
) -> dict[WorkloadKey, HeldRemoval]:
    """Return the removals that are held, each with its reason; the others may go.

    An approved line passes every gate. What was held stays held as long as it is asked for.
    """
    approved = {entry.line for entry in repository.approved if entry.until > arrival.now}
    held: dict[WorkloadKey, HeldRemoval] = {}
    free: list[Removal] = []
    for removal in removals:
        if removal.line in approved:
            continue
        problem = _sticky(records.get(removal.key), removal) or _vanished(
            arrival, repository, records, removal
        )
        if problem:
            held[removal.key] = HeldRemoval(problem[0], removal.line, problem[1])
        else:
            free.append(removal)
    reason = _over_budget(arrival, records, free)
    for removal in free if reason else ():
        held[removal.key] = HeldRemoval(HoldKind.OVER_BUDGET, removal.line, reason)
    return held


def _sticky(record: StateRecord | None, removal: Removal) -> tuple[HoldKind, str] | None:
    if record is None or record.held is None or record.held.line != removal.line:
        return None
    # A file that can be read again ends its hold by itself; all others wait for a person.
    if record.held.kind is HoldKind.UNREADABLE:
        return None
    return record.held.kind, record.held.reason


def _vanished(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    removal: Removal,
) -> tuple[HoldKind, str] | None:
    if removal.cause is not Cause.LEFT_GIT:
        return None
    reading = arrival.reading
    if reading.unreadable:
        names = ", ".join(reading.unreadable)
        return HoldKind.UNREADABLE, f"nothing is deleted while {names} cannot be read"
    if removal.key in arrival.orphans:
        return HoldKind.NO_ACCEPTED_COMMIT, "it lives in the cluster, but no record says why"
    accepted = records[removal.key].accepted
    same = repository.repository in ("", arrival.repository) and repository.branch in (
        "",
        arrival.branch,
    )
    return (
        vanish.head_problem(arrival.relation, same, arrival.branch)
        or vanish.content_problem(arrival.accepted_config, reading, len(records))
        or (vanish.directory_problem(accepted.file, reading) if accepted else None)
    )


def _over_budget(
    arrival: Arrival, records: Mapping[WorkloadKey, StateRecord], free: list[Removal]
) -> str:
    budgets = arrival.ceiling
    for config in (arrival.accepted_config, arrival.reading.config):
        budgets = _stricter(budgets, config)
    counts = {
        key: record.accepted.replicas
        for key, record in records.items()
        if record.accepted and not record.deleting
    }
    ledgers = {
        key: budget.recent(record.ledger, budgets.window_seconds, arrival.now)
        for key, record in records.items()
    }
    return budget.refusal(free, counts, ledgers, budgets)


def _stricter(budgets: Budgets, config: Config | None) -> Budgets:
    return budget.stricter(budgets, config.budgets) if config else budgets
