"""What an API server's refusals mean to us: HTTP status and Status object to the errors of ports.

Messages name the object, the cause and what to do. They carry no bodies: the values that a
validation message quotes may be secrets of the user's template, and webhooks and policies of
strangers say what they like.
"""

import re
from collections.abc import Callable, Iterator

from reconciler.model.errors import (
    AlreadyExists,
    Conflict,
    Denied,
    Expired,
    Misconfigured,
    PortError,
    Unanswered,
    Unauthenticated,
    Unavailable,
    Withheld,
)
from reconciler.model.masks import redact
from reconciler.model.refs import Json

_LONGEST_MESSAGE = 400
_UNASKED = re.compile("failed calling webhook")
"""Failures before anything was written."""
_QUOTED_VALUE = re.compile(
    r'(?<=\w value): (?:"(?:[^"\\]|\\.)*+(?:"|$)|[\[{](?:.*[\]}](?=[:,]|$)|.*)|[^\s:]+(?=[:,]|$))'
)
"""A value that is repeated in a message; one that nothing ends takes the rest of the line."""
_GONE_ACCOUNT = re.compile(r"serviceaccount \"[^\"]*\" not found|no API token found for service")

_UNMET = "the server rejected our request due to an error in our request"
_TERMINATING = "the namespace is being deleted; this is tried again"
_PATIENT = (
    (re.compile("status unknown for quota"), "the quota is not counted yet; this is tried again"),
    (
        re.compile("(?:exceeded|failed|insufficient) quota"),
        "raise the quota, ask for fewer rooms, or write the requests and limits that it counts",
    ),
    (_GONE_ACCOUNT, "the service account is not there yet; this is tried again"),
    (re.compile("is being terminated"), _TERMINATING),
)
"""Causes of 403 that pass by themselves, and what to tell; all others need a change of access."""


def refusal(
    what: str, status: int, body: Json, retry_after_seconds: float | None = None
) -> PortError:
    """Return the error that an answer of `status` 300 or more means for the request `what`."""
    said = _said(body)
    if status < 400:
        return Misconfigured(
            f"{what}: the server sends us elsewhere ({status}), where we do not go: check its URL"
        )
    if status in _SPECIAL:
        return _SPECIAL[status](what, said, body)
    if status == 410:
        return Expired(f"{what}: {said} (410): read everything again")
    if status in (408, 429):
        return Unavailable(f"{what}: {said} ({status}): tried again later", retry_after_seconds)
    if status == 500 and said.startswith("failed to create typed patch object"):
        return Misconfigured(f"{what}: {said} (500): correct these fields")
    if status >= 500:
        message = f"{what}: the API server failed: {said} ({status}): tried again later"
        kind = Unavailable if _UNASKED.search(said) else Unanswered
        return kind(message, retry_after_seconds)
    return Misconfigured(f"{what}: {said} ({status}): the request can never work as it is")


def is_absent(body: Json) -> bool:
    """Whether a 404 says that this object is not there, and not that its kind is unknown."""
    return body.get("reason") == "NotFound" and bool(_details(body).get("name"))


def causes(body: Json) -> Iterator[Json]:
    """Yield the causes of a Status object."""
    found = _details(body).get("causes")
    yield from (each for each in found if isinstance(each, dict)) if isinstance(found, list) else ()


def _details(body: Json) -> Json:
    # What is between us and the server may answer too, in any shape.
    details = body.get("details")
    return details if isinstance(details, dict) else {}


def _said(body: Json) -> str:
    message = str(body.get("message") or "").partition("\n")[0].strip()
    return redact(_QUOTED_VALUE.sub("", message))[:_LONGEST_MESSAGE] or "it gave no reason"


def _unauthorized(what: str, _said: str, _body: Json) -> PortError:
    return Unauthenticated(
        f"{what}: the API server does not accept our credentials (401): renew the token or the "
        "client certificate"
    )


def _forbidden(what: str, said: str, body: Json) -> PortError:
    if any(each.get("reason") == "NamespaceTerminating" for each in causes(body)):
        return Withheld(f"{what}: {said} (403): {_TERMINATING}")
    if "not yet ready to handle request" in said:
        return Unavailable(f"{what}: {said} (403): the server starts up; this is tried again")
    for pattern, advice in _PATIENT:
        if pattern.search(said):
            return Withheld(f"{what}: {said} (403): {advice}")
    if "attempting to grant RBAC permissions not currently held" in said:
        return Denied(
            f"{what}: {said} (403): a Role can give no more than Gamekeeper's own account has: "
            "take the rest out of its template, or have it granted to Gamekeeper"
        )
    return Denied(
        f"{what}: {said} (403): grant this (`gamekeeper rbac` prints what the loop needs, "
        "deploy/README.md what people do), or change what is asked for"
    )


def _not_found(what: str, said: str, body: Json) -> PortError:
    details = _details(body)
    if is_absent(body) and details.get("kind") == "namespaces":
        return Unavailable(f"{what}: {said} (404): tried again once the namespace is there")
    if is_absent(body):
        return Conflict(f"{what}: {said} (404): it went away; decide again on a fresh read")
    return Misconfigured(
        f"{what}: {said} (404): this API server does not serve that kind, or it is no API server: "
        "check the server's URL and its version"
    )


def _conflict(what: str, said: str, body: Json) -> PortError:
    if body.get("reason") == "AlreadyExists":
        return AlreadyExists(f"{what}: {said} (409)")
    fields: dict[str, list[str]] = {}
    for cause in causes(body):
        if cause.get("reason") == "FieldManagerConflict":
            owner = str(cause.get("message", "")).removeprefix("conflict with ")
            fields.setdefault(owner, []).append(str(cause.get("field", "")))
    if fields:
        owned = "; ".join(f"{owner} owns {', '.join(paths)}" for owner, paths in fields.items())
        return Conflict(
            f"{what}: fields that we want belong to others: {owned} (409): let them drop these "
            "fields, or annotate the object with gamekeeper.dev/adopt"
        )
    return Conflict(f"{what}: {said} (409): decide again on a fresh read")


def _invalid(what: str, said: str, body: Json) -> PortError:
    if said.startswith(_UNMET):
        # All that a JSON patch hears of a `test` that does not hold, or a field that is not there.
        return Conflict(f"{what}: it is not as the patch says (422): decide again on a fresh read")
    found = [f"{each['field']}: {_said(each)}" for each in causes(body) if each.get("field")]
    fields = "; ".join(found)[:_LONGEST_MESSAGE] or said
    if any(each.get("field") == "metadata.uid" for each in causes(body)):
        return Conflict(f"{what}: {fields} (422): decide again on a fresh read")
    return Misconfigured(f"{what}: {fields} (422): correct these fields")


_SPECIAL: dict[int, Callable[[str, str, Json], PortError]] = {
    401: _unauthorized,
    403: _forbidden,
    404: _not_found,
    409: _conflict,
    422: _invalid,
}
