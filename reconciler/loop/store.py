"""The records in the cluster, by compare-and-swap: memory of what we wrote, truth on a conflict.

One writer holds the lease, so what it wrote last is what is there. Where it is not (a second
process, a hand), the write fails with Conflict, the record is read again, and the next tick
decides on what it says.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar
from weakref import WeakValueDictionary

from reconciler.core import record_codec
from reconciler.loop.record_places import Kept, Places, kept_of, kept_repository
from reconciler.model import labels
from reconciler.model.errors import Conflict, Misconfigured, PortError
from reconciler.model.records import Ordinals, RepositoryRecord, StateRecord
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, ref_of
from reconciler.ports import Cluster

T = TypeVar("T")

STRETCH = 50
"""So many records are parsed in one stretch of the event loop (a millisecond)."""


class RecordStore:
    """State, ordinal and repository records of one instance in one cluster."""

    def __init__(self, cluster: Cluster, namespace: str, instance: str) -> None:
        self._cluster = cluster
        self._places = Places(cluster.name, namespace, instance)
        self._states: dict[WorkloadKey, Kept[StateRecord]] = {}
        self._ordinals: dict[WorkloadKey, Kept[Ordinals]] = {}
        self._repository = Kept(RepositoryRecord())
        self._unreadable: dict[ObjectRef, tuple[WorkloadKey | None, str]] = {}
        # A lock lives as long as somebody holds or waits for it.
        self._locks = WeakValueDictionary[WorkloadKey, asyncio.Lock]()

    async def load(self) -> None:
        """Read every record; what was remembered is forgotten.

        A state or ordinal record that cannot be read holds its own workload: writing it raises
        Misconfigured. Raises Misconfigured for such a repository record, and the cluster's errors.
        """
        selector = f"{labels.INSTANCE}={self._places.instance},{labels.RECORD}"
        listing = await self._cluster.list("v1", "ConfigMap", labels=selector)
        fresh = RecordStore(self._cluster, self._places.namespace, self._places.instance)
        for number, item in enumerate(listing.items):
            if number % STRETCH == 0:
                await asyncio.sleep(0)
            fresh._remember(item)
        # All at once: nobody ever sees half of the records.
        self._states, self._ordinals = fresh._states, fresh._ordinals
        self._unreadable, self._repository = fresh._unreadable, fresh._repository
        self._check_readable(self.repository_ref)

    async def load_repository(self) -> RepositoryRecord:
        """Read the repository record alone, for who may read no other.

        Raises what `load` raises.
        """
        found = await self._cluster.get(self.repository_ref)
        self._repository = Kept(RepositoryRecord())
        if found is not None:
            self._take(found, None, "repository")
        self._check_readable(self.repository_ref)
        return self.repository

    async def recheck(self) -> bool:
        """Read again what could not be read; whether any of it can be now, or is gone.

        Raises what `load` raises.
        """
        doubtful = dict(self._unreadable)
        for ref, (key, _) in doubtful.items():
            what = "ordinals" if key and ref == self._places.ordinals(key) else "state"
            await self._reread(ref, key, what)
        self._check_readable(self.repository_ref)
        return doubtful.keys() != self._unreadable.keys()

    def states(self) -> Mapping[WorkloadKey, StateRecord]:
        """Every state record of a workload whose records can be read."""
        held = self.unreadable_workloads()
        return {key: kept.value for key, kept in self._states.items() if key not in held}

    def state(self, key: WorkloadKey) -> StateRecord:
        """One state record; an empty one where there is none."""
        kept = self._states.get(key)
        return kept.value if kept else _EMPTY

    def ordinals(self, key: WorkloadKey) -> Ordinals | None:
        """One ordinal record; None where it is lost or was never made."""
        kept = self._ordinals.get(key)
        return kept.value if kept else None

    def unreadable(self, key: WorkloadKey) -> str:
        """Say why a record of a workload cannot be read, "" where each can."""
        return self.unreadable_workloads().get(key, "") if self._unreadable else ""

    def unreadable_workloads(self) -> Mapping[WorkloadKey, str]:
        """The workloads a record of which cannot be read, each with the reason."""
        return {key: reason for key, reason in self._unreadable.values() if key is not None}

    def named(self) -> frozenset[WorkloadKey]:
        """The workloads that have an ordinal record."""
        return frozenset(self._ordinals)

    @property
    def is_blank(self) -> bool:
        """Whether nothing at all is on record."""
        records = (self._repository.version, self._states, self._ordinals, self._unreadable)
        return not any(records)

    @property
    def repository_problem(self) -> str:
        """Say why the repository record cannot be read, "" where it can."""
        return self._unreadable.get(self.repository_ref, (None, ""))[1]

    @property
    def repository(self) -> RepositoryRecord:
        """The repository record."""
        return self._repository.value

    @property
    def repository_ref(self) -> ObjectRef:
        """Where the repository record stands: `reconcile` requests are written on it."""
        return self._places.repository

    async def change_state(
        self, key: WorkloadKey, change: Callable[[StateRecord], StateRecord]
    ) -> None:
        """Change a state record, from its newest value; no write where nothing differs.

        Two lanes write one record (what was accepted, what was applied): each changes its own
        fields. Raises Conflict after reading the record again.
        """
        async with self._locks.setdefault(key, asyncio.Lock()):
            kept = self._states.setdefault(key, Kept(_EMPTY))
            ref = self._places.state(key)
            value = change(kept.value)
            await self._save(kept, value, ref, record_codec.dump_state, key, "state")

    def is_doubtful(self, key: WorkloadKey) -> bool:
        """Whether a state record may be another than the one remembered: write it again."""
        kept = self._states.get(key)
        return kept is not None and kept.doubtful

    async def raise_ordinals(self, key: WorkloadKey, ordinals: Ordinals) -> None:
        """Write an ordinal record before a batch is POSTed, even one that stands there already.

        The compare-and-swap is what keeps a process that slept from making names again that were
        made and have ended meanwhile. Raises Conflict after reading it again.
        """
        kept = self._ordinals.get(key)
        if kept is not None:
            kept.doubtful = True
        await self.save_ordinals(key, ordinals)

    async def save_ordinals(self, key: WorkloadKey, ordinals: Ordinals) -> None:
        """Write an ordinal record if it differs. Raises Conflict after reading it again."""
        kept = self._ordinals.get(key) or Kept(Ordinals(-1))
        ref = self._places.ordinals(key)
        await self._save(kept, ordinals, ref, record_codec.dump_ordinals, key, "ordinals")
        self._ordinals[key] = kept

    async def save_repository(self, record: RepositoryRecord) -> None:
        """Write the repository record if it differs. Raises Conflict after reading it again."""
        await self._save(
            self._repository,
            record,
            self.repository_ref,
            record_codec.dump_repository,
            None,
            "repository",
        )

    async def check_state(self, key: WorkloadKey) -> None:
        """Compare what is remembered of a workload with what stands in the cluster.

        Raises Conflict after reading it again, where another process wrote it.
        """
        ref, kept = self._places.state(key), self._states.get(key)
        found = await self._cluster.get(ref)
        version = found["metadata"]["resourceVersion"] if found else ""
        if version != (kept.version if kept else ""):
            await self._reread(ref, key, "state")
            raise Conflict(f"{ref} was written by another process: decide again on a fresh read")

    async def drop_state(self, key: WorkloadKey) -> None:
        """Delete a state record."""
        await self._drop(self._states, key, self._places.state(key), "state")

    async def drop_ordinals(self, key: WorkloadKey) -> None:
        """Delete an ordinal record."""
        await self._drop(self._ordinals, key, self._places.ordinals(key), "ordinals")

    async def ensure_namespace(self) -> None:
        """Make the namespace that the records stand in, where it is not there yet."""
        ref = ObjectRef("v1", "Namespace", "", self._places.namespace)
        if await self._cluster.get(ref) is None:
            await self._cluster.create(
                {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": self._places.namespace},
                }
            )

    async def _save(
        self,
        kept: Kept[T],
        value: T,
        ref: ObjectRef,
        dump: Callable[[T], record_codec.Texts],
        key: WorkloadKey | None,
        what: str,
    ) -> None:
        self._check_readable(ref)
        if kept.version and kept.value == value and not kept.doubtful:
            return
        body = self._places.body(ref, dump(value), key, what)
        try:
            if kept.version:
                body["metadata"] |= {"resourceVersion": kept.version, "uid": kept.uid}
                written = await self._cluster.replace(body)
            else:
                written = await self._cluster.create(body)
        except Conflict:
            await self._reread(ref, key, what)
            raise
        except PortError:
            kept.doubtful = True
            raise
        kept.value = value
        kept.doubtful = False
        kept.uid = written["metadata"]["uid"]
        kept.version = written["metadata"]["resourceVersion"]

    async def _drop(
        self, shelf: dict[WorkloadKey, Kept[T]], key: WorkloadKey, ref: ObjectRef, what: str
    ) -> None:
        self._check_readable(ref)
        kept = shelf.get(key)
        if kept and kept.version:
            try:
                await self._cluster.delete(ref, kept.uid, kept.version)
            except Conflict:
                await self._reread(ref, key, what)
                raise
        shelf.pop(key, None)

    async def _reread(self, ref: ObjectRef, key: WorkloadKey | None, what: str) -> None:
        found = await self._cluster.get(ref)
        self._unreadable.pop(ref, None)
        if found is not None:
            # By its place alone: where somebody took its labels, the next write brings them back.
            self._take(found, key, what)
        elif key is None:
            self._repository = Kept(RepositoryRecord())
        else:
            (self._ordinals if what == "ordinals" else self._states).pop(key, None)

    def _check_readable(self, ref: ObjectRef) -> None:
        if ref in self._unreadable:
            raise Misconfigured(self._unreadable[ref][1])

    def _remember(self, item: Json) -> None:
        """Take a record in where it stands at its place; what says it is one elsewhere is none."""
        ref, marks = ref_of(item), item["metadata"].get("labels") or {}
        what = marks.get(labels.RECORD)
        key = self._places.key_of(ref, marks, what)
        if key is not None:
            self._take(item, key, str(what))
        elif what == "repository" and ref == self.repository_ref:
            self._take(item, None, what)

    def _take(self, item: Json, key: WorkloadKey | None, what: str) -> None:
        ref = ref_of(item)
        self._unreadable.pop(ref, None)
        try:
            if key is None:
                self._repository = kept_repository(item)
                return
            self._places.check_key(item, key)
            if what == "state":
                self._states[key] = kept_of(item, record_codec.load_state)
            else:
                self._ordinals[key] = kept_of(item, record_codec.load_ordinals)
        except Misconfigured as error:
            self._unreadable[ref] = key, str(error)
            if key is not None:
                (self._states if what == "state" else self._ordinals).pop(key, None)


_EMPTY = StateRecord()
