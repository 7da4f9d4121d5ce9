"""Counts that no edit could write into a head: only a commit of a person can mend that."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reconciler.model.edits import Refusal
from reconciler.model.refs import WorkloadKey

AGAIN_SECONDS = 300.0
"""What no edit can write is told again."""


@dataclass(frozen=True, slots=True)
class RefusedCounts:
    """The counts of `head`. Asked for again at `again_at` (Unix seconds), so that it is told on."""

    head: tuple[str, str] = ("", "")
    counts: Mapping[WorkloadKey, int] = field(default_factory=dict)
    again_at: float = 0.0

    def has(self, key: WorkloadKey, count: int, head: tuple[str, str], now: float) -> bool:
        """Whether a count is not to be asked for now."""
        lasts = head == self.head and 0 < self.again_at - now <= AGAIN_SECONDS
        return lasts and self.counts.get(key) == count


def refused_counts(head: tuple[str, str], refused: Iterable[Refusal], now: float) -> RefusedCounts:
    """Return what was refused over a head at `now`."""
    counts = {refusal.edit.where: refusal.edit.value for refusal in refused}
    return RefusedCounts(head, counts, now + AGAIN_SECONDS)
