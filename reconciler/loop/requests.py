"""`gamekeeper reconcile`: a person asks the loop to look now, and waits until it has.

The request is an annotation on an object of its own in our namespace, so that RBAC says who may
ask; the loop answers by writing the same value beside it, as `flux reconcile` is answered.
"""

from contextlib import suppress

from reconciler.model import labels
from reconciler.model.errors import AlreadyExists
from reconciler.model.refs import Json, ObjectRef
from reconciler.ports import Cluster

REQUEST = "request"


def request_ref(namespace: str, instance: str) -> ObjectRef:
    """Return where requests are written."""
    return ObjectRef("v1", "ConfigMap", namespace, f"gamekeeper-{instance}-{REQUEST}")


async def ask(cluster: Cluster, ref: ObjectRef, instance: str, request: str) -> None:
    """Write a request; `request` is any text that was not used before."""
    marks = {labels.REQUESTED_AT: request}
    if await cluster.get(ref) is None:
        metadata = {
            "name": ref.name,
            "namespace": ref.namespace,
            "labels": {labels.INSTANCE: instance, labels.RECORD: REQUEST},
            "annotations": marks,
        }
        # Somebody else may ask for the first time too.
        with suppress(AlreadyExists):
            await cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
            return
    await cluster.merge_patch(ref, {"metadata": {"annotations": marks}})


async def pending(cluster: Cluster, ref: ObjectRef) -> str:
    """Return the request that was not answered yet, "" when there is none."""
    marks = _annotations(await cluster.get(ref))
    request = str(marks.get(labels.REQUESTED_AT, ""))
    return request if request != marks.get(labels.HANDLED_AT) else ""


async def answer(cluster: Cluster, ref: ObjectRef, request: str) -> None:
    """Say that a request was answered."""
    await cluster.merge_patch(ref, {"metadata": {"annotations": {labels.HANDLED_AT: request}}})


def _annotations(obj: Json | None) -> Json:
    return (obj or {}).get("metadata", {}).get("annotations") or {}
