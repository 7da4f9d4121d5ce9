"""Rendered manifests to what is wanted: parsed, counts stamped, each with its digest."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from reconciler.core.budget_objects import counts_occupied, stamp_budget
from reconciler.core.ignoring import pointers_for
from reconciler.core.own_objects import ADDED, laid_under
from reconciler.model import labels
from reconciler.model.plan_objects import DesiredObject
from reconciler.model.plans import Desired
from reconciler.model.readings import Rendered
from reconciler.model.refs import Json, ref_of
from reconciler.model.specs import Workload

_BUDGET = "PodDisruptionBudget"


def build(workload: Workload, rendered: Rendered, kinds: Collection[str] = ()) -> Desired:
    """Return what is wanted of `workload`, with its additional objects that are of `kinds`.

    What it adds to ours is laid under them. Until `with_occupied` says better, every room counts
    as occupied.
    """
    allowed = [body for body in map(json.loads, workload.objects) if body["kind"] in kinds]
    added = {body["kind"]: body for body in allowed if body["kind"] in ADDED}
    bodies = [json.loads(text) for text in rendered.objects]
    ours = (
        _marked(laid_under(one, added[one["kind"]]), workload) if one["kind"] in added else one
        for one in bodies
    )
    more = (_marked(body, workload) for body in allowed if body["kind"] not in ADDED)
    metadata = json.loads(rendered.room)["metadata"]
    return Desired(
        workload,
        tuple(_object(body, workload) for body in (*ours, *more)),
        rendered.room,
        marks=labels.owned_of(metadata),
        stamps=labels.digest_of(metadata),
    )


def with_occupied(desired: Desired, total: int, occupied: int) -> Desired:
    """Return `desired` with the budget that so many occupied rooms of `total` need.

    It is the same value where the budget does not count them, or comes to the same.
    """
    workload = desired.workload
    if not counts_occupied(workload):
        return desired
    objects = tuple(
        _stamped(item, stamp_budget(item.body, workload, total, occupied))
        if item.ref.kind == _BUDGET
        else item
        for item in desired.objects
    )
    return desired if objects == desired.objects else replace(desired, objects=objects)


def with_count(desired: Desired, replicas: int) -> Desired:
    """Return `desired` with another count: what was decided and is not in Git yet."""
    workload = replace(desired.workload, replicas=replicas)
    objects = tuple(
        _stamped(item, stamp_budget(item.body, workload, replicas, replicas))
        if item.ref.kind == _BUDGET
        else item
        for item in desired.objects
    )
    return replace(desired, workload=workload, objects=objects)


def _marked(body: Json, workload: Workload) -> Json:
    """Return an object that tells which fields Git names of it, and which it leaves to others.

    What we compare is the fields that we want, so without that a field that left Git would stay,
    and one of ours that is left to others no more.
    """
    ignored = pointers_for(workload.ignore, ref_of(body))
    named = "\n".join([*sorted(_fields(body, "")), *ignored])
    metadata = body["metadata"]
    notes = metadata.get("annotations") or {}
    notes = {**notes, labels.FIELDS: hashlib.sha256(named.encode()).hexdigest()[:12]}
    return {**body, "metadata": {**metadata, "annotations": notes}}


def _fields(value: Any, path: str) -> Iterator[str]:
    yield path
    parts: Iterable[tuple[object, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for name, part in parts:
        yield from _fields(part, f"{path}/{json.dumps(name)}")


def _object(body: Json, workload: Workload) -> DesiredObject:
    if body["kind"] == _BUDGET:
        body = stamp_budget(body, workload, workload.replicas, workload.replicas)
    ref = ref_of(body)
    ignored = pointers_for(workload.ignore, ref)
    return DesiredObject(ref, body, _digest(body, ignored), ignored)


def _stamped(item: DesiredObject, body: Json) -> DesiredObject:
    if body == item.body:
        return item
    return replace(item, body=body, digest=_digest(body, item.ignored))


def _digest(body: Json, ignored: tuple[str, ...]) -> str:
    content = [body, ignored] if ignored else body
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
