"""The ways in which a request to an API server fails, each as its client hears of it.

Thirteen kinds of error: 403 by its cause, 404, 409, 410, 422, 429, 500 and 504, carried out or
not, no answer in time, a lost connection, half of an answer, and an answer that stalls.
"""

from collections.abc import Callable

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.fence import WRITES
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.errors import PortError, Unanswered
from reconciler.model.refs import Json

LONG_SECONDS = 31.0
"""Longer than a request is waited for."""
LATE_SECONDS = LONG_SECONDS + 5.0
Failure = Callable[[Call], PortError]


class NotThere(PortError):
    """Of a request that is answered 404: what it is about is there no more, or so it is told."""


def _status(status: int, body: Json | None = None, retry_after_seconds: float = 0.0) -> Failure:
    said = body or {"message": "a planted fault"}
    return lambda call: refusal(call.what, status, said, retry_after_seconds or None)


def _forbidden(message: str, **more: Json) -> Failure:
    return _status(403, {"reason": "Forbidden", "message": message, **more})


def lost(call: Call) -> PortError:
    """Return what is heard of a connection that ends before the answer."""
    return Unanswered(f"{call.what}: no answer: connection reset")


def gone(call: Call) -> PortError:
    """Return what is heard where the answer is 404."""
    return NotThere(f"{call.what}: it is not there")


def no_answer(call: Call) -> PortError:
    """Return what is heard when nobody waits any longer."""
    return Unanswered(f"{call.what}: no answer in 30 s")


def cut_short(call: Call) -> PortError:
    """Return what is heard of half an answer."""
    return Unanswered(f"{call.what}: the answer is cut short or no JSON")


NOTHING_THERE = {"kind": "Status", "reason": "NotFound", "details": {"name": "it"}, "code": 404}
ENDING = {"causes": [{"reason": "NamespaceTerminating", "message": "it goes", "field": ""}]}
NO_NAMESPACE = {"reason": "NotFound", "details": {"kind": "namespaces", "name": "arena"}}
WEBHOOK = (
    'Internal error occurred: failed calling webhook "audit.example.com": failed to call webhook: '
    'Post "https://audit.audit.svc:443/": dial tcp 10.0.0.7:443: connect: connection refused'
)
OVER_QUOTA = _forbidden("exceeded quota: compute, requested: pods=1, limited: pods=0")
REFUSED: dict[str, Failure] = {
    "403, no permission": _forbidden("User cannot do that"),
    "403, over quota": OVER_QUOTA,
    "403, its namespace goes": _forbidden("it is being terminated", details=ENDING),
    "404, its namespace is missing": _status(404, NO_NAMESPACE),
    "409": _status(409, {"reason": "Conflict", "message": "changed meanwhile"}),
    "410": _status(410),
    "422": _status(422),
    "429 and Retry-After": _status(429, retry_after_seconds=3.0),
    "500": _status(500),
    "504": _status(504),
    "connection lost": lost,
}
"""Of requests that are not carried out."""
GONE = "404, it is gone"
APPLIED: dict[str, Failure] = {
    "500, carried out": _status(500),
    "504, carried out": _status(504),
    "connection lost, carried out": lost,
}
"""Of those that are."""
STALLS = "no answer for half a minute"
LATE = "carried out when it was given up"
CUT_SHORT = "half of an answer"
CLOSED: dict[str, Failure] = {
    "a quota is full": OVER_QUOTA,
    "a webhook says no": _forbidden('admission webhook "audit.example.com" denied it: not today'),
    "a webhook is down": _status(500, {"message": WEBHOOK}),
    "a policy says no": _status(422, {"message": "ValidatingAdmissionPolicy: not today"}),
}
"""Of rooms that a namespace does not take for a while."""


READ_FAILURES = (*REFUSED, STALLS, CUT_SHORT)
WRITE_FAILURES = (*READ_FAILURES, GONE, *APPLIED, LATE)


def failures_of(call: Call) -> tuple[str, ...]:
    """Return all ways in which a request can fail."""
    return WRITE_FAILURES if call.verb in WRITES else READ_FAILURES
