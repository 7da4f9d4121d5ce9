"""What the envelope around the policies remembers, and what it decides (`core/scaling.py`)."""

from dataclasses import dataclass

from reconciler.model.scaling import Direction


@dataclass(frozen=True, slots=True)
class Advised:
    """The most that was advised (in a window downwards), or the least (upwards), from `since` on.

    `since` is in Unix seconds; a span lasts until the next one begins.
    """

    since: float
    replicas: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What was last believed of the demand, as a measure for what is told next.

    `at` is when (Unix seconds), `serving` the rooms with players then. `doubted_since` is when a
    fall was first told that nothing explains, None where none is.
    """

    at: float
    serving: int
    players: int
    doubted_since: float | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What is remembered of a workload's decisions: small, and kept on record by the caller.

    Times are Unix seconds by the API server's clock where that is known, and those of `demand` by
    the clock of who heard it; None is never. Without a past nothing is taken away for the whole
    stabilisation time: a lost record is no advice.
    """

    raised_at: float | None = None
    """When the count last went up."""
    lowered_at: float | None = None
    """When the count last went down."""
    went: Direction | None = None
    """Which way the count last went."""
    turned_at: float | None = None
    """When the count last went up after it had gone down: it does not turn down again soon."""
    highs: tuple[Advised, ...] = ()
    """What was advised within the window downwards, the earliest first; at most some 20 spans."""
    lows: tuple[Advised, ...] = ()
    """What was advised within the window upwards."""
    demand: Demand | None = None
    memory: bytes = b""
    """What the policy wants to be given back."""


GIVEN_UP = "autoscaling is switched off for this process: as Git says"
"""The reason of a decision that gives every count back to Git."""

NO_PAST = Past()
"""Nothing was decided before, or its record is lost."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How many rooms there shall be, and how that came about.

    `steps` are sentences with numbers: the policy's reason first, with what others said of it, then
    every hold, window, cool-down, limit and bound that shaped the count. `reason` has all but what
    others said: a commit tells it. `hold` says why the count could not follow
    its demand, "" when it could. `advised` is what the policy wanted, None where it could not
    tell. In `again_in_seconds` a change that waits may be allowed, None where none waits.
    `missing` says which of several policies cannot tell, "" when all can: no room goes then.
    """

    replicas: int
    reason: str
    past: Past
    steps: tuple[str, ...] = ()
    hold: str = ""
    advised: int | None = None
    again_in_seconds: float | None = None
    missing: str = ""
