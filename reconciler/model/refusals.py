"""What a cluster refused of a workload, or failed at."""

from dataclasses import dataclass

ROOMS = "rooms"
"""How the rooms of a workload are named among what is refused; objects have their own names."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """How often in a row it was not done, and what the cluster `said` last.

    `asked` names what was asked for and all that we see of what that is judged by: another may
    pass where this one did not. `last_at` in Unix seconds. So many `rooms` were there beside those
    that were refused then; of an object that is 0. `judged` is false where nothing was: the cluster
    failed (500, no answer), or did not know us. What is `foreign` is there, and somebody else's.
    """

    asked: str
    count: int
    last_at: float
    said: str
    rooms: int = 0
    judged: bool = True
    foreign: bool = False
