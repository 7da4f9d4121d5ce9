"""A freeze: what people changed in Git since it opened waits, and nothing else does (ADR 26).

While one is open a head is judged as though people had changed nothing since: the accepted specs,
with the numbers that are ours. So policies, healing and our own commits go on. What left Git is
held at the gates. A commit stands under the windows of the Config that was accepted, under its
own, and under those that were open before: no commit lifts the freeze that it stands under.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from reconciler.core import brakes, freeze_windows, intents
from reconciler.core.calendar import Zones
from reconciler.core.carried_counts import ReadSpec, carried, is_moved, is_own_theirs
from reconciler.core.compile import canonical, config_from_json
from reconciler.core.counts_in_git import is_taken_back, waiting_by, with_count
from reconciler.core.suspension import in_time
from reconciler.core.waits import soonest
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Removal
from reconciler.model.freezes import Edit, Freeze, Window
from reconciler.model.intents import Passage
from reconciler.model.readings import Reading
from reconciler.model.records import NO_RECORD, Accepted, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Source, Workload
from reconciler.model.trees import CONFIG_FILE

MOST_REMEMBERED = 20
WAITING_PARTS = ("paths", "budgets", "freeze")
"""What of gamekeeper.yaml decides about rooms: that waits, too."""


def open_freezes(
    arrival: Arrival, repository: RepositoryRecord, zones: Zones
) -> tuple[Freeze, ...]:
    """Return the freezes that a head stands under, the one that ends first before the others.

    One of which the head has no line is told with the commit that has it, and the path from the
    top of the repository, as git writes both.
    """
    now, config = arrival.dated, arrival.reading.config
    known = [each for each in repository.freezes if each.since <= now < each.until]
    found = {_in_commit(each, repository.commit, repository.path) for each in known}
    found |= set(freeze_windows.open_at(_windows(arrival), zones, now))
    own = freeze_windows.open_at(config.freeze if config else (), zones, now)
    told = (*sorted(found, key=_told), *own)
    by_span = {(each.until, each.since, each.name): each for each in told}
    return tuple(sorted(by_span.values()))[-MOST_REMEMBERED:]


def _in_commit(freeze: Freeze, commit: str, folder: str) -> Freeze:
    """Return a freeze with the commit of its line, where that is not named yet."""
    if not commit or not freeze.place.startswith(f"{CONFIG_FILE}:"):
        return freeze
    file = f"{folder}/{freeze.place}" if folder else freeze.place
    return replace(freeze, place=f"{commit[:12]}:{file}")


def _told(freeze: Freeze) -> tuple[bool, str]:
    """Sort what knows its line last: that is told."""
    return ":" in freeze.place, freeze.place


def next_change(arrival: Arrival, repository: RepositoryRecord, zones: Zones) -> float | None:
    """Return when the next freeze opens or ends (Unix seconds), None where none does soon."""
    ends = (each.until for each in repository.freezes if each.until > arrival.dated)
    return soonest(*ends, freeze_windows.next_change(_windows(arrival), zones, arrival.dated))


def _windows(arrival: Arrival) -> list[Window]:
    """Return the windows of the accepted Config and of the head's; one that both have once."""
    found: dict[Window, Window] = {}
    for config in (arrival.accepted_config, arrival.reading.config):
        found |= {replace(each, line=0): each for each in (config.freeze if config else ())}
    return list(found.values())


def edits_of(
    arrival: Arrival, records: Mapping[WorkloadKey, StateRecord], removals: Collection[Removal]
) -> tuple[Edit, ...]:
    """Return what people changed beside what was accepted, but what takes a workload away.

    Nothing where no freeze is open. What waits for an approval already is no part of it.
    """
    if not arrival.freezes or arrival.reading.config is None:
        return ()
    lines = {removal.line for removal in removals}
    return tuple(_edits(arrival, records, lines))


def _edits(
    arrival: Arrival, records: Mapping[WorkloadKey, StateRecord], lines: Collection[str]
) -> Iterator[Edit]:
    config, accepted = arrival.reading.config, arrival.accepted_config
    if config and accepted and _settings(config) != _settings(accepted):
        yield Edit(_line(arrival.cluster, "Config", "gamekeeper.yaml", _settings(config)), None)
    for key, workload in arrival.reading.workloads.items():
        record = records.get(key, NO_RECORD)
        if key in arrival.unreadable or brakes.waits_still(record, workload, lines):
            continue
        edit = _edit(arrival, workload, record)
        if edit is not None:
            yield edit


