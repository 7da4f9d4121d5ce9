"""The common end of every write: admit, check, own, store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from reconciler.kube import apply as ownership
from reconciler.sandbox import admission, answers, bodies, refusals
from reconciler.sandbox.bodies import Body
from reconciler.sandbox.kinds import EVENT, NAMESPACE, POD
from reconciler.sandbox.options import WriteOptions
from reconciler.sandbox.refusals import Refused
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored, encode
from reconciler.sandbox.validate.metadata import check_metadata
from reconciler.sandbox.validate.objects import (
    check_all_metadata,
    check_event,
    check_new,
    check_object,
)
from reconciler.sandbox.validate.updates import check_identity, check_update
from reconciler.sandbox.validate.warnings import pod_warnings
from reconciler.sandbox.verbs import strategy
from reconciler.sandbox.world import Call


@dataclass(frozen=True, slots=True)
class Write:
    """One write under way; `managed` is set when server-side apply has settled ownership."""

    call: Call
    options: WriteOptions
    warnings: tuple[str, ...] = ()
    managed: list[Json] | None = None


def decoded(call: Call, body: Body, options: WriteOptions) -> tuple[Json, tuple[str, ...]]:
    """Decode a whole object and fill its defaults. Raises Refused."""
    bodies.check_object(body.value, call.kind)
    shape = call.world.shape(call.kind)
    value, told = bodies.decode(body, shape, call.kind, options.validation)
    strategy.normalise(call.kind, value)
    return value, told


def check_place(call: Call, value: Json) -> None:
    """Check that a body belongs where it was sent. Raises Refused (400)."""
    metadata, target = value["metadata"], call.target
    if target.name and not metadata.get("name"):
        why = "was undeterminable: name must be provided"
        raise refusals.bad_request(f"the name of the object ({target.name} based on URL) {why}")
    if target.name and metadata.get("name", target.name) != target.name:
        raise refusals.bad_request(
            f"the name of the object ({metadata['name']}) does not match "
            f"the name on the URL ({target.name})"
        )
    if not target.kind.namespaced:
        # What has no namespace loses the one that somebody wrote down for it.
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace", target.namespace) != target.namespace:
        raise refusals.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = target.namespace


@contextmanager
def warned(told: tuple[str, ...]) -> Iterator[None]:
    """Let a refusal carry the warnings too."""
    try:
        yield
    except Refused as refused:
        refused.headers += answers.warnings(told)
        raise


def create(write: Write, value: Json) -> Response:
    """Admit, check and store a new object. Raises Refused."""
    with warned(write.warnings):
        return _create(write, value)


def _create(write: Write, value: Json) -> Response:
    call, kind = write.call, write.call.kind
    metadata = value["metadata"]
    strategy.begin(call, value)
    name = metadata.get("name", "")
    managed = write.managed
    if managed is None:
        managed = _tracked(write, None, value)
    if kind is NAMESPACE:
        strategy.normalise(kind, value)
    admission.admit_namespace(call.world, kind, call.target.namespace, name)
    admission.admit_creation(call.world, kind, value)
    causes = _event_causes(call, value) or [*check_object(kind, value), *check_new(kind, value)]
    _refuse(call, value, causes)
    doubted = tuple(pod_warnings(value)) if kind is POD else ()
    strategy.first_status(kind, value, call.stamp)
    strategy.complete(kind, value)
    if managed:
        metadata["managedFields"] = managed
    # What is put where nothing was may carry a revision: it is no precondition then.
    # Only the storage looks at it, and a dry run does not get that far.
    is_stored = call.request.method == "POST" and not write.options.dry_run
    if metadata.get("resourceVersion", "0") not in ("", "0") and is_stored:
        message = "resourceVersion should not be set on objects to be created"
        raise refusals.failure(500, "", message)
    taken = call.world.store.get(kind, call.target.namespace, name)
    if taken is not None:
        with warned(doubted):
            raise refusals.already_exists(kind, name, is_ending=taken.ending)
    write = replace(write, warnings=(*write.warnings, *doubted))
    if write.options.dry_run:
        return _answer(write, encode(kind, value, 0), 201)
    return _answer(write, call.world.store.put(kind, value), 201)


def _event_causes(call: Call, value: Json) -> list[refusals.Cause]:
    return list(check_event(value, call.target.namespace)) if call.kind is EVENT else []


def update(write: Write, live: Stored, updated: Json) -> Response:
    """Check and store a changed object; nothing is written when nothing changed. Raises Refused."""
    with warned(write.warnings):
        return _update(write, live, updated)


def _update(write: Write, live: Stored, updated: Json) -> Response:
    call, kind = write.call, write.call.kind
    before = live.decode(kind)
    subresource = call.target.subresource
    # Owners are told of what was sent: who leaves out the finalizers of a namespace takes them
    # from their owner, though they stay.
    managed = write.managed
    if managed is None:
        managed = _tracked(write, before, updated)
    strategy.keep(kind, before, updated, subresource)
    if not subresource:
        admission.admit_update(kind, updated)
    metadata = check_metadata(updated["metadata"], of_core=False)
    whole = check_all_metadata(kind, updated) if subresource else check_object(kind, updated)
    causes = [
        *metadata,
        *check_identity(before, updated),
        *whole,
        *check_update(kind, before, updated),
    ]
    _refuse(call, updated, [*causes, *_event_causes(call, updated)])
    strategy.complete(kind, updated)
    updated["metadata"].pop("managedFields", None)
    if managed:
        updated["metadata"]["managedFields"] = managed
    updated["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
    if ownership.same_but_times(before, updated):
        return _answer(write, live, 200)
    if write.options.dry_run:
        return _answer(write, encode(kind, updated, live.revision), 200)
    if _may_go(updated):
        last = encode(kind, updated, live.revision)
        call.world.store.remove(kind, updated)
        return _answer(write, last, 200)
    return _answer(write, call.world.store.put(kind, updated), 200)


def _may_go(value: Json) -> bool:
    metadata = value["metadata"]
    return (
        bool(metadata.get("deletionTimestamp"))
        and not metadata.get("finalizers")
        and not metadata.get("deletionGracePeriodSeconds")
        and not (value.get("spec") or {}).get("finalizers")
    )


def _refuse(call: Call, value: Json, causes: list[refusals.Cause]) -> None:
    if causes:
        metadata = value["metadata"]
        raise refusals.invalid(call.kind, metadata.get("name", ""), causes)


def _tracked(write: Write, live: Json | None, updated: Json) -> list[Json]:
    call = write.call
    try:
        return ownership.track_update(
            live,
            updated,
            manager=write.options.manager,
            schema=call.world.schema(call.kind),
            now=call.stamp,
            subresource=call.target.subresource,
        )
    except ownership.BadObject:
        # A list item without its keys has no owner; validation says what is wrong with it.
        return list((live or {}).get("metadata", {}).get("managedFields", ()))


def _answer(write: Write, stored: Stored, status: int) -> Response:
    headers = answers.warnings(write.warnings)
    call = write.call
    return answers.one(call.request, call.kind, stored, status, headers, now=call.now)


def live_object(call: Call) -> Stored:
    """Find the object that a path names. Raises Refused (404)."""
    target = call.target
    stored = call.world.store.get(target.kind, target.namespace, target.name)
    if stored is None:
        raise refusals.not_found(target.kind, target.name)
    return stored
