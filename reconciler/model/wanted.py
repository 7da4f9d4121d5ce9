"""What is wanted now, as one immutable snapshot: published by the repository lane, used by all."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.model.holds import Hold
from reconciler.model.plans import Desired
from reconciler.model.refs import WorkloadKey


@dataclass(frozen=True, slots=True)
class Wanted:
    """The effective state at `commit`. A lane uses the newest one it has and waits for nobody."""

    commit: str = ""
    effective: Mapping[WorkloadKey, Desired] = field(default_factory=dict)
    deleting: frozenset[WorkloadKey] = frozenset()
    holds: tuple[Hold, ...] = ()

    def holds_of(self, key: WorkloadKey) -> tuple[Hold, ...]:
        """Holds of one workload; those of the whole commit are not repeated for each."""
        return tuple(hold for hold in self.holds if hold.key == key)

    @property
    def keys(self) -> frozenset[WorkloadKey]:
        """Every workload that there is something to do about."""
        return frozenset(self.effective) | self.deleting
