"""Names of things: workloads (ours) and Kubernetes objects (theirs).

They are tuples: each is the key of many dictionaries, and Python hashes and compares a tuple
several times as fast as a dataclass.
"""

from typing import Any, NamedTuple

Json = dict[str, Any]
"""A JSON object. Shared ones are never mutated: copy before changing."""


class WorkloadKey(NamedTuple):
    """Which workload: the key of every lane, record, plan, budget and metric."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        inside = "" if self.namespace == self.name else f"{self.namespace}/"
        return f"{self.kind}/{inside}{self.name}"


class ObjectRef(NamedTuple):
    """Which Kubernetes object. `namespace` is empty for cluster-scoped kinds."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"


def ref_of(obj: Json) -> ObjectRef:
    """Return the ref of a Kubernetes object that carries apiVersion and kind."""
    metadata = obj.get("metadata", {})
    return ObjectRef(
        obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), metadata.get("name", "")
    )


def as_seen(obj: Json) -> Json:
    """Return what tells an object as it was read: a patch that says so fails on any other."""
    return {name: obj["metadata"][name] for name in ("uid", "resourceVersion")}


class Followed(NamedTuple):
    """What is listed and then watched of one kind: by labels, in one namespace ("" is all)."""

    api_version: str
    kind: str
    labels: str = ""
    namespace: str = ""
