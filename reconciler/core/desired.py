"""Rendered manifests to what is wanted: parsed, counts stamped, each with its digest."""

import hashlib
import json

from reconciler.core.stamp import stamp_budget
from reconciler.model import labels
from reconciler.model.plans import Desired, DesiredObject
from reconciler.model.readings import Rendered
from reconciler.model.refs import Json, ref_of
from reconciler.model.specs import Workload


def build(workload: Workload, rendered: Rendered) -> Desired:
    """Return what is wanted of `workload`."""
    metadata = json.loads(rendered.room)["metadata"]
    return Desired(
        workload,
        tuple(_object(text, workload) for text in rendered.objects),
        rendered.room,
        marks=labels.owned_of(metadata),
        stamps=labels.digest_of(metadata),
    )


def _object(text: str, workload: Workload) -> DesiredObject:
    body: Json = json.loads(text)
    if body["kind"] == "PodDisruptionBudget":
        body = stamp_budget(body, workload)
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return DesiredObject(ref_of(body), body, hashlib.sha256(canonical.encode()).hexdigest()[:16])