def _edit(arrival: Arrival, workload: Workload, record: StateRecord) -> Edit | None:
    record = carried(arrival, workload, record)
    key, accepted = workload.key, record.accepted
    place = f"{key.namespace}/{key.name}"
    if accepted is None:
        if key in arrival.unrecorded:
            return None  # it lives: the gates judge what is asked of it
        return Edit(_line(arrival.cluster, key.kind, place, workload.spec_json), key, counted=True)
    counted = _is_counted(arrival, workload, record, accepted)
    same = workload.spec_json == accepted.spec_json
    if not counted and (same or _uncounted(workload.spec_json) == _uncounted(accepted.spec_json)):
        return None
    content = _uncounted(workload.spec_json)
    if counted:
        content += f" {workload.replicas} {arrival.reading.own.get(key)}"
    return Edit(_line(arrival.cluster, key.kind, place, content), key, counted)


def _is_counted(
    arrival: Arrival, workload: Workload, record: StateRecord, accepted: Accepted
) -> bool:
    """Whether people changed the number: it is neither what was accepted nor one that we pushed."""
    key = workload.key
    if is_own_theirs(arrival, key, record.scaling):
        return True
    moved = (arrival.moves.tracked.get(key, ()), arrival.moves.apart.get(key, ()))
    if any(map(intents.human_commit, moved)):
        return True  # also where it is the accepted one again: that is said, and waits
    if waiting_by(arrival, key, record) or is_taken_back(arrival, workload, record.scaling):
        return True
    ours = {landing.value for landing in record.scaling.landings}
    return workload.replicas != accepted.replicas and workload.replicas not in ours


def _line(cluster: str, kind: str, place: str, content: str) -> str:
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    return f"{cluster} {kind} {place} change to={digest}"


def _uncounted(spec_json: str) -> str:
    document = json.loads(spec_json)
    document["spec"].pop("replicas", None)
    return canonical(document)


def _settings(config: Config) -> str:
    """Return what of a Config decides about rooms, as text."""
    spec = json.loads(config.spec_json).get("spec") or {}
    return canonical({name: spec[name] for name in WAITING_PARTS if name in spec})


def lifted(
    arrival: Arrival, edits: Collection[Edit], approved: Collection[str], zones: Zones
) -> Arrival:
    """Return a head whose change of gamekeeper.yaml was approved: only its own freezes count."""
    if not any(edit.key is None and edit.line in approved for edit in edits):
        return arrival
    config = arrival.reading.config
    windows = config.freeze if config else ()
    return replace(arrival, freezes=freeze_windows.open_at(windows, zones, arrival.dated))


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
    reading = arrival.reading
    workloads, own = dict(reading.workloads), dict(reading.own)
    tracked, apart = dict(arrival.moves.tracked), dict(arrival.moves.apart)
    config, by = reading.config, dict[WorkloadKey, tuple[str, bool]]()
    left = _left(waiting, records)
    for edit in waiting:
        if edit.key is None:
            config = _with_settings(config, arrival.accepted_config)
            continue
        workload = workloads.pop(edit.key)
        record = records.get(edit.key, NO_RECORD)
        own.pop(edit.key, None)
        if record.accepted is None or edit.key in left:
            continue
        before = _before(record.accepted, arrival.dated, read_spec)
        workloads[edit.key], record = _unedited(arrival, edit, workload, record, before)
        if record.scaling.own is not None:
            own[edit.key] = record.scaling.own
        if edit.counted:
            moved = tracked.pop(edit.key, ()), apart.pop(edit.key, ())
            if workload.autoscaling is not None:
                by[edit.key] = _whose(moved, record, reading)
    return replace(
        arrival,
        reading=replace(reading, workloads=workloads, own=own, config=config),
        moves=replace(arrival.moves, tracked=tracked, apart=apart),
        waiting=waiting,
        withheld=by,
        left=left,
    )


def _left(
    waiting: Collection[Edit], records: Mapping[WorkloadKey, StateRecord]
) -> frozenset[WorkloadKey]:
    """Return the workloads with a brake that is pulled, of those whose edits wait."""
    held = ((each.key, records.get(each.key, NO_RECORD).held) for each in waiting if each.key)
    return frozenset(key for key, removal in held if removal and removal.released)


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
