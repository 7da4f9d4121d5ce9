"""`spec.copyFrom`: when sources are looked at, what a copy is, and which one is to go.

A source that is missing or cannot be read takes nothing away, and keeps no room from anything.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from reconciler.core.mistakes import Mistake, shown, word
from reconciler.core.object_rules import RESERVED
from reconciler.core.pod_parts import child, entries, text
from reconciler.kube.names import label_problem, subdomain_problem
from reconciler.model import labels
from reconciler.model.copies import Copies, CopyFrom
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import ENDED_PHASES
from reconciler.model.plans import Plan, Situation
from reconciler.model.refs import Json, ObjectRef
from reconciler.model.specs import Permissions, Workload

LOOK_SECONDS = 20.0
"""When sources are looked at again at the latest: a change of one is in its copies within 30 s."""
_FRESH_SECONDS = LOOK_SECONDS / 2
"""So old a look may be that nobody looks again though the workload is planned."""
TYPES = ("Opaque", "kubernetes.io/dockerconfigjson")
"""The types of Secrets that may be copied: no service account's token, no TLS key."""
_PARTS = {"Secret": ("type", "data"), "ConfigMap": ("data", "binaryData")}
_MOST_TOLD = 3


def copies_of(spec: Json) -> tuple[CopyFrom, ...]:
    """Return what a sound spec has copied, each once."""
    found = (
        CopyFrom(each["kind"], each["namespace"], each["name"])
        for each in spec.get("copyFrom") or ()
    )
    return tuple(sorted(set(found)))


def check_copies(spec: Json, namespace: str, permissions: Permissions) -> Iterator[Mistake]:
    """Yield the mistakes of `copyFrom` that its schema cannot know of.

    `namespace` is that of the rooms.
    """
    seen: set[tuple[str, str]] = set()
    for at, each in entries(spec, "copyFrom", ("spec",)):
        copy = CopyFrom(text(each, "kind"), text(each, "namespace"), text(each, "name"))
        if copy.namespace == namespace:
            message = f"{shown(namespace)} is the namespace of the rooms itself"
            yield Mistake((*at, "namespace"), message, "take it out: it is there", "copy")
        elif _is_named(copy) and not is_allowed(copy, permissions.copy_from):
            message = f"whoever runs Gamekeeper lets nothing be copied from {shown(copy.namespace)}"
            fix = _how_allowed(copy, permissions)
            yield Mistake((*at, "namespace"), message, fix, "copy-not-allowed")
        if copy.kind == "ConfigMap" and copy.name.startswith(RESERVED):
            message = f"{shown(copy.name)} is reserved, and the copy would have that name"
            fix = "have it copied from a source of another name"
            yield Mistake((*at, "name"), message, fix, "reserved-name")
        if (copy.kind, copy.name) in seen:
            message = f"two copies would be {copy.kind} {shown(copy.name)}"
            yield Mistake((*at, "name"), message, "keep one of them", "duplicate")
        seen.add((copy.kind, copy.name))


def _is_named(copy: CopyFrom) -> bool:
    """Whether it names what can be there; what cannot, no flag takes either."""
    return not (label_problem(copy.namespace) or subdomain_problem(copy.name))


def _how_allowed(copy: CopyFrom, permissions: Permissions) -> str:
    """Say how it may be copied: no flag takes Kubernetes' namespaces, nor Gamekeeper's own."""
    elsewhere = "put it into a namespace of its own"
    if copy.namespace.startswith("kube-"):
        return f"{elsewhere}, and have that added to --copy-from-namespaces"
    added = f"have {word(copy.namespace)}/{word(copy.name)} added to --copy-from-namespaces"
    if copy.namespace in permissions.reserved_namespaces:
        return f"{added}; where Gamekeeper itself runs there, {elsewhere} first"
    return added


def is_allowed(copy: CopyFrom, allowed: Collection[str] | None) -> bool:
    """Whether the operator lets it be copied: its namespace, or it alone as NAMESPACE/NAME."""
    if allowed is None:
        return True
    return copy.namespace in allowed or f"{copy.namespace}/{copy.name}" in allowed


