"""What a repository may add to the objects of ours that each workload has.

Namespace, account and disruption budget come from our templates. A template of the repository of
such a kind is laid under ours: it adds what ours leaves open, and takes nothing of ours away.
"""

from collections.abc import Iterator, Mapping

from reconciler.core.ignoring import laid_over
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.pod_parts import child
from reconciler.kube import managed_fields
from reconciler.kube.fieldpaths import field
from reconciler.model import labels
from reconciler.model.refs import Json, WorkloadKey

ADDED: Mapping[str, tuple[str, ...]] = {
    "Namespace": (),
    "PodDisruptionBudget": (),
    "ServiceAccount": ("imagePullSecrets",),
}
"""What may be said of each kind, beside labels and annotations."""
_OF_EVERY_KIND = ("apiVersion", "kind", "metadata")
_KUBERNETES_OWN = ("kubernetes.io", "pod-security.kubernetes.io")
"""Prefixes of labels by which a namespace is known, and by which pods in it are judged."""


def own_mistakes(body: Json, key: WorkloadKey) -> Iterator[Mistake]:
    """Yield what may not be added to an object of ours of the workload `key`."""
    kind, metadata = body["kind"], child(body, "metadata")
    name, variable = (key.namespace, "namespace") if kind == "Namespace" else (key.name, "name")
    if metadata.get("name") != name:
        message = f"must be {shown(name)}: one is added to that is there, and no other is made"
        fix = f"write name: {{{{ workload.{variable} }}}}"
        yield Mistake(("metadata", "name"), message, fix, "name")
    for part in body:
        if part not in (*_OF_EVERY_KIND, *ADDED[kind]):
            addable = ", ".join(("labels", "annotations", *ADDED[kind]))
            message = f"is Gamekeeper's own: only {addable} may be added here"
            yield Mistake((part,), message, "take it out", "reserved-property", at_key=True)
    if kind == "Namespace":
        yield from _of_namespace(metadata, key)


def _of_namespace(metadata: Json, key: WorkloadKey) -> Iterator[Mistake]:
    if key.kind == "Fleet":
        message = "is shared by Fleets, so none of them may add to it"
        yield Mistake(("kind",), message, "add to it where it is a Scheduler's", "shared-namespace")
    for label in child(metadata, "labels"):
        if label.rpartition("/")[0] in _KUBERNETES_OWN:
            at, message = ("metadata", "labels", label), "is what the cluster judges pods by"
            yield Mistake(at, message, "take it out", "reserved-property", at_key=True)


def laid_under(ours: Json, added: Json) -> Json:
    """Return an object of ours with what was `added`; where both say something, ours stands."""
    metadata: Json = dict(ours["metadata"])
    for part in ("labels", "annotations"):
        both = {**child(added["metadata"], part), **child(metadata, part)}
        if both:
            metadata[part] = both
    more = {name: added[name] for name in ADDED[ours["kind"]] if added.get(name)}
    return {**more, **ours, "metadata": metadata}


def count_alone(ours: Json, there: Json, manager: str) -> Json:
    """Return a budget of ours with its count, and otherwise as it is `there`.

    What our field `manager` has of it stays ours; no label of others becomes it.
    """
    body = laid_over(ours, there, added_to(ours, there))
    owned = managed_fields.union(
        each.fields
        for owner, each in managed_fields.read(there).items()
        if owner.manager == manager
    )
    metadata: Json = dict(body["metadata"])
    for part in ("labels", "annotations"):
        at = (field("metadata"), field(part))
        metadata[part] = {
            name: value
            for name, value in child(metadata, part).items()
            if name in labels.OWNED_LABELS or owned.contains((*at, field(name)))
        }
    return {**body, "metadata": metadata}


def added_to(ours: Json, there: Json) -> tuple[str, ...]:
    """Return JSON pointers to the labels and annotations of an object that are not Gamekeeper's.

    Also to the mark of which fields Git names: where they are left as they are `there`, so is it.
    """
    return tuple(
        "/metadata/" + "/".join((part, name.replace("~", "~0").replace("/", "~1")))
        for part in ("labels", "annotations")
        for name in {**child(ours, "metadata", part), **child(there, "metadata", part)}
        if name not in labels.OWNED_LABELS
    )
