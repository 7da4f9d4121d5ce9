"""The annotation in which client-side `kubectl apply` keeps what it applied last.

Server-side apply honours it for the manager `kubectl` alone, so that people can move from the one
to the other without conflicts.
"""

import json

from reconciler.kube import managed_fields
from reconciler.kube.comparison import compare
from reconciler.kube.fieldsets import FieldSet
from reconciler.kube.json_types import Json
from reconciler.kube.schemas import Schema

KUBECTL = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"

_MOST_ANNOTATION_BYTES = 256 * 1024


def unchanged(live: Json, schema: Schema) -> FieldSet:
    """List the fields that still are as the annotation says they were applied."""
    try:
        applied = json.loads(_annotations(live).get(ANNOTATION, ""))
    except ValueError:
        return FieldSet()
    if not isinstance(applied, dict) or applied.get("apiVersion") != live.get("apiVersion"):
        return FieldSet()
    changes = compare(applied, managed_fields.without(live), schema)
    fields = FieldSet.from_object(applied, schema, with_parents=False)
    return fields.difference(changes.written.union(changes.removed))


def restate(obj: Json, applied: Json) -> None:
    """Bring the annotation of a new object, if it has one, up to what was applied now."""
    annotations = _annotations(obj)
    if not annotations.get(ANNOTATION):
        return
    metadata = dict(applied.get("metadata") or {})
    if metadata.pop("annotations", None) is not None:
        mine = _annotations(applied)
        metadata["annotations"] = {name: mine[name] for name in mine if name != ANNOTATION}
    annotations[ANNOTATION] = _encoded({**applied, "metadata": metadata})
    if sum(len(name) + len(text) for name, text in annotations.items()) > _MOST_ANNOTATION_BYTES:
        del annotations[ANNOTATION]


def _annotations(obj: Json) -> dict[str, str]:
    annotations: dict[str, str] = (obj.get("metadata") or {}).get("annotations") or {}
    return annotations


def _encoded(obj: Json) -> str:
    """Encode as the API server does: sorted, compact, safe in HTML, with a line end."""
    text = json.dumps(obj, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text + "\n"
