"""Faults that a test or a demo plants per request."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import blake2b

from reconciler.sandbox import refusals, routes
from reconciler.sandbox.access import question
from reconciler.sandbox.refusals import Refused
from reconciler.sandbox.requests import Request, Response
from reconciler.sandbox.routes import Target

_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(slots=True)
class Fault:
    """What goes wrong with the requests that match.

    Attributes:
        verbs: verbs of the API (`create`, `list`, `watch`); none matches all.
        kind: a glob for the kind (`Pod`), or for kind and subresource (`Pod/eviction`).
        namespace: a glob; what has no namespace has an empty one.
        name: a glob; a list and a watch have an empty one.
        times: how many requests it strikes; None is no end of them.
        after: how many matches pass unharmed first.
        every: strikes each so-manieth match only.
        share: strikes a match with this chance, which follows from `seed`.
        status: answered instead of the real answer; 0 leaves the answer as it is.
        dropped: the connection ends without an answer.
        executed: the request takes effect although its answer is lost or an error.
        delay_seconds: how long the answer is kept back.
        stale_revisions: a read answers what was there so many revisions ago.
        cut_after: a watch ends after so many events.
        retry_after_seconds: sent with an error status.
    """

    verbs: Collection[str] = ()
    kind: str = "*"
    namespace: str = "*"
    name: str = "*"
    times: int | None = 1
    after: int = 0
    every: int = 1
    share: float = 1.0
    seed: int = 0
    status: int = 0
    message: str = "a planted fault"
    dropped: bool = False
    executed: bool = False
    delay_seconds: float = 0.0
    stale_revisions: int = 0
    cut_after: int | None = None
    retry_after_seconds: int = 0
    _met: int = 0

    def matches(self, request: Request) -> bool:
        """Tell whether a request is meant."""
        try:
            target = routes.route(request.path)
        except (routes.Unrouted, Refused):
            # No kind and no name: only what means every request means this one.
            return not self.verbs and self.kind == self.namespace == self.name == "*"
        asked = question(request, target)
        kind = target.kind.kind + (f"/{target.subresource}" if target.subresource else "")
        return (
            (not self.verbs or asked.verb in self.verbs)
            and fnmatchcase(kind, self.kind)
            and fnmatchcase(target.namespace, self.namespace)
            and (self.name == "*" or fnmatchcase(_name(request, target), self.name))
        )

    def strikes(self) -> bool:
        """Count one match, and tell whether it is struck."""
        self._met += 1
        counted = self._met - self.after
        if counted <= 0 or counted % self.every or self.times == 0:
            return False
        if self.share < 1 and self._lot() >= self.share:
            return False
        if self.times is not None:
            self.times -= 1
        return True

    def refusal(self) -> Refused:
        """Make the error of this fault."""
        reason = _REASONS.get(self.status, "")
        refused = refusals.failure(self.status, reason, self.message, {})
        if self.retry_after_seconds:
            refused.headers = (("Retry-After", str(self.retry_after_seconds)),)
        return refused

    def silence(self) -> Response:
        """Make the answer that is none; a shell that cannot hang up has an error to show."""
        return Response(503, self.message.encode(), "text/plain", dropped=True)

    def _lot(self) -> float:
        drawn = blake2b(f"{self.seed}/{self._met}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn) / 2**64


def _name(request: Request, target: Target) -> str:
    if target.name or request.method != "POST":
        return target.name
    try:
        return str(json.loads(request.body)["metadata"]["name"])
    except (ValueError, KeyError, TypeError):
        return ""  # the server makes it up, or it speaks another language than JSON


NONE = Fault(times=0)


@dataclass(slots=True)
class Faults:
    """The planted faults, first come first served; `struck` counts the requests that they met."""

    planted: list[Fault] = field(default_factory=list)
    struck: int = 0

    def plant(self, fault: Fault) -> None:
        """Add a fault."""
        self.planted.append(fault)

    def clear(self) -> None:
        """Take all faults away."""
        self.planted.clear()

    def take(self, request: Request) -> Fault:
        """Use up the first fault that means this request; NONE when none does."""
        for fault in self.planted:
            if fault.matches(request) and fault.strikes():
                if fault.times == 0:
                    self.planted.remove(fault)
                self.struck += 1
                return fault
        return NONE
