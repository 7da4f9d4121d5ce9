"""Server-side apply: a PATCH that owns what it says."""

from __future__ import annotations

from reconciler.kube import apply as ownership
from reconciler.kube.typecheck import type_problems
from reconciler.sandbox import bodies, gotext, kinds, refusals
from reconciler.sandbox.bodies import Body
from reconciler.sandbox.options import WriteOptions
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored
from reconciler.sandbox.typed import scalar_problems
from reconciler.sandbox.verbs import strategy, write
from reconciler.sandbox.verbs.update import check_revision
from reconciler.sandbox.verbs.write import Write
from reconciler.sandbox.world import Call


def apply(call: Call, options: WriteOptions) -> Response:
    """Apply a partial object as one of its managers. Raises Refused."""
    if not call.request.query.get("fieldManager"):
        cause = refusals.required("fieldManager", "is required for apply patch")
        raise refusals.invalid_options("PatchOptions", [cause])
    body = bodies.parse(call.request, call.kind)
    is_nameless = isinstance(body.value, dict) and body.value.get("metadata") is None
    value = _checked_apply(call, body)
    target = call.target
    stored = call.world.store.get(target.kind, target.namespace, target.name)
    if stored is not None and is_nameless and _owns_metadata(call, options, stored):
        # Who gives up all metadata gives up the name too.
        write.check_place(call, value)
    if stored is None and target.subresource:
        raise refusals.not_found(target.kind, target.name)
    if stored is None and value["metadata"].get("uid"):
        why = (
            f"uid mismatch: the provided object specified uid {value['metadata']['uid']}, "
            "and no existing object was found"
        )
        raise refusals.conflict(call.kind, target.name, why)
    applied = _owned(call, options, stored, value)
    if isinstance(applied, ownership.Conflicts):
        raise _conflicts(applied)
    if stored is not None:
        check_revision(call, stored, value)
    shape = call.world.shape(call.kind)
    try:
        result, _ = bodies.decode(Body(applied.object), shape, call.kind, "Ignore")
    except bodies.Undecoded as error:
        raise _unconvertible(call, value, error.alone) from error
    strategy.normalise(call.kind, result)
    write.check_place(call, result)
    settled = Write(call, options, body.duplicates, applied.managed_fields)
    if stored is None:
        return write.create(settled, result)
    return write.update(settled, stored, result)


def _owns_metadata(call: Call, options: WriteOptions, stored: Stored) -> bool:
    owners = stored.decode(call.kind)["metadata"].get("managedFields") or ()
    return any(
        (one["manager"], one["operation"]) == (options.manager, "Apply")
        and "f:metadata" in one["fieldsV1"]
        for one in owners
    )


def _owned(
    call: Call, options: WriteOptions, stored: Stored | None, value: Json
) -> ownership.Applied | ownership.Conflicts:
    schema = call.world.schema(call.kind)
    try:
        wrong = list(scalar_problems(value, schema))
        if wrong:
            told = {problem.partition(": ")[0] for problem in wrong}
            more = type_problems(value, schema)
            wrong += [problem for problem in more if problem.partition(": ")[0] not in told]
            raise ownership.BadObject("\n".join(wrong))
        return ownership.apply(
            stored.decode(call.kind) if stored else None,
            value,
            manager=options.manager,
            force=options.force,
            schema=schema,
            now=call.stamp,
            subresource=call.target.subresource,
        )
    except (ownership.BadObject, TypeError) as error:
        raise _untyped(call, value, str(error)) from error


def _unconvertible(call: Call, value: Json, why: str) -> refusals.Refused:
    metadata, kind = value["metadata"], call.kind
    what = f"{kind.group}/{kind.version}, Kind={kind.kind}"
    place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {what}"
    message = (
        f"failed to convert new object ({place}) to proper version: unable to convert "
        f"unstructured object to {what}: {why}"
    )
    return refusals.failure(500, "", message)


def _untyped(call: Call, value: Json, problems: str) -> refusals.Refused:
    metadata = value["metadata"] if isinstance(value["metadata"], dict) else {}
    lines = problems.splitlines()
    if len(lines) > 1 and not problems.startswith("errors:"):
        problems = "errors:\n  " + "\n  ".join(lines)
    named = (metadata.get(one, "") for one in ("namespace", "name"))
    place = "/".join(text if isinstance(text, str) else "" for text in named)
    where = f"({place}; {call.kind.group}/{call.kind.version}, Kind={call.kind.kind})"
    return refusals.failure(500, "", f"failed to create typed patch object {where}: {problems}")


def _checked_apply(call: Call, body: Body) -> Json:
    value = {} if body.value is None else body.value
    if not isinstance(value, dict):
        told = f"json: cannot unmarshal {gotext.json_type(value)} into Go value of type"
        why = f"error unmarshaling JSON: while decoding JSON: {told} map[string]interface {{}}"
        raise refusals.bad_request(f"error decoding YAML: {why}")
    group, _, version = str(value.get("apiVersion") or "").rpartition("/")
    kind = value.get("kind") or ""
    if not kinds.named(group, version, str(kind)):
        raise refusals.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
    if (group, value.get("kind")) != (call.kind.group, call.kind.kind):
        raise refusals.bad_request(f"invalid object type: {group}/{version}, Kind={value['kind']}")
    bodies.check_object(value, call.kind)
    if value.get("metadata") is None:
        value["metadata"] = {}
    metadata = value["metadata"]
    if not isinstance(metadata, dict):
        raise _untyped(call, value, f".metadata: expected map, got &{{{gotext.shown(metadata)}}}")
    if metadata.get("managedFields"):
        raise refusals.bad_request("metadata.managedFields must be nil")
    return value


def _conflicts(found: ownership.Conflicts) -> refusals.Refused:
    return refusals.failure(409, "Conflict", found.message, {"causes": found.causes})
