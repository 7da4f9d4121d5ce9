"""What was refused of whom in this process, or failed: it is not asked for at each turn.

What moves in a workload has it planned anew, many times a second where people play. That may not
be another try each time.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from reconciler.core import refusals
from reconciler.model.errors import (
    Conflict,
    Denied,
    Misconfigured,
    PortError,
    Unauthenticated,
    Withheld,
)
from reconciler.model.plan_objects import contest_name, count_name
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.refusals import ROOMS, Refusals

NOTHING: Mapping[str, Refusals] = MappingProxyType({})


def is_verdict(error: PortError) -> bool:
    """Whether a cluster judged what it was asked for, and would so judge it again.

    Who does not know us judges nothing: when our credentials are good again nothing waits long.
    """
    judged = isinstance(error, Denied | Misconfigured | Withheld)
    return judged and not isinstance(error, Unauthenticated)


def may_last(error: PortError) -> bool:
    """Whether asking again may end alike; where somebody was faster it is decided anew."""
    return not isinstance(error, Conflict)


@dataclass(slots=True)
class Refused:
    """What was refused of whom, in this process: one that begins anew asks once."""

    _last: dict[WorkloadKey, Mapping[str, Refusals]] = field(default_factory=dict)

    def of(self, key: WorkloadKey) -> Mapping[str, Refusals]:
        """Return what was refused of a workload; another value when anything of it changes."""
        return self._last.get(key, NOTHING)

    def refused(self, key: WorkloadKey, what: str, refusal: Refusals) -> None:
        """Count one more time that it was not done."""
        known = self.of(key)
        self._last[key] = {**known, what: refusals.after(known.get(what), refusal)}

    def taken(self, key: WorkloadKey, what: str) -> None:
        """Begin anew: what was asked for was taken."""
        self._keep(key, self.of(key).keys() - {what})

    def settled(self, plan: Plan) -> None:
        """Drop what is asked for no more. Rooms that may be made again are, one at first."""
        asked = {item.ref for item in (*plan.objects, *plan.waiting)}
        contests = (contest_name(owned.ref) for owned in plan.inventory)
        named = {*map(str, asked), *map(count_name, asked)}
        self._keep(plan.key, {ROOMS, *named, *contests})

    def forget(self, key: WorkloadKey) -> None:
        """Keep nothing of a workload."""
        self._last.pop(key, None)

    def told(self, plan: Plan) -> str:
        """Return what was said of the first refusal that is in the way of a plan, else ""."""
        return refusals.told(plan, self.of(plan.key))

    def _keep(self, key: WorkloadKey, what: Collection[str]) -> None:
        kept = {name: each for name, each in self.of(key).items() if name in what}
        if kept:
            self._last[key] = kept
        else:
            self.forget(key)
