"""Where list and watch put what they see: a shelf a kind, indexed by what the loop asks for."""

from collections.abc import Callable, Collection, Iterable, Mapping
from sys import intern
from typing import Generic, Protocol, TypeVar

from reconciler.kube.addresses import public_address
from reconciler.kube.owners import key_of
from reconciler.model.live import LiveNode, LiveObject, Nodes
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, ref_of
from reconciler.service.live_records import node_of, object_of

Touched = Callable[[WorkloadKey], None]
"""Called with a workload whenever something of it changed."""

Ring = Callable[[ObjectRef, bool], None]
"""Called with the place of an object that changed, and whether it is gone."""

T = TypeVar("T")


class Shelf(Protocol):
    """What a reflector fills. All of it is safe to repeat."""

    def put(self, obj: Json) -> None:
        """Take in an object as it is now, unless a newer version of it is known."""

    def drop(self, obj: Json) -> None:
        """Take in that an object is gone."""

    def keep_only(self, uids: Collection[str], version: str = "") -> None:
        """Take in that of this kind there is nothing but these, as of a list of `version`."""


class ByWorkload(Generic[T]):
    """Records by workload and uid."""

    def __init__(self) -> None:
        self._records: dict[WorkloadKey, dict[str, T]] = {}
        self._keys: dict[str, WorkloadKey] = {}

    def workloads(self) -> Collection[WorkloadKey]:
        """Return the workloads that have any."""
        return self._records.keys()

    def uids(self) -> Collection[str]:
        """Return the uids of all."""
        return self._keys.keys()

    def of(self, key: WorkloadKey) -> tuple[T, ...]:
        """Return those of a workload."""
        return tuple(self._records.get(key, {}).values())

    def find(self, uid: str) -> tuple[WorkloadKey, T] | None:
        """Return one with its workload."""
        key = self._keys.get(uid)
        return None if key is None else (key, self._records[key][uid])

    def put(self, key: WorkloadKey, uid: str, record: T) -> None:
        """Put one in the place of what has that uid."""
        if self._keys.get(uid, key) != key:
            self.remove(uid)
        self._records.setdefault(key, {})[uid] = record
        self._keys[uid] = key

    def remove(self, uid: str) -> tuple[WorkloadKey, T] | None:
        """Take one out and return it with its workload."""
        key = self._keys.pop(uid, None)
        if key is None:
            return None
        records = self._records[key]
        removed = records.pop(uid)
        if not records:
            del self._records[key]
        return key, removed


def is_older(version: str, known: str) -> bool:
    """Whether a resourceVersion precedes a known one; False where they cannot be compared."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)


class ObjectShelf:
    """Objects of one kind that carry our labels, those that other instances own included."""

    def __init__(self, touched: Touched) -> None:
        self._touched = touched
        self._objects: ByWorkload[LiveObject] = ByWorkload()

    def of(self, key: WorkloadKey) -> tuple[LiveObject, ...]:
        """Return those of a workload."""
        return self._objects.of(key)

    def workloads(self, instance: str, known: Collection[WorkloadKey]) -> Iterable[WorkloadKey]:
        """Yield the workloads of which this instance owns any, but for those that are known."""
        for key in self._objects.workloads():
            if key in known or not key.name:
                continue  # the latter is a namespace that is shared
            for each in self._objects.of(key):
                if each.instance == instance:
                    yield key
                    break

    def put(self, obj: Json) -> None:
        """Take in an object as it is now, unless a newer version of it is known."""
        key = key_of(obj)
        if key is None:
            self.drop(obj)
            return
        record = object_of(obj)
        known = self._objects.find(record.uid)
        if known is not None:
            if is_older(record.resource_version, known[1].resource_version) or known[1] == record:
                return
            if known[0] != key:
                self._touched(known[0])
        self._objects.put(key, record.uid, record)
        self._touched(key)

    def drop(self, obj: Json) -> None:
        """Take in that an object is gone."""
        self._remove(obj["metadata"]["uid"])

    def keep_only(self, uids: Collection[str], version: str = "") -> None:
        """Take in that of this kind there is nothing but these."""
        for uid in set(self._objects.uids()).difference(uids):
            self._remove(uid)

    def _remove(self, uid: str) -> None:
        removed = self._objects.remove(uid)
        if removed is not None:
            self._touched(removed[0])


class NodeShelf:
    """The nodes."""

    def __init__(self) -> None:
        self._nodes: dict[str, LiveNode] = {}
        self._by_name: dict[str, LiveNode] = {}
        self._snapshot: Nodes | None = None
        self._addresses: Mapping[str, str] = {}

    @property
    def snapshot(self) -> Nodes:
        """All of them; the same value until one changes: asked for every key of every pass."""
        if self._snapshot is None:
            there = tuple(self._nodes.values())
            takes = tuple(node for node in there if node.ready and not node.unschedulable)
            self._snapshot = Nodes(there, takes)
            known = ((node.name, public_address(node.addresses)) for node in there)
            public = {name: intern(address) for name, address in known if address}
            if public != self._addresses:
                self._addresses = public
        return self._snapshot

    @property
    def addresses(self) -> Mapping[str, str]:
        """The public addresses of those that have one; the same value until one changes."""
        return self._addresses if self.snapshot else {}

    def find(self, name: str) -> LiveNode | None:
        """Find a node by its name."""
        return self._by_name.get(name)

    def put(self, obj: Json) -> None:
        """Take in a node as it is now."""
        uid, node = obj["metadata"]["uid"], node_of(obj)
        if self._nodes.get(uid) == node and self._by_name.get(node.name) == node:
            return  # a heartbeat
        self._nodes[uid] = self._by_name[node.name] = node
        self._snapshot = None

    def drop(self, obj: Json) -> None:
        """Take in that a node is gone."""
        self._remove(obj["metadata"]["uid"])

    def keep_only(self, uids: Collection[str], version: str = "") -> None:
        """Take in that there are no nodes but these."""
        for uid in set(self._nodes).difference(uids):
            self._remove(uid)

    def _remove(self, uid: str) -> None:
        gone = self._nodes.pop(uid, None)
        if gone is not None and self._by_name.get(gone.name) is gone:
            del self._by_name[gone.name]
        self._snapshot = None


class Bell:
    """Keeps nothing and rings for every object that changed: who hears it reads what it needs."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._seen: dict[str, tuple[str, ObjectRef]] = {}

    def put(self, obj: Json) -> None:
        """Ring unless this version was rung for."""
        metadata, ref = obj["metadata"], ref_of(obj)
        seen = metadata["resourceVersion"], ref
        if self._seen.get(metadata["uid"]) != seen:
            self._seen[metadata["uid"]] = seen
            self._ring(ref, False)

    def drop(self, obj: Json) -> None:
        """Ring for an object that is gone."""
        self._seen.pop(obj["metadata"]["uid"], None)
        self._ring(ref_of(obj), True)

    def keep_only(self, uids: Collection[str], version: str = "") -> None:
        """Ring for all others: they are gone."""
        for uid in set(self._seen).difference(uids):
            self._ring(self._seen.pop(uid)[1], True)
