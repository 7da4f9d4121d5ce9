"""The labels and annotations that are ours, and the digest that tells whether a pod has them.

A room is never compared field by field: its revision annotation and `digest_of` are all that is
looked at (DESIGN §4), for injectors and defaulting would otherwise restart fleets.
"""

import hashlib
import json
from sys import intern

from reconciler.model.refs import Json

PREFIX = "gamekeeper.dev/"

INSTANCE = PREFIX + "instance"
"""Label: which installation owns the object. Another instance's object is never ours."""
WORKLOAD = PREFIX + "workload"
"""Label: the workload's name."""
KIND = PREFIX + "kind"
"""Label: the workload's kind (Scheduler)."""
NAMESPACE = PREFIX + "namespace"
"""Label: the workload's namespace, on an object that stands in another one (state records)."""
REVISION = PREFIX + "revision"
"""Annotation: the hash of the user's template that a room was made from."""
ORDINAL = PREFIX + "ordinal"
"""Label: a room's n."""
ADOPT = PREFIX + "adopt"
"""Annotation, set by people: the instance that may take this object over."""

MANAGED_BY = "app.kubernetes.io/managed-by"
NAME = "app.kubernetes.io/name"
PART_OF = "app.kubernetes.io/part-of"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"

OWNED_LABELS = frozenset({MANAGED_BY, NAME, PART_OF})
OWNED_ANNOTATIONS = frozenset({SAFE_TO_EVICT, DO_NOT_DISRUPT})
"""Keys without our prefix that we set on rooms."""


def digest_of(metadata: Json) -> str:
    """Return a digest of the labels, annotations and finalizers of a room that we own.

    Equal for all rooms of a workload: what differs by room (ordinal) or is compared by itself
    (revision) is left out.
    """
    labels = _owned(metadata.get("labels"), OWNED_LABELS)
    annotations = _owned(metadata.get("annotations"), OWNED_ANNOTATIONS)
    finalizers = sorted(
        each for each in metadata.get("finalizers") or () if each.startswith(PREFIX)
    )
    text = json.dumps([labels, annotations, finalizers], sort_keys=True)
    return intern(hashlib.sha256(text.encode()).hexdigest()[:12])


def _owned(entries: dict[str, str] | None, others: frozenset[str]) -> dict[str, str]:
    return {
        key: value
        for key, value in (entries or {}).items()
        if (key.startswith(PREFIX) or key in others) and key not in (REVISION, ORDINAL)
    }
