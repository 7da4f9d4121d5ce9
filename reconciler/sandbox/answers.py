"""Answers in the form that the client asked for: objects, tables or metadata alone."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.sandbox import refusals, tables
from reconciler.sandbox.kinds import Kind
from reconciler.sandbox.refusals import encode
from reconciler.sandbox.requests import Json, Request, Response
from reconciler.sandbox.store import Stored

_MEDIA = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_STREAMS = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
_FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class Form:
    """How objects are to be written: `as_kind` is empty, Table or PartialObjectMetadata."""

    as_kind: str = ""
    include: str = "Metadata"


def form_of(request: Request, *, of_many: bool = True) -> Form:
    """Read the Accept header. Raises Refused (406)."""
    accept = request.headers.get("accept", "") or "*/*"
    for clause in accept.split(","):
        media, *parameters = (part.strip() for part in clause.split(";"))
        if media not in ("application/json", "*/*", "application/*"):
            continue
        named = dict(part.split("=", 1) for part in parameters if "=" in part)
        wanted = named.get("as", "")
        if not wanted:
            return Form()
        if wanted not in _FORMS:
            message = f"only the following media types are accepted: {', '.join(_MEDIA)}"
            raise refusals.failure(406, "NotAcceptable", message)
        if named.get("g") == "meta.k8s.io" and named.get("v") == "v1":
            return Form(wanted, request.query.get("includeObject", "Metadata"))
    known = _MEDIA + _STREAMS if of_many else _MEDIA
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(known)}"
    raise refusals.failure(406, "NotAcceptable", message, {})


def check_form(form: Form, kind: Kind, *, is_list: bool) -> None:
    """Check that an answer can be written so. Raises Refused (406)."""
    other = "PartialObjectMetadata" if is_list else "PartialObjectMetadataList"
    if form.as_kind == other:
        go_type = f"{kind.group.split('.')[0] or 'core'}.{kind.kind}"
        is_what = f"a list (*{go_type}List)" if is_list else f"not a list (*{go_type})"
        message = f"you requested {other}, but the requested object is {is_what}"
        raise refusals.failure(406, "NotAcceptable", message)


def warnings(told: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Write warnings as headers."""
    escaped = (text.replace("\\", "\\\\").replace('"', '\\"') for text in told)
    return tuple(("Warning", f'299 - "{text}"') for text in escaped)


def one(
    request: Request,
    kind: Kind,
    stored: Stored,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (),
    *,
    now: float = 0.0,
) -> Response:
    """Answer one object."""
    form = form_of(request, of_many=False)
    check_form(form, kind, is_list=False)
    if not form.as_kind:
        body = kind.prefix + stored.text
    elif form.as_kind == "Table":
        head = {"resourceVersion": str(stored.revision)}
        body = encode(tables.table(kind, [stored], head, include=form.include, now=now))
    else:
        body = encode(tables.partial(kind, stored))
    return Response(status, body, headers=headers)


def many(kind: Kind, found: list[Stored], metadata: Json, form: Form, *, now: float) -> Response:
    """Answer a list. Raises Refused (406)."""
    check_form(form, kind, is_list=True)
    if form.as_kind == "Table":
        return Response(
            200, encode(tables.table(kind, found, metadata, include=form.include, now=now))
        )
    if form.as_kind:
        listed = [tables.partial(kind, stored) for stored in found]
        whole = {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "items": listed or None,  # as Go writes a list that nobody began
        }
        return Response(200, encode(whole))
    head = b'{"kind":"%sList","apiVersion":"%s","metadata":%s,"items":[' % (
        kind.kind.encode(),
        kind.api_version.encode(),
        encode(metadata),
    )
    return Response(200, b"".join((head, b",".join(b"{" + one.text for one in found), b"]}")))


def status_success(code: int, details: Json | None = None) -> Response:
    """Answer a Status of success."""
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details is not None:
        status["details"] = details
    else:
        status["code"] = code
    return Response(code, encode(status))
