"""Rooms as commands see them: their pods, their nodes, what was accepted, what they said.

It asks for no more than it shows, so that whoever may list the pods of one namespace can use it:
nodes and records that may not be read leave their columns empty.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from reconciler.cli.rooms_api import Told, told_by
from reconciler.core import kept_reports, room_state
from reconciler.core.compile import workload_from_json
from reconciler.core.conditions import held_by
from reconciler.core.departing import unknown
from reconciler.kube.addresses import public_address
from reconciler.kube.owners import key_of
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.errors import Denied, Misconfigured
from reconciler.model.holds import is_suspended
from reconciler.model.live import LiveNode, LivePod
from reconciler.model.records import Ordinals, StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import BUSY_MARKS, Heard, Judged, Mark, RoomState
from reconciler.model.specs import Source, Workload
from reconciler.ports import Cluster
from reconciler.service.live_records import node_of, pod_of
from reconciler.settings import Settings

TELLING = BUSY_MARKS | {Mark.IDLE}
"""Marks that only rooms have which report."""
UNKNOWN = "last recorded idle; what it said since the loop alone knows"


@dataclass(frozen=True, slots=True)
class SeenRoom:
    """One room. `current` is whether it is of the wanted revision, None where that is not known.

    `told` is what the loop's API says of it; without one `judged` rests on the pod alone.
    """

    key: WorkloadKey
    pod: LivePod
    judged: Judged
    address: str
    current: bool | None
    told: Told | None = None

    @property
    def name(self) -> str:
        """Its name with its namespace: what every command takes."""
        return f"{self.pod.namespace}/{self.pod.name}"

    @property
    def is_unknown(self) -> bool:
        """Whether only the loop knows what it is: it repeats itself, and stood as idle last."""
        return self.judged.reason == UNKNOWN

    @property
    def heard(self) -> Heard | None:
        """What it said last: as the API tells it, or as it is kept on its pod; None if neither."""
        if self.told is not None:
            return self.told.heard
        return kept_reports.heard_of(self.pod.kept_report)


@dataclass(frozen=True, slots=True)
class Around:
    """What rooms are judged by beside their pods. `notes` say what could not be read.

    `numbers` are those that were given to rooms: what is under them and not there is gone.
    """

    nodes: Mapping[str, LiveNode] = field(default_factory=dict)
    states: Mapping[WorkloadKey, StateRecord] = field(default_factory=dict)
    specs: Mapping[WorkloadKey, Workload] = field(default_factory=dict)
    told: Mapping[tuple[str, str], Told] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    numbers: Mapping[WorkloadKey, Ordinals] = field(default_factory=dict)

    def left_git(self, key: WorkloadKey) -> bool:
        """Whether the spec of a workload has left Git, as far as its record may be read."""
        record = self.states.get(key)
        return record is not None and record.deleting

    def is_suspended(self, key: WorkloadKey) -> bool:
        """Whether nothing is done with a workload, by its record, until people end that."""
        record = self.states.get(key)
        if record is None or record.deleting:
            return False
        return is_suspended(held_by(key, record.conditions))


async def read_pods(
    cluster: Cluster, instance: str, namespace: str = ""
) -> list[tuple[WorkloadKey, LivePod]]:
    """List the rooms of an instance, in all namespaces or one. Raises the cluster's errors."""
    selector = f"{labels.INSTANCE}={instance},{labels.WORKLOAD}"
    listing = await cluster.list("v1", "Pod", namespace, labels=selector)
    return [each for each in map(_room, listing.items) if each is not None]


def _room(item: Json) -> tuple[WorkloadKey, LivePod] | None:
    key = key_of(item)
    return None if key is None else (key, pod_of(item))


NOTHING_KNOWN = Around()


async def read_around(
    cluster: Cluster,
    settings: Settings,
    nodes_tell: str = "the address of a room that never reported is",
    before: Around = NOTHING_KNOWN,
) -> Around:
    """Read nodes and records, as far as we may. Raises the cluster's other errors.

    `nodes_tell` is what is not known where nodes may not be listed. What may not be read any more
    is as it was `before`.
    """
    notes: list[str] = []
    nodes, (states, numbers) = await asyncio.gather(
        _nodes(cluster, notes, nodes_tell, before.nodes),
        _records(cluster, settings, notes, before),
    )
    specs = {
        key: workload_from_json(taken.spec_json, Source(taken.file, taken.line))
        for key, record in states.items()
        if (taken := record.accepted)
    }
    return Around(nodes, states, specs, notes=tuple(notes), numbers=numbers)


def see(pods: Iterable[tuple[WorkloadKey, LivePod]], around: Around) -> list[SeenRoom]:
    """Judge rooms, sorted as one counts them."""
    seen = [_seen(key, pod, around) for key, pod in pods]
    return sorted(seen, key=lambda room: (room.key, room.pod.ordinal, room.pod.name))


def _seen(key: WorkloadKey, pod: LivePod, around: Around) -> SeenRoom:
    spec = around.specs.get(key)
    told = around.told.get((pod.namespace, pod.name))
    if told is not None and told.uid != pod.uid:
        told = None
    node = around.nodes.get(pod.node)
    return SeenRoom(
        key=key,
        pod=pod,
        judged=_judged(pod, spec or unknown(key, pod.mark in TELLING), told),
        address=public_address(node.addresses) if node else pod.address,
        current=pod.revision == spec.revision if spec else None,
        told=told,
    )


def _judged(pod: LivePod, spec: Workload, told: Told | None) -> Judged:
    # Without a time: what a room was seen to be and since when, only the loop can know.
    judged = room_state.judge(pod, spec, kept_reports.heard_of(pod.kept_report))
    if told is None:
        # A game that repeats itself keeps nothing on its pod: it may be full by now, or silent.
        recorded = pod.mark is Mark.IDLE and not pod.kept_report and pod.running
        hidden = recorded and spec.hears and bool(judged.protected)
        return replace(judged, reason=UNKNOWN, protected="") if hidden else judged
    known = {state.value: state for state in RoomState}
    return Judged(known.get(told.state, judged.state), told.reason, told.protected)


async def with_api(around: Around, api: tuple[str, str], only: WorkloadKey | None = None) -> Around:
    """Add what the loop's API says of one workload, or all, where its address is given.

    Raises Failure.
    """
    if not api[0]:
        return around
    told = await told_by(*api, only)
    return replace(around, told=told)


async def _nodes(
    cluster: Cluster, notes: list[str], they_tell: str, before: Mapping[str, LiveNode]
) -> Mapping[str, LiveNode]:
    try:
        listing = await cluster.list("v1", "Node")
    except Denied:
        notes.append(f"nodes may not be listed: {they_tell} not known")
        return before
    return {node.name: node for node in map(node_of, listing.items)}


async def _records(
    cluster: Cluster, settings: Settings, notes: list[str], before: Around
) -> tuple[Mapping[WorkloadKey, StateRecord], Mapping[WorkloadKey, Ordinals]]:
    store = RecordStore(cluster, settings.namespace, settings.instance)
    try:
        await store.load()
    except Denied:
        notes.append("records may not be read: which revision is wanted is not known")
        return before.states, before.numbers
    except Misconfigured:
        if not store.repository_problem:
            raise
    given = ((key, store.ordinals(key)) for key in store.named())
    return store.states(), {key: ordinals for key, ordinals in given if ordinals is not None}
