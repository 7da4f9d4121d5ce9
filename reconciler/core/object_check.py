"""Check one additional object: what may be asked for at all, and what nobody may ask for."""

from typing import Any

from reconciler.core.mistakes import MOST_MISTAKES, Mistake
from reconciler.core.object_rules import metadata_mistakes, particular_mistakes, refused_kind
from reconciler.core.pod_parts import child
from reconciler.core.schema_check import check
from reconciler.core.spec_kit import SpecKit
from reconciler.model.additional import ALLOWABLE
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Permissions


def check_object(
    body: Json, key: WorkloadKey, permissions: Permissions, kit: SpecKit, version: str
) -> list[Mistake]:
    """Return the mistakes of an object that is to stand beside the rooms of `key`.

    `version` is the Kubernetes minor version whose schemas it is held to.
    """
    refused = refused_kind(body, permissions)
    if refused is not None:
        return [refused]
    kind = body["kind"]
    found = check(kit.kind(version, ALLOWABLE[kind], kind), body)
    found.extend(metadata_mistakes(kind, child(body, "metadata"), key.namespace))
    if "status" in body:
        found.append(Mistake(("status",), "is the cluster's to write", "take it out", at_key=True))
    found.extend(particular_mistakes(kind, body, key))
    return found[:MOST_MISTAKES]


def completed(body: Json, namespace: str, labels: Json) -> Json:
    """Return a sound object as it is applied: in `namespace`, with `labels` over its own."""
    written: Json = body["metadata"]
    metadata: Json = {"name": written["name"], "namespace": namespace}
    if body["kind"] == "Namespace":
        del metadata["namespace"]
    metadata["labels"] = {**(written.get("labels") or {}), **labels}
    if written.get("annotations"):
        metadata["annotations"] = written["annotations"]
    whole = {**body, "metadata": metadata}
    subjects: Any = body.get("subjects")
    if body["kind"] == "RoleBinding" and subjects:
        whole["subjects"] = [{**each, "namespace": namespace} for each in subjects]
    return whole
