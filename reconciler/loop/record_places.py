"""Where the records of an instance stand: a record is only what stands at its place."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from reconciler.core.brakes import released
from reconciler.core.compile import workload_from_json
from reconciler.core.namesakes import other_kinds
from reconciler.core.record_codec import (
    KNOWN,
    dump_repository,
    load_ordinals,
    load_repository,
    load_state,
)
from reconciler.core.record_versions import Texts, beyond, signed, with_beyond
from reconciler.core.sound_record import problem_of
from reconciler.loop.config import accepted_config
from reconciler.model import labels
from reconciler.model.errors import Misconfigured
from reconciler.model.records import Ordinals, RepositoryRecord, StateRecord
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, ref_of
from reconciler.model.specs import Source

T = TypeVar("T")


@dataclass(slots=True)
class Kept(Generic[T]):
    """A record as it is in the cluster; without a version it is not there yet."""

    value: T
    uid: str = ""
    version: str = ""
    doubtful: bool = False
    """Whether what stands there may be other than `value`: the next write is not left out."""
    beyond: Json = field(default_factory=dict)
    """The fields of a newer version, which each write keeps as they stand."""


def kept_of(item: Json, load: Callable[[Texts, str], T], kind: str) -> Kept[T]:
    """Return a record as it stands in the cluster; `kind` is one of `KNOWN`.

    Raises Misconfigured.
    """
    metadata, what = item["metadata"], str(ref_of(item))
    try:
        value = load(item.get("data") or {}, what)
        newer = beyond(item.get("data") or {}, KNOWN[kind], what)
    except Exception as error:
        # Who may write in our namespace may have written anything there.
        why = error if isinstance(error, ValueError) else repr(error)
        raise Misconfigured(f"{what} is no record that can be read: {why}") from error
    problem = problem_of(value)
    if problem:
        name = f"{type(value).__name__}{problem}"
        raise Misconfigured(f"{what} is no record that can be read: {name}")
    return Kept(value, metadata["uid"], metadata["resourceVersion"], beyond=newer)


def kept_ordinals(item: Json) -> Kept[Ordinals]:
    """Return an ordinal record. Raises Misconfigured."""
    return kept_of(item, load_ordinals, "ordinals")


def kept_state(item: Json, key: WorkloadKey) -> Kept[StateRecord]:
    """Return the state record of a workload. Raises Misconfigured."""

    def load(data: Texts, what: str) -> StateRecord:
        record = load_state(data, what)
        if record.accepted is not None:
            # Read now: who judges a head reads it for all workloads at once.
            found = workload_from_json(record.accepted.spec_json, Source("", 1)).key
            if found != key:
                raise ValueError(f"it holds the spec of {found}, and is the record of {key}")
            free = released(record)
            if free is not record and free.accepted is not None:
                workload_from_json(free.accepted.spec_json, Source("", 1))
        return record

    return kept_of(item, load, "state")


def kept_repository(item: Json) -> Kept[RepositoryRecord]:
    """Return the repository record; one that was written otherwise than today is written anew.

    Raises Misconfigured.
    """

    def load(data: Texts, what: str) -> RepositoryRecord:
        record = load_repository(data, what)
        accepted_config(record)
        return record

    kept = kept_of(item, load, "repository")
    texts, data = with_beyond(dump_repository(kept.value), kept.beyond), item["data"]
    kept.doubtful = any(data[name] != text for name, text in texts.items())
    return kept


@dataclass(frozen=True, slots=True)
class Places:
    """The names of records in one cluster, and the keys that they tell."""

    cluster: str
    namespace: str
    instance: str

    @property
    def repository(self) -> ObjectRef:
        """Where the repository record stands."""
        return self.at(f"gamekeeper-{self.instance}")

    def at(self, name: str) -> ObjectRef:
        """Where a record of this name stands, that of names excepted."""
        return ObjectRef("v1", "ConfigMap", self.namespace, name)

    def state(self, key: WorkloadKey) -> ObjectRef:
        """Where the state record of a workload stands."""
        # A dot, which no name has: fleet b-c in namespace a is not fleet c in namespace a-b.
        whose = f"{key.namespace}.{key.name}"
        parts = (self.instance, self.cluster, key.kind.lower(), whose)
        return self.at("-".join(("gamekeeper", *parts)))

    def ordinals(self, key: WorkloadKey) -> ObjectRef:
        """Where the ordinal record of a workload stands: beside its rooms."""
        return ObjectRef("v1", "ConfigMap", key.namespace, f"gamekeeper-{key.name}")

    def key_of(
        self, ref: ObjectRef, marks: Mapping[str, str], what: str | None
    ) -> WorkloadKey | None:
        """Return the workload whose record stands here; nobody else's labels make one."""
        kind, name = marks.get(labels.KIND, ""), marks.get(labels.WORKLOAD, "")
        start = self.state(WorkloadKey(kind, "", "")).name[:-1]
        namespace = ref.name.removeprefix(start).removesuffix(f".{name}")
        if what == "state":
            key = WorkloadKey(kind, namespace, name)
            return key if self.state(key) == ref else None
        key = WorkloadKey(kind, ref.namespace, name)
        return key if what == "ordinals" and self.ordinals(key) == ref else None

    def check_key(self, item: Json, key: WorkloadKey, rivals: Collection[WorkloadKey]) -> None:
        """Check that a record says whose it is. Raises Misconfigured.

        `rivals` are the workloads of this name and another kind that there are. Of a record that
        one of them needs nobody is told to write this one's name on it.
        """
        said, own = (item.get("data") or {}).get("key"), self._key_text(key)
        if said == own:
            return
        deleted = "Who deletes it deletes what was accepted, and which names were given"
        if not said:
            shared = rivals if self.ordinals(key) == ref_of(item) else ()
            owners = " or ".join([own, *map(self._key_text, shared)])
            raise Misconfigured(
                f"{ref_of(item)} does not say whose record it is. Write {owners} into its `key` "
                f"again. {deleted}"
            )
        again = f" Where somebody changed its `key`, write {own} there again."
        theirs = said in [self._key_text(each) for each in rivals]
        if theirs and self.ordinals(key) == ref_of(item):
            again = ""
        raise Misconfigured(
            f"{ref_of(item)} is the record of {said}, not of {own}. Where there are both, one of "
            f"them needs another name: both records have the same.{again} {deleted}"
        )

    def is_of_another_kind(
        self, item: Json, key: WorkloadKey, rivals: Collection[WorkloadKey]
    ) -> bool:
        """Whether the ordinal record that stands at a workload's place tells of another kind's.

        Two kinds of one name have one place for it. One of its two marks is enough: somebody may
        have changed the other. Where there is none of the `rivals`, whose it could be, its key
        alone counts: a label that somebody changed is no reason to leave it for ever.
        """
        marks, data = item["metadata"].get("labels") or {}, item.get("data") or {}
        if not rivals and data.get("key") == self._key_text(key):
            return False
        return any(
            data.get("key") == self._key_text(each) or marks.get(labels.KIND) == each.kind
            for each in other_kinds(key)
        )

    def body(self, ref: ObjectRef, data: Texts, key: WorkloadKey | None, what: str) -> Json:
        """Return a record as an object of the cluster."""
        marks = {labels.INSTANCE: self.instance, labels.RECORD: what}
        if key is not None:
            marks |= {labels.WORKLOAD: key.name, labels.KIND: key.kind}
            data = {**data, "key": self._key_text(key)}
        metadata = {"name": ref.name, "namespace": ref.namespace, "labels": marks}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        return {**body, "data": signed(data)}

    def _key_text(self, key: WorkloadKey) -> str:
        return f"{self.cluster}/{key.kind}/{key.namespace}/{key.name}"


def states_first(items: Sequence[Json]) -> Iterator[Json]:
    """Yield ordinal records last: whose workload is known by then is not told to be overwritten."""
    for last in (False, True):
        for item in items:
            if (item["metadata"]["labels"][labels.RECORD] == "ordinals") is last:
                yield item
