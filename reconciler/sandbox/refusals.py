"""Every way in which the sandbox says no, with the bodies of the real server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.sandbox.kinds import Kind
from reconciler.sandbox.requests import Json, Response


class Refused(Exception):
    """A request that ends in a Status of failure."""

    def __init__(self, status: Json, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(status.get("message", ""))
        self.status = status
        self.headers = headers

    def response(self) -> Response:
        """Write this refusal as an answer."""
        return Response(self.status["code"], encode(self.status), headers=self.headers)


@dataclass(frozen=True, slots=True)
class Cause:
    """One field that is wrong, and how."""

    field: str
    reason: str
    message: str

    def as_json(self) -> Json:
        """Write this cause as a Status detail."""
        return {"reason": self.reason, "message": self.message, "field": self.field}


def required(field: str, detail: str = "") -> Cause:
    """Say that a field is missing."""
    return Cause(field, "FieldValueRequired", f"Required value{': ' + detail if detail else ''}")


def invalid_value(field: str, value: object, detail: str) -> Cause:
    """Say that a value does not fit its field."""
    return Cause(field, "FieldValueInvalid", f"Invalid value: {quoted(value)}: {detail}")


def duplicate(field: str, value: object) -> Cause:
    """Say that a value stands twice."""
    return Cause(field, "FieldValueDuplicate", f"Duplicate value: {quoted(value)}")


def unsupported(field: str, value: object, known: Sequence[str]) -> Cause:
    """Say that a value is none of the known ones."""
    names = ", ".join(quoted(name) for name in known)
    text = f"Unsupported value: {quoted(value)}: supported values: {names}"
    return Cause(field, "FieldValueNotSupported", text)


def forbidden_value(field: str, detail: str) -> Cause:
    """Say that a field may not be set so."""
    return Cause(field, "FieldValueForbidden", f"Forbidden: {detail}")


def missing_value(field: str, value: object) -> Cause:
    """Say that a value refers to something that is not there."""
    return Cause(field, "FieldValueNotFound", f"Not found: {quoted(value)}")


def quoted(value: object) -> str:
    """Write a value as messages show it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def encode(value: object) -> bytes:
    """Write JSON as compactly as the server does."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


def failure(code: int, reason: str, message: str, details: Json | None = None) -> Refused:
    """Make a Status of failure; an empty reason and absent details are left out."""
    status: Json = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
    }
    if reason:
        status["reason"] = reason
    if details is not None:
        status["details"] = details
    status["code"] = code
    return Refused(status)


def subject(kind: Kind, name: str) -> Json:
    """Name an object in the details of a Status (by its plural)."""
    details: Json = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    return details | {"kind": kind.plural}


def not_found(kind: Kind, name: str) -> Refused:
    """Say that an object is not there."""
    return failure(404, "NotFound", f'{kind.resource} "{name}" not found', subject(kind, name))


def unknown_resource() -> Refused:
    """Say that a known group has no such resource."""
    return failure(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(kind: Kind, name: str, *, is_ending: bool = False) -> Refused:
    """Say that the name is taken, be it by an object on its way out."""
    intro = "object is being deleted: " if is_ending else ""
    message = f'{intro}{kind.resource} "{name}" already exists'
    return failure(409, "AlreadyExists", message, subject(kind, name))


def conflict(kind: Kind, name: str, why: str) -> Refused:
    """Say that a write was based on something that no longer holds."""
    message = f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}'
    return failure(409, "Conflict", message, subject(kind, name))


STALE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def stale(kind: Kind, name: str) -> Refused:
    """Say that the resourceVersion of a write is an old one."""
    return conflict(kind, name, STALE)


def bad_request(message: str) -> Refused:
    """Say that the request itself cannot be understood."""
    return failure(400, "BadRequest", message)


def forbidden(kind: Kind, name: str, why: str, causes: Sequence[Json] = ()) -> Refused:
    """Say that a rule of the cluster forbids the request."""
    details = subject(kind, name)
    if causes:
        details["causes"] = list(causes)
    named = f'{kind.resource} "{name}"' if name else kind.resource
    return failure(403, "Forbidden", f"{named} is forbidden: {why}", details)


def invalid(kind: Kind, name: str, causes: Sequence[Cause]) -> Refused:
    """Say which fields of an object are wrong, all of them."""
    details: Json = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    return unprocessable(
        kind.kind + (f".{kind.group}" if kind.group else ""), name, causes, details
    )


def invalid_options(kind: str, causes: Sequence[Cause]) -> Refused:
    """Say which options of a request are wrong."""
    return unprocessable(f"{kind}.meta.k8s.io", "", causes, {"group": "meta.k8s.io"})


def unprocessable(what: str, name: str, causes: Sequence[Cause], details: Json) -> Refused:
    """Write causes as a 422; the message tells equal ones once, the details each time."""
    texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    full = {
        "kind": what.split(".")[0],
        **details,
        "causes": [cause.as_json() for cause in causes],
    }
    return failure(422, "Invalid", f'{what} "{name}" is invalid: {listed}', full)


def not_processable() -> Refused:
    """Refuse a JSON patch whose test fails or whose path is missing."""
    message = "the server rejected our request due to an error in our request"
    return failure(422, "Invalid", message, {})


def expired(message: str, continue_token: str = "") -> Refused:
    """Say that the asked revision is no longer known."""
    refused = failure(410, "Expired", message)
    if continue_token:
        refused.status["metadata"] = {"continue": continue_token}
    return refused


def method_not_allowed() -> Refused:
    """Say that the resource does not know the verb."""
    message = "the server does not allow this method on the requested resource"
    return failure(405, "MethodNotAllowed", message, {})
