"""Outcomes as they come in while a plan is settled."""

import asyncio
from dataclasses import dataclass, field

from reconciler.model.errors import PortError, Unanswered, Unavailable
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Outcome

READS = frozenset({"read", "look for"})
"""The steps that make nothing, whatever becomes of them."""


@dataclass(slots=True)
class Steps:
    """What was done, failed and held for one workload, in order."""

    key: WorkloadKey
    outcomes: list[Outcome] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    first_request_at: float | None = None
    unanswered: bool = False
    """Whether something may yet be carried out of which nobody knows what became."""

    def sends(self) -> None:
        """Note that a request about a room is sent now."""
        if self.first_request_at is None:
            self.first_request_at = asyncio.get_running_loop().time()

    def did(self, verb: str, what: str, reason: str) -> None:
        """Note a step that was carried out."""
        self.outcomes.append(Outcome(self.key, verb, what, reason))

    def failed(self, verb: str, what: str, error: PortError, reason: str = "") -> None:
        """Note a step that was not."""
        if verb not in READS:
            self.doubts(error)
        wait = error.retry_after_seconds if isinstance(error, Unavailable) else None
        self.outcomes.append(
            Outcome(self.key, verb, what, reason, f"{verb} {what}: {error}", wait or 0.0)
        )

    def doubts(self, error: PortError) -> None:
        """Note what a request met, whatever it was for, where it may be carried out yet."""
        self.unanswered |= isinstance(error, Unanswered)

    def held(self, kind: HoldKind, reason: str) -> None:
        """Note something that is not done, on purpose."""
        self.holds.append(Hold(kind, self.key, reason))
