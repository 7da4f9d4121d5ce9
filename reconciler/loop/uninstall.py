"""Going away: our records are deleted, and rooms run on. Whoever calls this leads.

The order is such that a process which begins after any of these calls deletes nothing by itself:
without the repository's record every removal waits for an approval, and while the record of names
is there they go on. Started again, it goes on where it ended.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from reconciler.core.ending import late_seconds
from reconciler.loop.approvals import APPROVAL, approval_prefix
from reconciler.loop.lane import Lane
from reconciler.loop.record_places import Places
from reconciler.loop.requests import REQUEST, request_ref
from reconciler.loop.tick import tick
from reconciler.model import labels
from reconciler.model.errors import Conflict
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, ref_of
from reconciler.model.reports import Outcome
from reconciler.model.wanted import Wanted
from reconciler.ports import Cluster

INSTALLED = frozenset({"repository", "state"})
"""Records that a loop alone makes, in its own namespace: they say where an instance is.

Requests and approvals are people's, who may mistake the namespace.
"""
ORDER = (APPROVAL, REQUEST, "repository", "state", "ordinals")
PASSES = 7
"""A wait, objects, then the namespace, then the records: more passes find nothing more to do."""


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """A ConfigMap of ours, exactly as it was seen; `what` is one of `ORDER`."""

    what: str
    ref: ObjectRef
    uid: str
    version: str


async def own_records(cluster: Cluster, namespace: str, instance: str) -> list[OwnRecord]:
    """Return the records of an instance in the order in which they go.

    What says that it is one and stands elsewhere is somebody else's. Raises the cluster's errors.
    """
    selector = f"{labels.INSTANCE}={instance},{labels.RECORD}"
    listing = await cluster.list("v1", "ConfigMap", labels=selector)
    places = Places(cluster.name, namespace, instance)
    found = []
    for item in listing.items:
        what = str(item["metadata"]["labels"][labels.RECORD])
        if what in ORDER and _stands_at_its_place(places, item, what):
            metadata = item["metadata"]
            ref = ref_of(item)
            found.append(OwnRecord(what, ref, metadata["uid"], metadata["resourceVersion"]))
    return sorted(found, key=lambda each: (ORDER.index(each.what), each.ref))


async def installed(cluster: Cluster) -> Mapping[str, frozenset[str]]:
    """Return the namespaces in which instances have the records of a loop, by instance.

    Those of names are none of these: they stand beside rooms, whatever namespace of ours is asked
    for, so they say of no installation where it is. Raises the cluster's errors.
    """
    listing = await cluster.list("v1", "ConfigMap", labels=f"{labels.INSTANCE},{labels.RECORD}")
    found = defaultdict[str, set[str]](set)
    for item in listing.items:
        marks, namespace = item["metadata"]["labels"], item["metadata"]["namespace"]
        instance, what = str(marks[labels.INSTANCE]), str(marks[labels.RECORD])
        places = Places(cluster.name, namespace, instance)
        if what in INSTALLED and _stands_at_its_place(places, item, what):
            found[instance].add(namespace)
    return {instance: frozenset(spaces) for instance, spaces in found.items()}


def _stands_at_its_place(places: Places, item: Json, what: str) -> bool:
    ref, marks = ref_of(item), item["metadata"]["labels"]
    if what == "repository":
        return ref == places.repository
    if what == REQUEST:
        return ref == request_ref(places.namespace, places.instance)
    if what == APPROVAL:
        prefix = approval_prefix(places.instance)
        return ref.namespace == places.namespace and ref.name.startswith(prefix)
    return places.key_of(ref, marks, what) is not None


class Removal:
    """Takes records away, one after the other, and knows how far it came."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.removed: Counter[str] = Counter()

    async def of(self, records: list[OwnRecord]) -> None:
        """Delete records in this order. Raises the cluster's errors: what follows is untouched."""
        for record in records:
            try:
                if await self._cluster.delete(record.ref, record.uid, record.version):
                    self.removed[record.what] += 1
            except Conflict as error:
                raise Conflict(f"{record.ref} was written while we led: {error}") from error


async def remove_empty(
    lane: Lane,
    read: Callable[[], Awaitable[None]],
    now: float,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> list[Outcome]:
    """Delete what we made for workloads that have no room, as where they left Git.

    Objects, then the namespace where nothing else is in it, then the records. One with a room,
    be it on its way out, keeps all. What a loop sent before may come for a minute: that is waited
    for. `read` brings the lane's view up to date, `now` is Unix seconds, `pause` waits. Raises the
    cluster's errors of reads and records; those of objects are outcomes.
    """
    outcomes: list[Outcome] = []
    await lane.begin_term()
    for _ in range(PASSES):
        await read()
        await lane.store.load()
        keys = frozenset(without_rooms(lane))
        for key in keys:
            await lane.store.change_state(key, lambda record: replace(record, deleting=True))
        lane.wanted = Wanted(deleting=keys)
        before = lane.store.states()
        report = await tick(lane, sorted(keys), now)
        made = [outcome for item in report.settled for outcome in item.outcomes]
        outcomes += made
        # A copy that somebody took away is struck off the record, and nothing is done for it.
        still = not made and lane.store.states() == before
        times = (lane.unanswered_at.get(key) for key in keys)
        late = max((late_seconds(at, lane.view.elapsed()) for at in times), default=0.0)
        if any(outcome.error for outcome in made) or (still and not late):
            break
        if still:
            await pause(late)
    return outcomes


def without_rooms(lane: Lane) -> list[WorkloadKey]:
    """Return the workloads on record that have no room, be it on its way out."""
    return [key for key in lane.store.states() if not lane.view.of(key).pods]


def counted_rooms(lane: Lane) -> Mapping[str, int]:
    """Return how many rooms of the instance are in each namespace."""
    pods: Counter[str] = Counter()
    for key in lane.view.workloads():
        pods[key.namespace] += len(lane.view.of(key).pods)
    return {namespace: count for namespace, count in sorted(pods.items()) if count}
