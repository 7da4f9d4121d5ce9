"""What a tick did: outcomes of single steps, and the report of a whole tick."""

from dataclasses import dataclass, field

from reconciler.model.holds import Hold
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey


@dataclass(frozen=True, slots=True)
class Outcome:
    """One step of a plan, done or failed. `what` reads as a sentence's object (`room arena-7`).

    `error` is "" when it was done; `retry_after_seconds` is what the server asked for.
    """

    key: WorkloadKey
    verb: str
    what: str
    reason: str
    error: str = ""
    retry_after_seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether the step was carried out."""
        return not self.error


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of one workload's plan: what was done, what failed, what is held.

    `short` is whether fewer rooms were made than planned though nothing failed: plan again.
    `first_request_at` is when the first request about a room was sent, by the event loop's clock.
    """

    plan: Plan
    outcomes: tuple[Outcome, ...] = ()
    holds: tuple[Hold, ...] = ()
    short: bool = False
    first_request_at: float | None = None

    @property
    def failure(self) -> str:
        """The first step's error, "" when every step was done."""
        return next((outcome.error for outcome in self.outcomes if outcome.error), "")


@dataclass(frozen=True, slots=True)
class Report:
    """One tick of one lane over some keys, at commit `commit`."""

    cluster: str
    commit: str
    settled: tuple[Settled, ...] = field(default=())

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return any(item.outcomes for item in self.settled)
