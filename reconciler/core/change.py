"""What a head asks for beside a base: from two readings alone, no cluster and no credentials.

The same function serves `diff BASE HEAD` in CI and the loop, so that the hash a reviewer sees
is the hash that the loop asks to be approved.
"""

import hashlib
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reconciler.core import freezing, gates, rollout
from reconciler.core.asked import asked_by
from reconciler.core.calendar import Zones
from reconciler.core.carried_counts import ReadSpec
from reconciler.core.counts_in_git import numbered
from reconciler.core.fields import compare_fields
from reconciler.core.instants import told
from reconciler.core.namesakes import other_kinds
from reconciler.core.report_checks import lost_protection
from reconciler.core.suspension import all_in_time
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Change, Removal, Verb, WorkloadChange
from reconciler.model.holds import Hold
from reconciler.model.readings import Reading
from reconciler.model.records import Accepted, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import LOOSEST, Budgets, Workload
from reconciler.model.trees import Relation


def hash_of_lines(lines: Iterable[str]) -> str:
    """Return the change hash of removal lines: 12 hex digits of SHA-256, "" when there are none.

    Their order does not matter.
    """
    text = "\n".join(sorted(set(lines)))
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""


def hashes_of(lines: Iterable[str], frozen: Collection[str]) -> dict[str, str]:
    """Return for each line the hash that lets it through, with what is held for the same reason.

    Who lets a removal through does not end a freeze by that, nor the other way round.
    """
    asked = set(lines)
    waits, others = asked.intersection(frozen), asked.difference(frozen)
    return dict.fromkeys(waits, hash_of_lines(waits)) | dict.fromkeys(others, hash_of_lines(others))


@dataclass(frozen=True, slots=True)
class Terms:
    """By what a change is judged: the operator's budget, and freezes at `now` (Unix seconds)."""

    ceiling: Budgets = LOOSEST
    now: float = 0.0
    zones: Zones = field(default_factory=dict)


def compare(base: Reading, head: Reading, cluster: str, terms: Terms = Terms()) -> Change:
    """Return what changes from `base` to `head`, and what of it the loop would hold.

    What no approval lets through is no change: it is only held. What earlier commits removed in the
    budgets' window is not known here; the loop counts it too.
    """
    base = all_in_time(base, terms.now)
    records = {key: _accepted(workload, base.commit) for key, workload in base.workloads.items()}
    head = all_in_time(numbered(head, records), terms.now)
    arrival = _arrival(base, head, cluster, terms)
    removals = asked_by(arrival, records, _read_already(base)).removals
    edits = freezing.edits_of(arrival, records, removals)
    lines = [*(removal.line for removal in removals), *(edit.line for edit in edits)]
    change_hash = hash_of_lines(lines)
    frozen = gates.frozen_lines(arrival, RepositoryRecord(), records, removals, edits)
    hashes = hashes_of(lines, frozen)
    holds = _holds(replace(arrival, waiting=edits, frozen=frozen), records, removals, hashes)
    if head.config is None:
        return Change((), (), "", holds)
    present = frozenset(head.workloads) | frozenset(head.invalid)
    if head.unreadable:
        # Nothing that left Git goes, approved or not: what stands in such a file is not known.
        present |= frozenset(base.workloads)
        removals = tuple(each for each in removals if each.cause is not Cause.LEFT_GIT)
        if not removals and not edits:
            change_hash = ""
    return Change(
        workloads=tuple(_changes(base.workloads, head.workloads, present)),
        removals=removals,
        change_hash=change_hash,
        holds=holds,
    )


def _arrival(base: Reading, head: Reading, cluster: str, terms: Terms) -> Arrival:
    arrival = Arrival(
        reading=head,
        repository="",
        branch="",
        relation=Relation.FORWARD,
        cluster=cluster,
        ceiling=terms.ceiling,
        accepted_config=base.config,
        unrecorded={},
        now=0.0,
        dated=terms.now,
    )
    freezes = freezing.open_freezes(arrival, RepositoryRecord(), terms.zones)
    return replace(arrival, freezes=freezes)


