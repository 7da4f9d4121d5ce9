"""Rooms that a cluster refuses (a quota, a policy, a limit): asked for ever more seldom.

What moves in a workload has it planned anew, many times a second where people play. That may not
be another try each time.
"""

from reconciler.core import backoff
from reconciler.core.backoff import Refusals
from reconciler.model.errors import Denied, Misconfigured, PortError, Unauthenticated, Withheld
from reconciler.model.live import LiveWorkload
from reconciler.model.plans import Desired, Plan
from reconciler.model.refs import WorkloadKey


def is_verdict(error: PortError) -> bool:
    """Whether a cluster judged what it was asked for, and would so judge it again.

    Who does not know us judges nothing: when our credentials are good again rooms wait no longer.
    """
    judged = isinstance(error, Denied | Misconfigured | Withheld)
    return judged and not isinstance(error, Unauthenticated)


class RefusedRooms:
    """What was refused of whom, in this process: one that begins anew asks once."""

    def __init__(self) -> None:
        self._last: dict[WorkloadKey, Refusals] = {}

    def __contains__(self, key: WorkloadKey) -> bool:
        """Whether the last room of a workload that was asked for was refused."""
        return key in self._last

    def refused(self, key: WorkloadKey, refusal: Refusals) -> None:
        """Count one more refusal."""
        self._last[key] = backoff.after_refusal(self._last.get(key), refusal)

    def forget(self, key: WorkloadKey) -> None:
        """Begin anew: a room was made, or where it was refused is no more."""
        self._last.pop(key, None)

    def not_before(self, desired: Desired | None, live: LiveWorkload) -> float:
        """Return the Unix time before which none of these rooms is asked for, 0 for at once.

        Another revision may pass where this one did not.
        """
        last = self._last.get(desired.workload.key) if desired else None
        if last is None or desired is None or last.revision != desired.workload.revision:
            return 0.0
        return backoff.asked_not_before(last, len(live.pods))

    def told(self, plan: Plan) -> str:
        """Return what was said of the last refusal while rooms are to be made, else ""."""
        last, counts = self._last.get(plan.key), plan.counts
        made = counts.ready + counts.unready - counts.old
        return last.said if last is not None and made < counts.desired else ""
