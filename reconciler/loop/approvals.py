"""Approvals as objects of their own, so that RBAC says who may give one."""

from collections.abc import Collection, Mapping
from datetime import datetime

from reconciler.core.approval import Approval
from reconciler.loop.lane import Lane
from reconciler.model import labels
from reconciler.model.refs import Json, ObjectRef

APPROVAL = "approval"


def approval_prefix(instance: str) -> str:
    """Return how the names of approvals begin."""
    return f"gamekeeper-{instance}-{APPROVAL}-"


def approval_body(namespace: str, instance: str, change_hash: str, by: str) -> Json:
    """Return the object that `gamekeeper approve` creates; when it was given the server says."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "generateName": approval_prefix(instance),
            "namespace": namespace,
            "labels": {labels.INSTANCE: instance, labels.RECORD: APPROVAL},
        },
        "data": {"changeHash": change_hash, "by": by},
    }


async def read_approvals(lane: Lane) -> Mapping[str, Approval]:
    """Read the approvals that were given, by the name of their object."""
    return {
        item["metadata"]["name"]: Approval(
            change_hash=item.get("data", {}).get("changeHash", ""),
            by=item.get("data", {}).get("by", ""),
            at=datetime.fromisoformat(item["metadata"]["creationTimestamp"]).timestamp(),
        )
        for item in await _listed(lane)
    }


async def drop_approvals(lane: Lane, names: Collection[str]) -> None:
    """Delete approvals that were used up: one approval lets one change through."""
    if not names:
        return
    for item in await _listed(lane):
        metadata = item["metadata"]
        if metadata["name"] in names:
            ref = ObjectRef("v1", "ConfigMap", metadata["namespace"], metadata["name"])
            await lane.cluster.delete(ref, metadata["uid"], metadata["resourceVersion"])


async def _listed(lane: Lane) -> list[Json]:
    selector = f"{labels.INSTANCE}={lane.instance},{labels.RECORD}={APPROVAL}"
    namespace = lane.store.repository_ref.namespace
    listing = await lane.cluster.list("v1", "ConfigMap", namespace=namespace, labels=selector)
    return list(listing.items)
