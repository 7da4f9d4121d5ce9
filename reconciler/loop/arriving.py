"""A head with all that judging it needs: what is on record, and what lives in the cluster."""

from reconciler.core import vouching
from reconciler.loop.config import accepted_config
from reconciler.loop.head_lane import HeadLane
from reconciler.model.arrivals import Arrival
from reconciler.model.readings import Reading
from reconciler.model.trees import Relation


def arrival_of(lane: HeadLane, reading: Reading, relation: Relation | None, now: float) -> Arrival:
    """Return a head that stands so to the accepted one, at `now` (Unix seconds)."""
    store, view = lane.home.store, lane.home.view
    records, unreadable = store.states(), store.unreadable_workloads()
    recorded = {key for key, record in records.items() if record.accepted or record.deleting}
    unrecorded = {
        key: [pod.revision for pod in view.of(key).pods if not pod.terminating]
        for key in view.workloads()
        if key not in recorded and key not in unreadable
    }
    wanted = {key: workload.revision for key, workload in reading.workloads.items()}
    outdated = {key for key, revisions in unrecorded.items() if set(revisions) - {wanted.get(key)}}
    return Arrival(
        reading=reading,
        repository=lane.url,
        branch=lane.branch,
        path=lane.path,
        relation=relation,
        cluster=lane.home.name,
        ceiling=lane.ceiling,
        accepted_config=accepted_config(store.repository),
        unrecorded={key: len(revisions) for key, revisions in unrecorded.items()},
        now=now,
        unreadable=unreadable,
        outdated=frozenset(outdated & wanted.keys()),
        named=store.named(),
        blank=store.is_blank and not view.workloads(),
        shared_now=lane.home.server_now() if lane.home.server_now else None,
        remarks=vouching.remarks(reading, signs=lane.signs or lane.rules is None),
    )
