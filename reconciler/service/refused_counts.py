"""Counts that no edit could write into a head: only a commit of a person can mend that.

A try of another count says the same of them again, so they hurry none: they are left alone, and
asked for again now and then, for whoever begins to look in between.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from reconciler.model.edits import Refusal
from reconciler.model.refs import WorkloadKey

AGAIN_SECONDS = 300.0
"""The Event of a refusal is gone after an hour, unless it is told again."""


@dataclass(frozen=True, slots=True)
class RefusedCounts:
    """What was refused over `head`, by workload; asked for again at `again_at` (Unix seconds)."""

    head: tuple[str, str] = ("", "")
    refusals: Mapping[WorkloadKey, Refusal] = field(default_factory=dict)
    again_at: float = 0.0

    def has(self, key: WorkloadKey, count: int, head: tuple[str, str], now: float) -> bool:
        """Whether a count is left alone now: over another head, or as another one, it is tried.

        So it is where the clock was set back by more than such a time: nothing waits for a clock.
        """
        lasts = head == self.head and 0 < self.again_at - now <= AGAIN_SECONDS
        refusal = self.refusals.get(key)
        return lasts and refusal is not None and refusal.edit.value == count

    def only(self, keys: Collection[WorkloadKey]) -> "RefusedCounts":
        """Return what was refused of these workloads: the others' counts are wanted no more."""
        left = {key: refusal for key, refusal in self.refusals.items() if key in keys}
        return replace(self, refusals=left)


def refused_counts(head: tuple[str, str], refused: Iterable[Refusal], now: float) -> RefusedCounts:
    """Return what a try at `now` (Unix seconds) could not write over a head."""
    refusals = {refusal.edit.where: refusal for refusal in refused}
    return RefusedCounts(head, refusals, now + AGAIN_SECONDS)
