"""One cluster as it is, kept by watches: what the loop plans against (`ports.LiveView`)."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from reconciler.model import additional, labels
from reconciler.model.live import LiveNode, LivePod, LiveWorkload, Nodes
from reconciler.model.refs import Followed, Json, WorkloadKey
from reconciler.ports import Clock, Cluster
from reconciler.service.pod_shelf import PodShelf, RoomChanged
from reconciler.service.reflector import Reflector
from reconciler.service.shelves import Bell, NodeShelf, ObjectShelf, Ring, Shelf

OBJECT_KINDS = (
    ("v1", "Namespace"),
    ("v1", "ServiceAccount"),
    ("policy/v1", "PodDisruptionBudget"),
)
"""What stands beside rooms; of these, all that any instance owns."""
_SELECTORS = {"ConfigMap": f"{labels.INSTANCE},!{labels.RECORD}"}
"""Where not everything that carries our labels is meant: records are read elsewhere."""


class ClusterView:
    """The view of one cluster; `run` keeps it up to date.

    `dirty` is called with the workloads of which something changed; `record_changed` with the
    ConfigMaps of this instance that did, and whether they are gone. `elapsed` never jumps
    (seconds). `room_changed` may be set: it is called with each room that changed. `kinds` are
    those that repositories may make, beside what each workload has.
    """

    def __init__(
        self,
        cluster: Cluster,
        instance: str,
        clock: Clock,
        dirty: Callable[[Iterable[WorkloadKey]], None],
        record_changed: Ring | None = None,
        elapsed: Callable[[], float] = time.monotonic,
        kinds: Iterable[str] = (),
    ) -> None:
        more = ((additional.KINDS[kind], kind) for kind in kinds if kind in additional.KINDS)
        objects = (*OBJECT_KINDS, *more)
        self._instance = instance
        self._dirty = dirty
        self._snapshots: dict[WorkloadKey, LiveWorkload] = {}
        self.room_changed: RoomChanged = lambda _key, _pod: None
        self._pods = PodShelf(
            instance,
            self._touched,
            clock.now,
            elapsed,
            lambda key, pod: self.room_changed(key, pod),
        )
        self._elapsed = elapsed
        self._objects = {kind: ObjectShelf(self._touched) for _, kind in objects}
        self._nodes = NodeShelf()

        def reflector(api_version: str, kind: str, selector: str, shelf: Shelf) -> Reflector:
            followed = Followed(api_version, kind, selector)
            return Reflector(cluster, followed, shelf, clock, elapsed=elapsed)

        self._needed = [reflector("v1", "Pod", "", self._pods)]
        self._needed += [
            reflector(version, kind, _SELECTORS.get(kind, labels.INSTANCE), self._objects[kind])
            for version, kind in objects
        ]
        self._useful = [reflector("v1", "Node", "", self._nodes)]
        if record_changed is not None:
            ours = f"{labels.INSTANCE}={instance}"
            self._useful.append(reflector("v1", "ConfigMap", ours, Bell(record_changed)))

    @property
    def complete(self) -> bool:
        """Whether every kind was read completely and is still followed: else nothing is deleted."""
        return all(each.complete for each in self._needed)

    @property
    def followed(self) -> tuple[Reflector, ...]:
        """What follows the cluster, a kind each."""
        return *self._needed, *self._useful

    @property
    def unserved(self) -> tuple[str, ...]:
        """The needed kinds that the server does not have."""
        return tuple(each.followed.kind for each in self._needed if each.unserved)

    @property
    def rooms_complete(self) -> bool:
        """Whether pods were read completely and are still followed: else no room is made."""
        return self._needed[0].complete

    @property
    def nodes(self) -> Nodes:
        """The nodes; the same value until one of them changes."""
        return self._nodes.snapshot

    @property
    def addresses(self) -> Mapping[str, str]:
        """The public addresses of the nodes that have one; the same value until one changes."""
        return self._nodes.addresses

    @property
    def version(self) -> int:
        """The newest resourceVersion of a pod that was seen, 0 before any."""
        return self._needed[0].highest

    async def run(self) -> None:
        """Follow the cluster until cancelled."""
        async with asyncio.TaskGroup() as group:
            for each in (*self._needed, *self._useful):
                group.create_task(each.run(), name=f"follow {each.followed.kind}")

    async def read(self) -> None:
        """Read everything once, without following it. Raises the cluster's errors."""
        await asyncio.gather(*(each.read() for each in (*self._needed, self._useful[0])))

    async def synced(self) -> None:
        """Wait until every needed kind was read once: before that, nothing may be planned.

        One that the server does not have is not waited for. It is no complete read either, so
        nothing is deleted.
        """
        for each in self._needed:
            await each.looked.wait()

    def workloads(self) -> Collection[WorkloadKey]:
        """Every workload of which this instance has something."""
        keys = set(self._pods.workloads())
        for shelf in self._objects.values():
            # Almost each has pods, too: a head of a thousand asks for all of them.
            keys.update(list(shelf.workloads(self._instance, keys)))
        return keys

    def of(self, key: WorkloadKey) -> LiveWorkload:
        """What there is of one workload; the same value until something of it changes."""
        self._pods.expire()
        snapshot = self._snapshots.get(key)
        if snapshot is None:
            objects = [each for shelf in self._objects.values() for each in shelf.of(key)]
            objects += self._objects["Namespace"].of(key._replace(name=""))
            snapshot = LiveWorkload(self._pods.of(key), tuple(objects))
            if snapshot.pods or objects:
                self._snapshots[key] = snapshot
        return snapshot

    def port_use(self) -> Counter[int]:
        """How many pods of the cluster, anybody's, ask for each host port number."""
        return self._pods.port_use()

    def ports_held(self) -> Mapping[str, Counter[int]]:
        """The same by the pods' nodes, "" for pods without one."""
        return self._pods.ports_held()

    def expect_created(self, pod: Json) -> None:
        """Count a room as there, as the server answered it, until the watch shows it (3 min)."""
        self._pods.expect_created(pod)

    def expect_deleted(self, uid: str) -> None:
        """Count a pod as terminating until the watch shows it, at most 3 min."""
        self._pods.expect_deleted(uid)

    def take_in(self, pod: Json) -> None:
        """Take in a pod as the server answered it to a patch, unless a newer version is known."""
        self._pods.take_in(pod)

    def elapsed(self) -> float:
        """The time of the clock by which pods are `seen`: seconds, and it never jumps."""
        return self._elapsed()

    def room(self, namespace: str, name: str) -> tuple[WorkloadKey, LivePod] | None:
        """Find a room by its name, with its workload."""
        return self._pods.room(namespace, name)

    def is_astray(self, namespace: str, name: str) -> bool:
        """Whether there is a pod of this name that was a room, and lost our labels."""
        return self._pods.is_astray(namespace, name)

    def node(self, name: str) -> LiveNode | None:
        """Find a node by its name."""
        return self._nodes.find(name)

    def _touched(self, key: WorkloadKey) -> None:
        keys = (key,) if key.name else self._sharing(key)
        for each in keys:
            self._snapshots.pop(each, None)
        self._dirty(keys)

    def _sharing(self, shared: WorkloadKey) -> tuple[WorkloadKey, ...]:
        """Return the workloads that are in a shared namespace."""
        place = shared.kind, shared.namespace
        return tuple(each for each in self._snapshots if (each.kind, each.namespace) == place)
