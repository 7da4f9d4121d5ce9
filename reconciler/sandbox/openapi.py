"""The least of an OpenAPI document that lets kubectl leave validation to the server.

kubectl only looks whether PATCH of a kind takes `fieldValidation`; the whole document would cost
it seconds of CPU to decode.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from reconciler.sandbox import kinds
from reconciler.sandbox.kinds import Kind
from reconciler.sandbox.refusals import encode
from reconciler.sandbox.requests import Json, Request, Response

_ROOT = "/openapi/v3"
_FOREVER = (
    ("Cache-Control", "public, immutable"),
    ("Expires", "Fri, 01 Jan 2100 00:00:00 GMT"),
)


def describe(request: Request) -> Response | None:
    """Answer an OpenAPI path; None when the path is none."""
    if not request.path.startswith(_ROOT):
        return None
    if request.path == _ROOT:
        return Response(200, encode({"paths": {name: _entry(name) for name in _documents()}}))
    name = request.path.removeprefix(f"{_ROOT}/")
    document = _documents().get(name)
    if document is None:
        return None
    etag = ("Etag", f'"{_hash(document)}"')
    return Response(200, document, headers=(etag, *_FOREVER))


def _entry(name: str) -> Json:
    return {"serverRelativeURL": f"{_ROOT}/{name}?hash={_hash(_documents()[name])}"}


def _hash(document: bytes) -> str:
    return sha256(document).hexdigest()[:32].upper()


@cache
def _documents() -> dict[str, bytes]:
    found: dict[str, Json] = {}
    for kind in kinds.STORED:
        root = "apis" if kind.group else "api"
        found.setdefault(f"{root}/{kind.api_version}", {})[_path(kind, root)] = _patch(kind)
    return {name: encode({"paths": paths}) for name, paths in found.items()}


def _path(kind: Kind, root: str) -> str:
    middle = "/namespaces/{namespace}" if kind.namespaced else ""
    return f"/{root}/{kind.api_version}{middle}/{kind.plural}/{{name}}"


def _patch(kind: Kind) -> Json:
    return {
        "patch": {
            "parameters": [{"name": "fieldValidation", "in": "query"}],
            "x-kubernetes-group-version-kind": {
                "group": kind.group,
                "version": kind.version,
                "kind": kind.kind,
            },
        }
    }
