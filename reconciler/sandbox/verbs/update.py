"""PUT: replace objects."""

from __future__ import annotations

from reconciler.sandbox import bodies, refusals
from reconciler.sandbox.kinds import EVENT, LEASE, NODE
from reconciler.sandbox.refusals import invalid_value
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored, key_of
from reconciler.sandbox.verbs import strategy, write
from reconciler.sandbox.verbs.write import Write
from reconciler.sandbox.world import Call


def update(call: Call) -> Response:
    """Replace one object, or its status. Raises Refused."""
    options = call.options("UpdateOptions")
    bodies.check_media(call.request)
    body = bodies.parse(call.request, call.kind)
    value, told = write.decoded(call, body, options)
    target = call.target
    stored = call.world.store.get(target.kind, target.namespace, target.name)
    with write.warned(told):
        write.check_place(call, value)
        is_new = stored is None and call.kind in (LEASE, EVENT) and not target.subresource
        if stored is None and not is_new:
            raise refusals.not_found(target.kind, target.name)
        if stored is not None:
            _check_preconditions(call, stored, value)
        elif value["metadata"].get("uid"):
            raise _another(call, value["metadata"]["uid"], "")
    if stored is None:
        return write.create(Write(call, options, told), value)
    return write.update(Write(call, options, told), stored, value)


def _check_preconditions(call: Call, stored: Stored, value: Json) -> None:
    """Compare uid and resourceVersion of a body with the live object. Raises Refused."""
    metadata, kind = value["metadata"], call.kind
    uid, revision = metadata.get("uid"), metadata.get("resourceVersion", "")
    if uid and uid != stored.uid:
        raise _another(call, uid, stored.uid)
    if revision in ("", "0"):
        if strategy.needs_revision(kind) and call.request.method == "PUT":
            cause = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
            details = refusals.subject(kind, stored.name)
            raise refusals.unprocessable(kind.resource, stored.name, [cause], details)
    elif revision != str(stored.revision):
        raise refusals.stale(kind, stored.name)


def check_revision(call: Call, stored: Stored, value: Json) -> None:
    """Compare the resourceVersion of a patched object with the live one. Raises Refused."""
    revision = value["metadata"].get("resourceVersion", "")
    if revision and revision != str(stored.revision):
        raise refusals.stale(call.kind, stored.name)


def _another(call: Call, uid: str, live_uid: str) -> refusals.Refused:
    # A dry run asks above the storage, which alone knows the prefix of its keys.
    root = "" if call.request.query.get("dryRun") else "/registry"
    target = call.target
    plural = "minions" if target.kind is NODE else target.kind.plural
    return refusals.conflict(
        target.kind,
        target.name,
        "StorageError: invalid object, Code: 4, "
        f"Key: {root}/{plural}/{key_of(target.namespace, target.name)}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, "
        f"UID in object meta: {live_uid}",
    )
