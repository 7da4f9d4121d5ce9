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
from reconciler.core.carried_counts import carried, is_own_theirs
from reconciler.core.compile import canonical
from reconciler.core.counts_in_git import is_taken_back, waiting_by
from reconciler.core.waits import soonest
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Removal
from reconciler.model.freezes import Edit, Freeze, Window
from reconciler.model.records import NO_RECORD, Accepted, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Workload
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
    same = same or _uncounted(workload.spec_json) == _uncounted(accepted.spec_json)
    if not counted and same and not brakes.are_pulled(record):
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
