"""What resourceVersion and its companions mean on lists and watches."""

from __future__ import annotations

from reconciler.sandbox import refusals
from reconciler.sandbox.refusals import Cause
from reconciler.sandbox.requests import Request, flag

_MATCHES = ("Exact", "NotOlderThan")
LATEST = -1
_TOO_FAR_SECONDS = 3.0


class Blocked(Exception):
    """A read that waits for a revision which does not come; `delay_seconds` is the wait."""

    def __init__(self, refused: refusals.Refused) -> None:
        super().__init__(str(refused))
        self.refused = refused
        self.delay_seconds = _TOO_FAR_SECONDS


def number(request: Request) -> int:
    """Read the resourceVersion; LATEST when there is none. Raises Refused."""
    text = request.query.get("resourceVersion", "")
    if not text:
        return LATEST
    if not text.isdecimal():
        why = f'strconv.ParseUint: parsing "{text}": invalid syntax'
        message = f"resourceVersion: Invalid value: {refusals.quoted(text)}: {why}"
        if flag(request, "watch"):
            raise refusals.failure(500, "", message)
        raise refusals.bad_request(f"invalid resource version: {message}")
    return int(text)


def check_list_version(request: Request) -> None:
    """Check the combination of parameters of a list. Raises Refused."""
    query = request.query
    match, version = query.get("resourceVersionMatch", ""), query.get("resourceVersion", "")
    causes: list[Cause] = []
    if match and not version:
        detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        causes.append(refusals.forbidden_value("resourceVersionMatch", detail))
    elif match and query.get("continue"):
        detail = "resourceVersionMatch is forbidden when continue is provided"
        causes.append(refusals.forbidden_value("resourceVersionMatch", detail))
    if match and match not in _MATCHES:
        known = (*_MATCHES, "")
        causes.append(refusals.unsupported("resourceVersionMatch", match, known))
    elif match == "Exact" and version == "0":
        detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        causes.append(refusals.forbidden_value("resourceVersionMatch", detail))
    if "sendInitialEvents" in query:
        detail = "sendInitialEvents is forbidden for list"
        causes.append(refusals.forbidden_value("sendInitialEvents", detail))
    if causes:
        raise refusals.invalid_options("ListOptions", causes)


def check_no_version(request: Request) -> None:
    """Check that a page asks for no revision of its own. Raises Refused (400)."""
    if request.query.get("resourceVersion", "") not in ("", "0"):
        message = "specifying resource version is not allowed when using continue"
        raise refusals.bad_request(message)


def list_revision(request: Request, live: int) -> int:
    """Say which revision a list asks for; LATEST stands for whatever is newest.

    Raises:
        Refused: 400 for a resourceVersion that is no number.
        Blocked: for one that lies ahead.
    """
    asked = number(request)
    check_reached(asked, live)
    exact = request.query.get("resourceVersionMatch") == "Exact"
    limited = bool(request.query.get("limit")) and "resourceVersionMatch" not in request.query
    if asked > 0 and (exact or limited):
        return asked
    return LATEST


def check_reached(asked: int, live: int) -> None:
    """Check that a revision has been. Raises Blocked."""
    if asked > live:
        raise Blocked(_too_large(asked, live))


def check_watch_version(request: Request) -> None:
    """Check the combination of parameters of a watch. Raises Refused (422)."""
    query = request.query
    match = query.get("resourceVersionMatch", "")
    causes: list[Cause] = []
    if "sendInitialEvents" in query and match != "NotOlderThan":
        detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(refusals.forbidden_value("resourceVersionMatch", detail))
    elif match and "sendInitialEvents" not in query:
        detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(refusals.forbidden_value("resourceVersionMatch", detail))
    if match not in ("", "NotOlderThan"):
        causes.append(refusals.unsupported("resourceVersionMatch", match, ("NotOlderThan",)))
    if causes:
        raise refusals.invalid_options("ListOptions", causes)


def wants_initial(request: Request) -> bool | None:
    """Read sendInitialEvents; None when it is not said."""
    return flag(request, "sendInitialEvents") if "sendInitialEvents" in request.query else None


def _too_large(asked: int, live: int) -> refusals.Refused:
    message = f"Too large resource version: {asked}, current: {live}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    details = {"causes": [cause], "retryAfterSeconds": 1}
    refused = refusals.failure(504, "Timeout", f"Timeout: {message}", details)
    refused.headers = (("Retry-After", "1"),)
    return refused
