"""PATCH: merge, JSON and strategic-merge patches, and server-side apply."""

from __future__ import annotations

from typing import Any

from reconciler.kube import apply as ownership
from reconciler.kube import patches, strategic
from reconciler.kube.typecheck import type_problems
from reconciler.sandbox import bodies, gotext, kinds, refusals
from reconciler.sandbox.bodies import APPLY_TYPE, Body
from reconciler.sandbox.options import WriteOptions
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored
from reconciler.sandbox.typed import scalar_problems
from reconciler.sandbox.verbs import strategy, write
from reconciler.sandbox.verbs.update import check_preconditions
from reconciler.sandbox.verbs.write import Write
from reconciler.sandbox.world import Call

_JSON = "application/json-patch+json"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_KNOWN = (_JSON, _MERGE, _STRATEGIC, APPLY_TYPE)


def patch(call: Call) -> Response:
    """Patch one object by the way that the Content-Type names. Raises Refused."""
    media = bodies.media_type(call.request)
    options = call.options("PatchOptions")
    if media == APPLY_TYPE:
        return _apply(call, options)
    if media not in _KNOWN:
        message = "415: Unsupported Media Type"
        raise refusals.failure(415, "UnsupportedMediaType", message, {})
    if "force" in call.request.query:
        cause = refusals.forbidden_value("force", "may not be specified for non-apply patch")
        raise refusals.invalid_options("PatchOptions", [cause])
    stored = write.live_object(call)
    body = _parsed(call, media)
    patched = _patched(call, media, stored, body)
    try:
        _check_kind(call, media, body.value, patched)
        value, told = write.decoded(call, Body(patched, body.duplicates), options)
    except bodies.Undecoded as error:
        raise _unpatchable(media, body.value, patched, error.why) from error
    write.check_place(call, value)
    if not (isinstance(body.value, dict) and "uid" in (body.value.get("metadata") or {})):
        value["metadata"]["uid"] = stored.uid
    _check_revision(call, stored, value)
    return write.update(Write(call, options, told), stored, value)


def _parsed(call: Call, media: str) -> Body:
    intro = "" if media == _STRATEGIC else "error decoding patch: "
    ignores = call.request.query.get("fieldValidation") == "Ignore"
    try:
        body = bodies.parse_json(call.request.body)
    except bodies.Unreadable as error:
        if media == _MERGE and ignores:
            raise refusals.bad_request("Invalid JSON Patch") from error
        raise refusals.bad_request(f"{intro}{error}") from error
    wanted = list if media == _JSON else dict
    if not isinstance(body.value, wanted):
        told = f"cannot unmarshal {gotext.json_type(body.value)} into Go value of type "
        of = "[]handlers.jsonPatchOp" if media == _JSON else "map[string]interface {}"
        if media == _JSON and ignores:
            # Who ignores is not looked at strictly first, and meets another decoder.
            intro, of = "", "jsonpatch.Patch"
        raise refusals.bad_request(f"{intro}json: {told}{of}")
    if media == _JSON and not all(isinstance(operation, dict) for operation in body.value):
        raise refusals.bad_request(f"{intro}an operation is no object")
    return body


def _check_kind(call: Call, media: str, given: Any, patched: Json) -> None:
    try:
        bodies.check_object(patched, call.kind)
    except refusals.Refused as error:
        raise _unpatchable(media, given, patched, str(error)) from error


def _unpatchable(media: str, given: Any, patched: Any, why: str) -> refusals.Refused:
    shown = gotext.shown(given) if media == _STRATEGIC else refusals.quoted(patched)
    cause = refusals.invalid_value("patch", shown, why)
    refused = refusals.unprocessable("", "", [cause], {})
    refused.status["details"].pop("kind")
    return refused


def _check_revision(call: Call, stored: Stored, value: Json) -> None:
    revision = value["metadata"].get("resourceVersion", "")
    if revision and revision != str(stored.revision):
        raise refusals.stale(call.kind, stored.name)


def _patched(call: Call, media: str, stored: Stored, body: Body) -> Json:
    live = stored.decode(call.kind)
    try:
        if media == _JSON:
            result: Any = patches.json_patch(live, body.value)
        elif media == _MERGE:
            result = patches.merge_patch(live, body.value)
        else:
            schema = call.world.schema(call.kind)
            result = strategic.strategic_patch(live, body.value, schema)
    except patches.PatchFailed as error:
        raise refusals.not_processable() from error
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise refusals.bad_request(f"the patch cannot be read: {error}") from error
    if not isinstance(result, dict) or not isinstance(result.get("metadata"), dict | None):
        why = "cannot restore struct from the patched value"
        raise _unpatchable(media, body.value, result, why)
    return result


def _apply(call: Call, options: WriteOptions) -> Response:
    if not call.request.query.get("fieldManager"):
        cause = refusals.required("fieldManager", "is required for apply patch")
        raise refusals.invalid_options("PatchOptions", [cause])
    body = bodies.parse(call.request, call.kind)
    value = _checked_apply(call, body)
    target = call.target
    stored = call.world.store.get(target.kind, target.namespace, target.name)
    if stored is None and target.subresource:
        raise refusals.not_found(target.kind, target.name)
    if stored is None and value["metadata"].get("uid"):
        why = "Precondition failed: UID in precondition"
        raise refusals.conflict(call.kind, target.name, why)
    applied = _owned(call, options, stored, value)
    if isinstance(applied, ownership.Conflicts):
        raise _conflicts(applied)
    if stored is not None:
        check_preconditions(call, stored, value)
    shape = call.world.shape(call.kind)
    try:
        result, _ = bodies.decode(Body(applied.object), shape, call.kind, "Ignore")
    except bodies.Undecoded as error:
        raise _unconvertible(call, value, error.why) from error
    strategy.normalise(call.kind, result)
    write.check_place(call, result)
    settled = Write(call, options, body.duplicates, applied.managed_fields)
    if stored is None:
        return write.create(settled, result)
    return write.update(settled, stored, result)


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
        f"unstructured object to {what}: error decoding from json: {why}"
    )
    return refusals.failure(500, "", message)


def _untyped(call: Call, value: Json, problems: str) -> refusals.Refused:
    metadata = value["metadata"] if isinstance(value["metadata"], dict) else {}
    lines = problems.splitlines()
    if len(lines) > 1 and not problems.startswith("errors:"):
        problems = "errors:\n  " + "\n  ".join(lines)
    place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    where = f"({place}; {call.kind.group}/{call.kind.version}, Kind={call.kind.kind})"
    return refusals.failure(500, "", f"failed to create typed patch object {where}: {problems}")


def _checked_apply(call: Call, body: Body) -> Json:
    value = {} if body.value is None else body.value
    if not isinstance(value, dict):
        told = f"json: cannot unmarshal {gotext.json_type(value)} into Go value of type"
        why = f"error unmarshaling JSON: while decoding JSON: {told} map[string]interface {{}}"
        raise refusals.bad_request(f"error decoding YAML: {why}")
    group, _, version = str(value.get("apiVersion", "")).rpartition("/")
    if not kinds.named(group, version, str(value.get("kind", ""))):
        kind = value.get("kind", "")
        raise refusals.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
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
