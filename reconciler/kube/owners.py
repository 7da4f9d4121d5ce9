"""Which workload an object belongs to, by its labels."""

from functools import lru_cache
from sys import intern

from reconciler.model import labels
from reconciler.model.refs import Json, WorkloadKey


def key_of(obj: Json) -> WorkloadKey | None:
    """Return the workload that an object belongs to by its labels; None if it names none.

    A namespace that workloads of one kind share names only the kind: its key has no name.
    """
    metadata = obj["metadata"]
    marks = metadata.get("labels") or {}
    kind, workload = marks.get(labels.KIND), marks.get(labels.WORKLOAD, "")
    if not kind or (not workload and metadata.get("namespace")):
        return None
    return _key(kind, metadata.get("namespace") or metadata["name"], workload)


def owner_of(obj: Json, instance: str) -> WorkloadKey | None:
    """Return the workload of an instance that an object belongs to; None for what is not its own.

    An object that people gave to the instance, by an annotation, belongs to nobody yet.
    """
    marks = obj["metadata"].get("labels") or {}
    return key_of(obj) if marks.get(labels.INSTANCE) == instance else None


@lru_cache(maxsize=1 << 14)
def _key(kind: str, namespace: str, name: str) -> WorkloadKey:
    return WorkloadKey(intern(kind), intern(namespace), intern(name))
