"""A head as it is judged in a freeze: as though people had not changed what waits (ADR 26)."""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace

from reconciler.core import brakes, intents
from reconciler.core.carried_counts import ReadSpec, carried, is_moved
from reconciler.core.compile import canonical, config_from_json
from reconciler.core.counts_in_git import with_count
from reconciler.core.freezing import WAITING_PARTS
from reconciler.core.suspension import in_time
from reconciler.model.arrivals import Arrival
from reconciler.model.freezes import Edit
from reconciler.model.intents import Passage
from reconciler.model.readings import Reading
from reconciler.model.records import NO_RECORD, Accepted, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Source, Workload


def withheld(
    arrival: Arrival,
    edits: Collection[Edit],
    approved: Collection[str],
    records: Mapping[WorkloadKey, StateRecord],
    read_spec: ReadSpec,
) -> Arrival:
    """Return a head as though people had not made those edits that wait.

    Those that were `approved` do not, and none where no freeze is open any more.
    """
    waiting = tuple(each for each in edits if arrival.freezes and each.line not in approved)
    if not waiting:
        return arrival
    reading, left = arrival.reading, _left(waiting, records)
    workloads, own = dict(reading.workloads), dict(reading.own)
    tracked, apart = dict(arrival.moves.tracked), dict(arrival.moves.apart)
    config, by = reading.config, dict[WorkloadKey, tuple[str, bool]]()
    for edit in waiting:
        if edit.key is None:
            config = _with_settings(config, arrival.accepted_config)
            continue
        key, workload = edit.key, workloads.pop(edit.key)
        own.pop(key, None)
        record = records.get(key, NO_RECORD)
        if record.accepted is None:
            continue
        if edit.counted:
            moved = tracked.pop(key, ()), apart.pop(key, ())
            if workload.autoscaling is not None and not _uncovers(reading, key, record, moved):
                by[key] = _whose(moved, record, reading)
        if key not in left:
            before = _before(record.accepted, arrival.dated, read_spec)
            workloads[key], record = _unedited(arrival, edit, workload, record, before)
            if record.scaling.own is not None:
                own[key] = record.scaling.own
    return replace(
        arrival,
        reading=replace(reading, workloads=workloads, own=own, config=config),
        moves=replace(arrival.moves, tracked=tracked, apart=apart),
        waiting=waiting,
        read_by=reading.config,
        withheld=by,
        left=left,
    )


def _left(
    waiting: Collection[Edit], records: Mapping[WorkloadKey, StateRecord]
) -> frozenset[WorkloadKey]:
    """Return the workloads with a brake that is pulled, of those whose edits wait."""
    keys = (each.key for each in waiting if each.key is not None)
    return frozenset(key for key in keys if brakes.are_pulled(records.get(key, NO_RECORD)))


def _uncovers(
    reading: Reading,
    key: WorkloadKey,
    record: StateRecord,
    moved: Collection[tuple[Passage, ...]],
) -> bool:
    """Whether a head shows the number under a line of ours by another change alone.

    Who switches a policy off, or takes the branch of counts away, writes no number.
    """
    if key in reading.own or record.scaling.waits_by or any(map(intents.human_commit, moved)):
        return False
    return reading.workloads[key].replicas == record.scaling.own


def _whose(
    moved: Collection[tuple[Passage, ...]], record: StateRecord, reading: Reading
) -> tuple[str, bool]:
    """Return the commit of a person whose number waits, and whether the branch went back to it.

    It is known until the freeze is over.

    Where that is the accepted number again, nothing else would tell of it at the next look.
    """
    for passages in moved:
        if found := intents.human_commit(passages):
            return found, any(each.went_back and each.commit == found for each in passages)
    if record.scaling.waits_by:
        return record.scaling.waits_by, record.scaling.waits_back
    newest = reading.counts_commit or reading.commit
    return newest, any(each.went_back for passages in moved for each in passages)


def _unedited_count(arrival: Arrival, edit: Edit, workload: Workload, record: StateRecord) -> int:
    """Return the number without what people changed: one that we wrote meanwhile is under it."""
    if not edit.counted or record.accepted is None:
        return workload.replicas
    return (arrival.moves.wrote or {}).get(workload.key, record.accepted.replicas)


def _before(accepted: Accepted, dated: float, read_spec: ReadSpec) -> Workload:
    """Return the accepted workload, with the number that was accepted."""
    spec = read_spec(accepted.spec_json, Source(accepted.file, accepted.line))
    return replace(in_time(spec, dated), replicas=accepted.replicas)


def _unedited(
    arrival: Arrival, edit: Edit, workload: Workload, record: StateRecord, before: Workload
) -> tuple[Workload, StateRecord]:
    """Return the accepted workload, which is `before`, with the number of a head, and the record.

    Where a line comes to lie over it by the edit alone, the tracked branch's number stays.
    """
    if workload.key in arrival.reading.own and not is_moved(before):
        return before, record
    record = carried(arrival, workload, record)
    count = _unedited_count(arrival, edit, workload, record)
    return before if count == before.replicas else with_count(before, count), record


def _with_settings(config: Config | None, accepted: Config | None) -> Config | None:
    if config is None or accepted is None:
        return config
    document, before = json.loads(config.spec_json), json.loads(accepted.spec_json)
    spec = {k: v for k, v in (document.get("spec") or {}).items() if k not in WAITING_PARTS}
    old = {k: v for k, v in (before.get("spec") or {}).items() if k in WAITING_PARTS}
    return config_from_json(canonical({**document, "spec": {**spec, **old}}))
