"""PATCH: merge, JSON and strategic-merge patches; server-side apply has its own module."""

from __future__ import annotations

from typing import Any

from reconciler.kube import patches, strategic
from reconciler.sandbox import bodies, gotext, refusals
from reconciler.sandbox.bodies import APPLY_TYPE, Body
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored
from reconciler.sandbox.verbs import write
from reconciler.sandbox.verbs.apply import apply
from reconciler.sandbox.verbs.update import check_revision
from reconciler.sandbox.verbs.write import Write
from reconciler.sandbox.world import Call

_JSON = "application/json-patch+json"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_NO_PATCH = "Invalid JSON Patch"
_KNOWN = (_JSON, _MERGE, _STRATEGIC, APPLY_TYPE)


def patch(call: Call) -> Response:
    """Patch one object by the way that the Content-Type names. Raises Refused."""
    media = bodies.media_type(call.request)
    if media not in _KNOWN:
        message = "415: Unsupported Media Type"
        raise refusals.failure(415, "UnsupportedMediaType", message, {})
    options = call.options("PatchOptions")
    if media == APPLY_TYPE:
        return apply(call, options)
    if "force" in call.request.query:
        cause = refusals.forbidden_value("force", "may not be specified for non-apply patch")
        raise refusals.invalid_options("PatchOptions", [cause])
    stored = write.live_object(call)
    body = _parsed(call, media)
    patched = _patched(call, media, stored, body)
    try:
        if media == _STRATEGIC:
            _stay_kind(call, patched)
        _check_kind(call, media, body.value, patched)
        value, told = write.decoded(call, Body(patched, body.duplicates), options)
    except bodies.Undecoded as error:
        raise _unpatchable(media, body.value, patched, error.why) from error
    with write.warned(told):
        write.check_place(call, value)
        check_revision(call, stored, value)
    if not (isinstance(body.value, dict) and "uid" in (body.value.get("metadata") or {})):
        value["metadata"]["uid"] = stored.uid
    return write.update(Write(call, options, told), stored, value)


def _parsed(call: Call, media: str) -> Body:
    # Who asks to ignore mistakes is not looked at strictly first, and meets another decoder.
    ignores = call.request.query.get("fieldValidation") == "Ignore"
    intro = "" if media == _STRATEGIC or (media == _JSON and ignores) else "error decoding patch: "
    try:
        body = bodies.parse_json(call.request.body)
    except bodies.Unreadable as error:
        if media == _MERGE and ignores:
            raise refusals.bad_request(_NO_PATCH) from error
        raise refusals.bad_request(f"{intro}{error}") from error
    is_null = call.request.body.strip() == b"null"
    if media == _JSON:
        return _operations(Body([]) if is_null else body, intro)
    if media == _MERGE and (is_null or (ignores and not isinstance(body.value, dict))):
        raise _unmerged(body.value)
    if not isinstance(body.value, dict):
        raise _foreign(body.value, intro, "map[string]interface {}")
    return body


def _operations(body: Body, intro: str) -> Body:
    if not isinstance(body.value, list):
        of = "[]handlers.jsonPatchOp" if intro else "jsonpatch.Patch"
        raise _foreign(body.value, intro, of)
    if None in body.value:
        raise refusals.not_processable()
    if not all(isinstance(operation, dict) for operation in body.value):
        raise refusals.bad_request(f"{intro}an operation is no object")
    return body


def _foreign(value: Any, intro: str, of: str) -> refusals.Refused:
    told = f"cannot unmarshal {gotext.json_type(value)} into Go value of type {of}"
    return refusals.bad_request(f"{intro}json: {told}")


def _unmerged(value: Any) -> refusals.Refused:
    """Refuse to merge what is no object; a list takes the place of the object."""
    if isinstance(value, list):
        why = "couldn't get version/kind; json parse error: json: cannot unmarshal array"
        return _unpatchable(_MERGE, value, value, why)
    return refusals.bad_request(_NO_PATCH)


def _stay_kind(call: Call, patched: Json) -> None:
    """Keep the kind that the path names: a strategic patch is merged into that type, come what may.

    What is no text at all stays, and is refused.
    """
    named = {"kind": call.kind.kind, "apiVersion": call.kind.api_version}
    patched |= {
        name: text for name, text in named.items() if isinstance(patched.get(name), str | None)
    }


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
    except strategic.MixedTypes as error:
        raise refusals.failure(500, "", _mixed(error)) from error
    except strategic.Keyless as error:
        shown = gotext.shown(error.item)
        message = f"map: {shown} does not contain declared merge key: {error.key}"
        raise refusals.failure(500, "", message) from error
    except patches.PatchFailed as error:
        raise refusals.not_processable() from error
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise refusals.bad_request(f"the patch cannot be read: {error}") from error
    if not isinstance(result, dict) or not isinstance(result.get("metadata"), dict | None):
        why = "cannot restore struct from the patched value"
        raise _unpatchable(media, body.value, result, why)
    return result


def _mixed(error: strategic.MixedTypes) -> str:
    shown = gotext.shown([error.live, error.patch])
    return f"list element types are not identical: {shown}"
