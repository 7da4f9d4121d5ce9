"""The labels and annotations that are ours, and the digest that tells whether a pod has them.

A room is never compared field by field: its revision annotation and `digest_of` are all that is
looked at (DESIGN §4), for injectors and defaulting would otherwise restart fleets.
"""

import hashlib
import json
from functools import lru_cache
from sys import intern

from reconciler.model.refs import Json

PREFIX = "gamekeeper.dev/"

INSTANCE = PREFIX + "instance"
"""Label: which installation owns the object. Another instance's object is never ours."""
WORKLOAD = PREFIX + "workload"
"""Label: the workload's name."""
KIND = PREFIX + "kind"
"""Label: the workload's kind (Scheduler)."""
REVISION = PREFIX + "revision"
"""Annotation: the hash of the user's template that a room was made from."""
STATE = PREFIX + "state"
"""Label of a room: `model.rooms.Mark`. What a disruption budget of `mode: occupied` selects."""
LEAVING = PREFIX + "leaving"
"""Annotation of a room that is to leave: `model.rooms.Why`."""
LEAVING_SINCE = PREFIX + "leaving-since"
"""Annotation beside it: since when, Unix seconds."""
WAS_HEARD = PREFIX + "was-heard"
"""Annotation of a room that drains or failed, `true` where somebody heard it before or since."""
REPORT = PREFIX + "report"
"""Annotation: the last report of a game that reports on change only (players, state, health)."""
ADDRESS = PREFIX + "address"
"""Annotation: the public address of the node that a room runs on, for whoever reads pods."""
LEADS = PREFIX + "leads"
"""Label of our own pod that holds the Lease: what the rooms' Service selects, `true`."""
FIELDS = PREFIX + "fields"
"""Annotation of an object that a repository has a say in: a digest of which fields that names."""
COPIED_FROM = PREFIX + "copied-from"
"""Annotation of a copy: its source, as NAMESPACE/NAME."""
ADOPT = PREFIX + "adopt"
"""Annotation, set by people: the instance that may take this object over."""
SENSITIVE = PREFIX + "sensitive"
"""Annotation, set by people to `true`: the data of this object is shown nowhere."""

ORDINAL = PREFIX + "ordinal"
"""Annotation of an adopted room whose name tells no n: the n that it was given (ADR 33)."""

MANAGED_BY = "app.kubernetes.io/managed-by"
NAME = "app.kubernetes.io/name"
PART_OF = "app.kubernetes.io/part-of"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"

OWNED_LABELS = (INSTANCE, WORKLOAD, KIND, MANAGED_BY, NAME, PART_OF)
"""What we set on every room of a workload alike, and set again where it was changed."""


def owned_of(metadata: Json) -> Json:
    """Return the merge patch of metadata that sets what we own as it stands in `metadata`."""
    labels = metadata.get("labels") or {}
    return {"labels": {key: labels.get(key) for key in OWNED_LABELS}}


def digest_of(metadata: Json) -> str:
    """Return a digest of the labels of a room that we own; no finalizer is ours.

    Only known keys count: a key under our prefix that somebody else invented is theirs. What
    is compared by itself (revision, state, disruption annotations) is left out, so that all rooms
    of a workload have one digest.
    """
    labels = metadata.get("labels") or {}
    return _digest(tuple([labels.get(key) for key in OWNED_LABELS]))


@lru_cache(maxsize=4096)
def _digest(owned: tuple[str | None, ...]) -> str:
    return intern(hashlib.sha256(json.dumps(owned).encode()).hexdigest()[:12])


def field_manager(instance: str) -> str:
    """Return the name under which an instance owns fields that it applies."""
    return f"gamekeeper-{instance}"


RECORD = "gamekeeper.dev/record"
"""Label of our own ConfigMaps: `state`, `ordinals`, `repository` or `approval`."""

IN_DOUBT = "gamekeeper.dev/in-doubt"
"""Annotation on a record that was written after a write without answer: which version stood there
then. It makes a new version of what else would be none."""

JOINED = "gamekeeper.dev/joined"
"""Annotation on a namespace: which workload made rooms in it last while a delete of it might have
been under way, and when (Unix seconds). It makes a new version, which that delete does not name."""

REQUESTED_AT = "gamekeeper.dev/requested-at"
"""Annotation on the repository record: `gamekeeper reconcile` asks the loop to look now."""

HANDLED_AT = "gamekeeper.dev/handled-at"
"""Annotation on the repository record: the last request that the loop has answered."""

LOOKED_AT = "gamekeeper.dev/looked-at"
"""Annotation on the Lease: when its holder last took the tracked branch in."""

BLIND_SINCE = "gamekeeper.dev/blind-since"
BLIND_ERROR = "gamekeeper.dev/blind-error"
"""Annotations on the Lease: since when its holder cannot look at Git, and why."""

OUTBOX = "gamekeeper.dev/outbox"
"""Annotation on the Lease: how the commits of its holder fare, as JSON."""

LAST_LOOKS = "gamekeeper.dev/last-looks"
"""Annotation on the Lease: what policies that ask others came to when its holder looked last, as
JSON."""

NOTIFYING = "gamekeeper.dev/notifying"
"""Annotation on the Lease: which targets of notifications its holder does not reach, as JSON."""

TOLD = "gamekeeper.dev/told"
"""Annotation on the Lease: what people were told, as JSON. Whoever leads next goes on from there,
so it stays until it is written anew."""

ON_LEASE = frozenset({LOOKED_AT, BLIND_SINCE, BLIND_ERROR, OUTBOX, LAST_LOOKS, NOTIFYING})
"""What whoever leads writes on the Lease, and what goes with them."""