def _holds(
    arrival: Arrival,
    records: Mapping[WorkloadKey, StateRecord],
    removals: tuple[Removal, ...],
    hashes: Mapping[str, str],
) -> tuple[Hold, ...]:
    """Return what the loop holds where the base is what was accepted, as `records` say."""
    head = arrival.reading
    whole = gates.commit_held(head)
    if whole is not None:
        return (whole,)
    held = gates.blocked(arrival, RepositoryRecord(), records, removals)
    return (*gates.holds_of(head, held, hashes), *gates.frozen_holds(arrival, hashes))


def _read_already(base: Reading) -> ReadSpec:
    """Return what reads the specs of `base` that are on record: no JSON is compiled again."""
    known = {workload.spec_json: workload for workload in base.workloads.values()}
    return lambda spec_json, _: known[spec_json]


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
            effect = f"{_rooms(after.replicas)} created{_waits(key, base)}"
            yield WorkloadChange(key, Verb.CREATE, effect, (), str(after.source))
        elif before is not None and after is None:
            if key not in present:
                effect = f"{_rooms(before.replicas)} removed, then its {_left(key)}"
                effect = "; ".join([effect, *_ended(before)])
                yield WorkloadChange(key, Verb.DELETE, effect, (), str(before.source))
        elif before is not None and after is not None and before.spec_json != after.spec_json:
            fields = compare_fields(before.spec_json, after.spec_json)
            effect = _effect(before, after)
            yield WorkloadChange(key, Verb.UPDATE, effect, fields, str(after.source))


def _waits(key: WorkloadKey, base: Container[WorkloadKey]) -> str:
    """Say for whose end a new workload waits: for one that has its names, of another kind."""
    first = next((each for each in other_kinds(key) if each in base), None)
    if first is None:
        return ""
    return f" when the last room of {first} has ended: until then {key} has none"


def _left(key: WorkloadKey) -> str:
    if key.kind == "Fleet":
        return "objects, and its namespace unless other fleets are in it"
    return "objects and namespace"


def _effect(before: Workload, after: Workload) -> str:
    """Say what an update does to rooms, in the order in which a reader cares."""
    said = []
    if after.suspend and not before.suspend:
        until = after.suspension.until
        end = "it is resumed" if until is None else told(until)
        said.append(f"suspended: nothing is written until {end}")
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
    if after.replicas < before.replicas or after.revision != before.revision:
        said += _ended(after)
    said += _ended_sooner(before, after)
    if before.hears and not after.hears:
        said.append(lost_protection((after,)))
    if after.hears and not before.hears:
        said.append(
            "rooms made before have no token: one that says nothing by its own address within "
            f"pingSeconds ({after.timeouts.ping_seconds:.0f} s) of being drained is taken for empty"
        )
    return "; ".join(said) or "no room is touched"


def _ended(workload: Workload) -> list[str]:
    """Say that rooms with players go all the same, where a deadline in Git ends them."""
    limit = workload.departure.drain_deadline_seconds
    if limit is None or not workload.hears:
        return []
    return [f"a room with players goes {limit:.0f} s after it is told to, whoever plays there"]


def _ended_sooner(before: Workload, after: Workload) -> list[str]:
    """Say that rooms which leave already go sooner: the deadline counts from when they were told.

    One that is new or shorter may be over for them when it comes.
    """
    was, limit = before.departure.drain_deadline_seconds, after.departure.drain_deadline_seconds
    if limit is None or not after.hears or (was is not None and was <= limit):
        return []
    return [
        f"a room that leaves already goes {limit:.0f} s after it was told to, whoever plays there"
    ]


def _rooms(number: int) -> str:
    return "1 room" if number == 1 else f"{number} rooms"
