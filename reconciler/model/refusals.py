"""What a cluster refused of a workload, or failed at."""

from dataclasses import dataclass
from enum import StrEnum

ROOMS = "rooms"
"""How the rooms of a workload are named among what is refused; objects have their own names."""


class Cause(StrEnum):
    """Why it was not done: `VERDICT` by what the cluster judges, `FAILURE` where nothing was judged
    (500, no answer, it did not know us), `FOREIGN` where it is there, and somebody else's.
    """

    VERDICT = "verdict"
    FAILURE = "failure"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Refusals:
    """How often in a row it was not done, and what the cluster `said` last.

    `asked` names what was asked for and all that we see of what that is judged by: another may
    pass where this one did not. `last_at` in Unix seconds. So many `rooms` were there beside those
    that were refused then; of an object that is 0.
    """

    asked: str
    count: int
    last_at: float
    said: str
    rooms: int = 0
    cause: Cause = Cause.VERDICT

    @property
    def is_verdict(self) -> bool:
        """Whether the cluster judged it, and would so judge it again."""
        return self.cause is Cause.VERDICT
