"""The records in the cluster, by compare-and-swap: memory of what we wrote, truth on a conflict.

One writer holds the lease, so what it wrote last is what is there. Where it is not (a second
process, a hand), the write fails with Conflict, the record is read again, and the next tick
decides on what it says.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from reconciler.core import record_codec
from reconciler.core.record_versions import Texts, with_beyond
from reconciler.loop.locks import Locks
from reconciler.loop.record_memory import RecordMemory
from reconciler.loop.record_places import Kept, Places, states_first
from reconciler.loop.unsent import Unsent
from reconciler.model import labels
from reconciler.model.errors import Conflict, PortError, RecordChanged
from reconciler.model.records import NO_RECORD, Ordinals, RepositoryRecord, StateRecord
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from reconciler.ports import Cluster

T = TypeVar("T")

STRETCH = 10
"""So many records are parsed in one stretch of the event loop (4 milliseconds)."""


class RecordStore(RecordMemory):
    """The records of one instance in one cluster."""

    def __init__(self, cluster: Cluster, namespace: str, instance: str) -> None:
        self._cluster = cluster
        super().__init__(Places(cluster.name, namespace, instance))
        self._locks = Locks[WorkloadKey | None]()
        self.unsent = Unsent()

    async def load(self) -> None:
        """Read every record; what was remembered is forgotten.

        A state or ordinal record that cannot be read holds its own workload: writing it raises
        Unreadable. Raises Unreadable for such a repository record, when the others were read, and
        the cluster's errors: then nothing was.
        """
        selector = f"{labels.INSTANCE}={self._places.instance},{labels.RECORD}"
        listing = await self._cluster.list("v1", "ConfigMap", labels=selector)
        fresh = RecordStore(self._cluster, self._places.namespace, self._places.instance)
        for number, item in enumerate(states_first(listing.items)):
            if number % STRETCH == 0:
                await asyncio.sleep(0)
            fresh._remember(item)
        # All at once: nobody ever sees half of the records.
        self._states, self._ordinals = fresh._states, fresh._ordinals
        self._unreadable, self._repository = fresh._unreadable, fresh._repository
        self.suspected.clear()
        self.unsent.clear()
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

    async def recheck(self) -> None:
        """Read again what could not be read: where any of it can be now, or is gone, that is doubt.

        A state record of which a write was not answered is read too, at each look until it is
        written again: what a head led to meanwhile rests on what stands there. It may be made late,
        its spec gone from Git. Raises what `load` raises.
        """
        for ref, key in tuple(self._unreadable):
            what = "ordinals" if key and ref == self._places.ordinals(key) else "state"
            await self._reread(key, what)
            if (ref, key) not in self._unreadable:
                self.doubt()
        self._check_readable(self.repository_ref)
        if any(kept.doubtful for kept in self._states.values()):
            await self.compare_states(await self.versions())

    async def versions(self) -> Mapping[ObjectRef, str]:
        """Return where state and repository records stand, each with its version."""
        where, marks = self._places.namespace, f"{labels.INSTANCE},{labels.RECORD}"
        listing = await self._cluster.list_metadata("v1", "ConfigMap", where, marks)
        told = (item["metadata"] for item in listing.items)
        return {self._places.at(each["name"]): each["resourceVersion"] for each in told}

    async def change_state(
        self, key: WorkloadKey, change: Callable[[StateRecord], StateRecord]
    ) -> None:
        """Change a state record, from its newest value; no write where nothing differs.

        Two lanes write one record (what was accepted, what was applied): each changes its own
        fields. Of a workload that is gone no empty record is made. Raises Conflict after reading
        the record again.
        """
        async with self._locks.of(key):
            self._check_readable(self._places.state(key), key)
            kept = self._states.get(key, Kept(NO_RECORD))
            value = change(kept.value)
            if kept.doubtful and not kept.version and value == NO_RECORD:
                await self._reread(key, "state")  # one that was not answered may stand there
                kept = self._states.get(key, Kept(NO_RECORD))
                value = change(kept.value)
            if kept.version or value != NO_RECORD:
                self._states[key] = kept
                await self._save(kept, value, key, "state")

    async def write_again(self, key: WorkloadKey | None) -> None:
        """Write a record that is gone as it is remembered.

        Raises Conflict where it is there after all.
        """
        async with self._locks.of(key):
            if key is None:
                repository = Kept(self._repository.value, beyond=self._repository.beyond)
                await self._save(repository, repository.value, None, "repository")
                self._repository = repository
            elif self._is_kept(key):
                there = self._states[key]
                state = Kept(there.value, beyond=there.beyond)
                await self._save(state, state.value, key, "state")
                self._states[key] = state

    def is_doubtful(self, key: WorkloadKey) -> bool:
        """Whether a record of it may be another than the one remembered: write that again."""
        kept = (self._states.get(key), self._ordinals.get(key))
        return any(each is not None and each.doubtful for each in kept)

    async def raise_ordinals(self, key: WorkloadKey, ordinals: Ordinals) -> None:
        """Write an ordinal record before a batch is POSTed, even one that stands there already.

        The compare-and-swap is what keeps a process that slept from making names again that were
        made and have ended meanwhile. Raises Conflict after reading it again.
        """
        kept = self._ordinals.get(key)
        known = frozenset[int]()
        if kept is not None:
            kept.doubtful = True
            known = kept.value.outstanding
        await self.save_ordinals(key, ordinals)
        self.unsent.raised(key, known, ordinals.outstanding)

    async def save_ordinals(self, key: WorkloadKey, ordinals: Ordinals) -> None:
        """Write an ordinal record if it differs. Raises Conflict after reading it again."""
        kept = self._ordinals.get(key) or Kept(Ordinals(-1))
        await self._save(kept, ordinals, key, "ordinals")
        self._ordinals[key] = kept

    async def change_repository(
        self, change: Callable[[RepositoryRecord], RepositoryRecord]
    ) -> None:
        """Change the repository record, from its newest value; no write where nothing differs.

        A head and a commit of ours may both be put on it at once. Raises what `change` raises, and
        Conflict after reading the record again.
        """
        async with self._locks.of(None):
            kept = self._repository
            await self._save(kept, change(kept.value), None, "repository")

    async def check_state(self, key: WorkloadKey) -> None:
        """Compare what is remembered of a workload with what stands in the cluster.

        Raises Conflict after reading it again, where another process wrote it.
        """
        async with self._locks.of(key):  # else a write of ours is theirs
            kept = self._states.get(key)
            await self._check(kept.version if kept else "", key, "state")

    async def compare_states(self, versions: Mapping[ObjectRef, str]) -> None:
        """Read each state record again that stands there in another of these `versions`."""
        for key, kept in tuple(self._states.items()):
            if versions.get(self._places.state(key), kept.version) != kept.version:
                async with self._locks.of(key):
                    before = self.state(key)
                    await self._reread(key, "state")
                    if self.state(key) != before:
                        self.doubt()

    async def check_repository(self) -> None:
        """Do the same with the repository record: is nobody else's commit on it by now?"""
        async with self._locks.of(None):
            await self._check(self._repository.version, None, "repository")

    async def _check(self, known: str, key: WorkloadKey | None, what: str) -> None:
        ref = self._place(key, what)
        found = await self._cluster.get(ref)
        version = found["metadata"]["resourceVersion"] if found else ""
        if version != known:
            await self._reread_changed(key, what)
            raise Conflict(f"{ref} was written by another process: decide again on a fresh read")

    async def drop_state(self, key: WorkloadKey) -> None:
        """Delete the state record of a workload that goes. Raises Conflict where it is back."""
        async with self._locks.of(key):
            if not self.state(key).deleting:
                raise Conflict(f"{key} is back in Git: decided anew")
            await self._drop(self._states, key, "state")

    async def drop_ordinals(self, key: WorkloadKey) -> None:
        """Delete an ordinal record, also one whose making was not answered and is not known.

        That of another kind of this name stands at the same place. It stays: it says which names
        the rooms of that one had.
        """
        if key not in self._ordinals:
            ref = self._places.ordinals(key)
            found = await self._cluster.get(ref)
            if found is not None and self._places.is_of_another_kind(found, key, self._rivals(key)):
                self._unreadable.pop((ref, key), None)
                return
            self._take_found(found, key, "ordinals")
        await self._drop(self._ordinals, key, "ordinals")

    def _place(self, key: WorkloadKey | None, what: str) -> ObjectRef:
        if key is None:
            return self.repository_ref
        return self._places.ordinals(key) if what == "ordinals" else self._places.state(key)

    async def _save(self, kept: Kept[T], value: T, key: WorkloadKey | None, what: str) -> None:
        ref = self._place(key, what)
        self._check_readable(ref, key)
        if kept.version and kept.value == value and not kept.doubtful:
            return
        texts = with_beyond(_DUMPS[what](value), kept.beyond)
        body = self._places.body(ref, texts, key, what)
        try:
            if kept.version:
                body["metadata"] |= {"resourceVersion": kept.version, "uid": kept.uid}
                if kept.doubtful:
                    # What says no more than stands there would not be a new version, and the
                    # write that was not answered could be carried out after it.
                    body["metadata"]["annotations"] = {labels.IN_DOUBT: kept.version}
                written = await self._cluster.replace(body)
            else:
                written = await self._cluster.create(body)
        except Conflict as error:
            await self._reread_changed(key, what)
            raise RecordChanged(f"a record of ours was changed meanwhile: {error}") from error
        except PortError:
            kept.doubtful = True
            raise
        kept.value = value
        kept.doubtful = False
        kept.uid = written["metadata"]["uid"]
        kept.version = written["metadata"]["resourceVersion"]

    async def _drop(self, shelf: dict[WorkloadKey, Kept[T]], key: WorkloadKey, what: str) -> None:
        ref = self._place(key, what)
        self._check_readable(ref, key)
        if what == "ordinals":
            self.unsent.forget(key)
        kept = shelf.get(key)
        if kept and kept.version:
            try:
                await self._cluster.delete(ref, kept.uid, kept.version)
            except Conflict:
                await self._reread_changed(key, what)
                raise
        shelf.pop(key, None)

    async def _reread_changed(self, key: WorkloadKey | None, what: str) -> None:
        """Read a record again that somebody else wrote, or a write of ours that came late."""
        try:
            await self._reread(key, what)
        finally:
            self.doubt()  # not before: a look meanwhile would judge what was remembered

    async def _reread(self, key: WorkloadKey | None, what: str) -> None:
        self._take_found(await self._cluster.get(self._place(key, what)), key, what)

    def _take_found(self, found: Json | None, key: WorkloadKey | None, what: str) -> None:
        ref = self._place(key, what)
        unread = self._unreadable.pop((ref, key), None)
        if key is not None and what == "ordinals":
            self.unsent.forget(key)  # another process may have sent them
        if found is not None:
            # By its place alone: where somebody took its labels, the next write brings them back.
            self._take(found, key, what)
        elif what != "ordinals" and unread is None and self._is_kept(key):
            self.suspected.add(ref)  # not forgotten: whoever leads knows what it said
        elif key is None:
            self._repository = Kept(RepositoryRecord())
        else:
            (self._ordinals if what == "ordinals" else self._states).pop(key, None)


_DUMPS: Mapping[str, Callable[[Any], Texts]] = {
    "state": record_codec.dump_state,
    "ordinals": record_codec.dump_ordinals,
    "repository": record_codec.dump_repository,
}