def with_copies(plan: Plan, situation: Situation, workload: Workload) -> Plan:
    """Return a plan with the copies that are due, and what came of the last look."""
    asked, record = workload.copy_from, situation.record
    if not asked and not record.copied:
        return plan
    looked, due = situation.looked, is_due(situation, workload)
    wanted = {each.copy_in(situation.key.namespace) for each in asked}
    dropped = tuple(ref for ref in record.copied if ref not in wanted)
    if dropped and (not situation.complete or situation.holds or _has_old(situation, workload)):
        dropped = ()
    told = looked.problems if looked.asked == asked else ()
    return replace(
        plan,
        copies=Copies(asked if due else (), dropped) if due or dropped else None,
        holds=(*plan.holds, *_holds(situation, told)),
        look_in_seconds=LOOK_SECONDS,
    )


def is_due(situation: Situation, workload: Workload | None) -> bool:
    """Whether sources are to be looked at, as nothing is known of what is asked for, or it is old.

    A plan lasts until they are: it names no time that is left.
    """
    asked, looked = workload.copy_from if workload else (), situation.looked
    old = looked.at is None or situation.elapsed - looked.at >= _FRESH_SECONDS
    return bool(asked) and (old or looked.asked != asked)


def _has_old(situation: Situation, workload: Workload) -> bool:
    """Whether a room of an older revision lives, which may read the copy when it starts again."""
    return any(
        pod.revision != workload.revision and pod.phase not in ENDED_PHASES
        for pod in situation.live.pods
    )


def _holds(situation: Situation, problems: tuple[str, ...]) -> tuple[Hold, ...]:
    if not problems:
        return ()
    more = f" and {len(problems) - _MOST_TOLD} more" if len(problems) > _MOST_TOLD else ""
    reason = "; ".join(problems[:_MOST_TOLD]) + more
    return (Hold(HoldKind.NOT_COPIED, situation.key, reason),)


def problem_of(source: Json, copy: CopyFrom) -> str:
    """Say why a source may not be copied, "" where it may."""
    kind = source.get("type") or "Opaque"
    if copy.kind == "Secret" and kind not in TYPES:
        return f"{copy.source} is of type {shown(kind)}: only {' and '.join(TYPES)} are copied"
    return ""


def taken_by(ref: ObjectRef, theirs: CopyFrom, owner: str) -> str:
    """Say that a neighbour in the same namespace has another object copied to that place."""
    return (
        f"{ref} is a copy of {theirs.source} for {owner}, and one namespace holds one of that "
        "name: have one of the two copied from a source of another name"
    )


def retyped(there: Json, body: Json, copy: CopyFrom) -> str:
    """Say that a source was made anew as another type, which no copy can follow; "" if not."""
    before, after = (each.get("type") or "Opaque" for each in (there, body))
    if copy.kind != "Secret" or before == after:
        return ""
    name, namespace = body["metadata"]["name"], body["metadata"]["namespace"]
    return (
        f"{copy.source} is of another type than its copy, and a Secret keeps its type: "
        f"kubectl delete secret {name} -n {namespace}, and the copy is made anew"
    )


def copied(source: Json, copy: CopyFrom, namespace: str, marks: Json) -> Json:
    """Return the copy of a source as it is applied; `marks` are the labels that are ours."""
    metadata = {
        "name": copy.name,
        "namespace": namespace,
        "labels": marks,
        "annotations": {labels.COPIED_FROM: f"{copy.namespace}/{copy.name}"},
    }
    parts = {part: source[part] for part in _PARTS[copy.kind] if source.get(part) is not None}
    return {"apiVersion": "v1", "kind": copy.kind, "metadata": metadata, **parts}


def is_copy(there: Json) -> bool:
    """Whether an object says that it was copied, or that people let us have it."""
    marks = child(there, "metadata", "annotations")
    return labels.COPIED_FROM in marks or labels.ADOPT in marks


def is_as_wanted(there: Json, body: Json) -> bool:
    """Whether a copy is what would be applied."""
    kind: Any = body["kind"]
    if any((there.get(part) or None) != (body.get(part) or None) for part in _PARTS[kind]):
        return False
    return all(
        child(there, "metadata", part).get(name) == value
        for part in ("labels", "annotations")
        for name, value in body["metadata"][part].items()
    )


def strays(there: Json, body: Json) -> Json:
    """Return the merge patch that takes away what a copy holds and its source does not.

    What is applied leaves keys that somebody else manages, too: one that was revoked, for one.
    """
    more = {
        part: dict.fromkeys(name for name in child(there, part) if name not in child(body, part))
        for part in ("data", "binaryData")
    }
    return {part: names for part, names in more.items() if names}
