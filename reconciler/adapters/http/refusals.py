"""Every way to say no: what was asked for, as a status, words for people, and when to ask again."""

import json
import math
import re

from reconciler.adapters.http.ask import TEXT, Answer
from reconciler.model.errors import Gone, NotFound, PortError, Unseen
from reconciler.room_ports import NotAdmitted, Taken, Unmade, Way

RETRY_SECONDS = 2
"""When to ask again after a 503 that does not say: a new leader is found within seconds."""

_FIXES = {
    400: "Send what the documentation of this path shows: GET /v1/openapi.json",
    401: "Read the token anew from its file: it is renewed. docs/rooms-api.md: *Who may speak*",
    403: "Use a credential that is meant for this",
    404: "Compare the names with `gamekeeper rooms`",
    405: "Use a method that the header Allow names",
    410: "Stop: a room of this name never comes back",
    413: "Send at most 16 KiB",
    429: "Wait as long as Retry-After says, then send the right credential",
    500: "This is a defect of Gamekeeper: please report the lines of its log",
    503: "Ask again after Retry-After seconds",
}


_WORD = re.compile(r"[A-Za-z]{1,20}")


class Refused(Exception):
    """A request that cannot be answered as it is; `status` is 4xx or 503."""

    def __init__(
        self, status: int, message: str, fix: str = "", retry_after_seconds: float = 0.0
    ) -> None:
        super().__init__(message)
        self.status = status
        self.fix = fix
        self.retry_after_seconds = retry_after_seconds
        self.allow = ""


def malformed(message: str) -> Refused:
    """Return the refusal of a request that says what nobody can mean."""
    return Refused(400, message)


def quoted(asked: str) -> str:
    """Return in quotes what a path or a query holds, where that is a word.

    Anything else is not said again: a credential in the wrong place would stand in an answer, and
    in the logs of every proxy that keeps answers.
    """
    return repr(asked) if _WORD.fullmatch(asked) else "of this name"


def refused(error: Exception) -> Refused:
    """Return any expected error as a refusal.

    What a cluster said stays in our log: whoever speaks for a room is told nothing of it.
    """
    if isinstance(error, Refused):
        return error
    if isinstance(error, NotAdmitted):
        return Refused(error.status, str(error), "", error.retry_after_seconds)
    if isinstance(error, Unmade):
        return Refused(
            error.status, str(error), "Git is the way: `gamekeeper status` says how it stands"
        )
    if isinstance(error, NotFound):
        return Refused(404, str(error))
    if isinstance(error, Gone):
        return Refused(410, str(error))
    if isinstance(error, PortError):
        seconds = getattr(error, "retry_after_seconds", None) or RETRY_SECONDS
        # Nobody was let in yet: neither names nor what became of them are told.
        told = str(error) if isinstance(error, Unseen) else "the cluster does not take this now"
        return Refused(503, told, "", seconds)
    return Refused(500, "something went wrong here")


def told(no: Refused, way: Way) -> Answer:
    """Return the answer that says no, in the shape of the paths that were asked."""
    headers = {}
    if no.retry_after_seconds or no.status in (429, 503):
        headers["Retry-After"] = str(max(1, math.ceil(no.retry_after_seconds or RETRY_SECONDS)))
    if no.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="rooms"'
    if no.allow:
        headers["Allow"] = no.allow
    message, fix = str(no), no.fix or _FIXES.get(no.status, _FIXES[400])
    if way == "collections":
        return Answer(no.status, f"{message}\n{fix}\n".encode(), TEXT, headers)
    shape = (
        {"success": False, "message": f"{message}. {fix}"}
        if way == "maestro"
        else {"status": no.status, "error": message, "fix": fix}
    )
    return Answer(no.status, json.dumps(shape).encode(), headers=headers)


def taken_as(status: int) -> Taken:
    """Return what became of a request that was answered like that."""
    if status < 400:
        return "taken"
    known: dict[int, Taken] = {
        401: "refused",
        403: "refused",
        404: "unknown",
        410: "gone",
        429: "limited",
        500: "unavailable",
        503: "unavailable",
    }
    return known.get(status, "malformed")
