"""What a head asks for beside a base: from two readings alone, no cluster and no credentials.

The same function serves `diff BASE HEAD` in CI and the loop, so that the hash a reviewer sees
is the hash that the loop asks to be approved.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from reconciler.core import gates, rollout
from reconciler.core.counts_in_git import numbered
from reconciler.core.fields import compare_fields
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Change, Removal, Verb, WorkloadChange
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.readings import Reading
from reconciler.model.records import Accepted, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import LOOSEST, Budgets, Workload
from reconciler.model.trees import Relation


def change_hash(removals: Iterable[Removal]) -> str:
    """Return the hash of what goes, "" when nothing does."""
    return hash_of_lines(removal.line for removal in removals)


def hash_of_lines(lines: Iterable[str]) -> str:
    """Return the change hash of removal lines: 12 hex digits of SHA-256, order does not matter."""
    text = "\n".join(sorted(set(lines)))
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""


def removals_between(
    base: Mapping[WorkloadKey, int],
    head: Mapping[WorkloadKey, int],
    present: frozenset[WorkloadKey],
    cluster: str,
) -> tuple[Removal, ...]:
    """Return what goes: base and head are counts by workload; `present` keys have not left Git.

    A document with a Finding is present without a count: it asks for nothing.
    """
    found = []
    for key, count in base.items():
        if key in head and head[key] < count:
            found.append(Removal(cluster, key, Cause.SCALE_IN, head[key], count - head[key]))
        elif key not in head and key not in present:
            found.append(Removal(cluster, key, Cause.LEFT_GIT, 0, count))
    return tuple(sorted(found))


def compare(base: Reading, head: Reading, cluster: str, ceiling: Budgets = LOOSEST) -> Change:
    """Return what changes from `base` to `head`, and what of it the loop would hold.

    `ceiling` is the operator's budget. What earlier commits removed in the budgets' window is
    not known here; the loop counts it too.
    """
    records = {key: _accepted(workload, base.commit) for key, workload in base.workloads.items()}
    head = numbered(head, records)
    present = frozenset(head.workloads) | frozenset(head.invalid)
    removals = removals_between(
        {key: workload.replicas for key, workload in base.workloads.items()},
        {key: workload.replicas for key, workload in head.workloads.items()},
        present,
        cluster,
    )
    return Change(
        workloads=tuple(_changes(base.workloads, head.workloads, present)),
        removals=removals,
        change_hash=change_hash(removals),
        holds=_holds(base, head, records, removals, cluster, ceiling),
    )


def _holds(
    base: Reading,
    head: Reading,
    records: Mapping[WorkloadKey, StateRecord],
    removals: tuple[Removal, ...],
    cluster: str,
    ceiling: Budgets,
) -> tuple[Hold, ...]:
    """Return what the loop's gates hold where `base` is what was accepted, as `records` say."""
    if head.config is None:
        return (Hold(HoldKind.CONFIG, None, gates.config_held(head)),)
    arrival = Arrival(
        reading=head,
        repository="",
        branch="",
        relation=Relation.FORWARD,
        cluster=cluster,
        ceiling=ceiling,
        accepted_config=base.config,
        unrecorded={},
        now=0.0,
    )
    held = gates.blocked(arrival, RepositoryRecord(), records, removals)
    return tuple(gates.holds_of(head, held, change_hash(removals)))


def _accepted(workload: Workload, commit: str) -> StateRecord:
    source = workload.source
    return StateRecord(
        Accepted(workload.spec_json, workload.replicas, commit, source.file, source.line)
    )


def _changes(
    base: Mapping[WorkloadKey, Workload],
    head: Mapping[WorkloadKey, Workload],
    present: frozenset[WorkloadKey],
) -> Iterator[WorkloadChange]:
    for key in sorted(set(base) | set(head)):
        before, after = base.get(key), head.get(key)
        if before is None and after is not None:
            rooms = _rooms(after.replicas)
            yield WorkloadChange(key, Verb.CREATE, f"{rooms} created", (), str(after.source))
        elif before is not None and after is None:
            if key not in present:
                effect = f"{_rooms(before.replicas)} removed, then its {_left(key)}"
                yield WorkloadChange(key, Verb.DELETE, effect, (), str(before.source))
        elif before is not None and after is not None and before.spec_json != after.spec_json:
            fields = compare_fields(before.spec_json, after.spec_json)
            effect = _effect(before, after)
            yield WorkloadChange(key, Verb.UPDATE, effect, fields, str(after.source))


def _left(key: WorkloadKey) -> str:
    if key.kind == "Fleet":
        return "objects, and its namespace unless other fleets are in it"
    return "objects and namespace"


def _effect(before: Workload, after: Workload) -> str:
    """Say what an update does to rooms, in the order in which a reader cares."""
    said = []
    if after.suspend and not before.suspend:
        said.append("suspended: nothing is written until it is resumed")
    if before.suspend and not after.suspend:
        said.append("resumed")
    if after.replicas < before.replicas:
        said.append(f"{_rooms(before.replicas - after.replicas)} removed")
    if after.replicas > before.replicas:
        said.append(f"{_rooms(after.replicas - before.replicas)} created")
    if after.revision != before.revision:
        surge, unavailable = rollout.bounds(after.rollout, after.replicas)
        said.append(
            f"every room replaced, at most {surge} above and {unavailable} below "
            f"{after.replicas} at a time"
        )
    if after.hears and not before.hears:
        said.append(
            "rooms made before have no token: one that says nothing by its own address within "
            f"pingSeconds ({after.timeouts.ping_seconds:.0f} s) of being drained is taken for empty"
        )
    return "; ".join(said) or "no room is touched"


def _rooms(number: int) -> str:
    return "1 room" if number == 1 else f"{number} rooms"
