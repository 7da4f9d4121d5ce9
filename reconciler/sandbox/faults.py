"""Faults that a test or a demo plants per request."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.sandbox import refusals
from reconciler.sandbox.refusals import Refused
from reconciler.sandbox.requests import Request, flag

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
    """What goes wrong with the requests that match; each match uses up one of `times`.

    Attributes:
        path: a part of the path; empty matches all.
        method: an HTTP method, or WATCH; empty matches all.
        after: how many matches pass unharmed first.
        status: answered instead of the real answer; 0 leaves the answer as it is.
        executed: the request takes effect although its answer is the error (a lost answer).
        delay_seconds: how long the answer is kept back.
        stale_revisions: a read answers what was there so many revisions ago.
        cut_after: a watch ends after so many events.
        retry_after_seconds: sent with an error status.
    """

    path: str = ""
    method: str = ""
    times: int = 1
    after: int = 0
    status: int = 0
    message: str = "a planted fault"
    executed: bool = False
    delay_seconds: float = 0.0
    stale_revisions: int = 0
    cut_after: int | None = None
    retry_after_seconds: int = 0

    def matches(self, request: Request) -> bool:
        """Tell whether a request is meant."""
        watching = flag(request, "watch")
        method = "WATCH" if watching and self.method == "WATCH" else request.method
        return self.path in request.path and self.method in ("", method)

    def refusal(self) -> Refused:
        """Make the error of this fault."""
        refused = refusals.failure(self.status, _REASONS.get(self.status, ""), self.message, {})
        if self.retry_after_seconds:
            refused.headers = (("Retry-After", str(self.retry_after_seconds)),)
        return refused


NONE = Fault(times=0)


@dataclass(slots=True)
class Faults:
    """The planted faults, first come first served."""

    planted: list[Fault] = field(default_factory=list)

    def plant(self, fault: Fault) -> None:
        """Add a fault."""
        self.planted.append(fault)

    def clear(self) -> None:
        """Take all faults away."""
        self.planted.clear()

    def take(self, request: Request) -> Fault:
        """Use up the first fault that means this request; NONE when none does."""
        for fault in self.planted:
            if not fault.matches(request):
                continue
            if fault.after:
                fault.after -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self.planted.remove(fault)
            return fault
        return NONE
