"""What happens in the rooms of a workload from one look to the next, as policies are told it."""

from dataclasses import dataclass, field

from reconciler.core.rooms import Sorted
from reconciler.model.scaling import Activity


@dataclass(slots=True)
class Following:
    """Follows the rooms of one workload. Times are Unix seconds.

    Whoever takes over does not know since when rooms are occupied: he counts from his first look,
    and calls nothing a start that was there before.
    """

    at: float | None = None
    """When it looked last."""
    begun: dict[str, float] = field(default_factory=dict)
    """Since when rooms are occupied, by uid: the earliest first."""
    asked: dict[str, float] = field(default_factory=dict)
    """When rooms that start were asked for, by uid."""
    dry: bool = False
    """Whether no room was ready at the last look: each change brings a look of its own."""

    def look(self, there: Sorted, now: float) -> Activity:
        """Return what happened since the last look, and follow on from here."""
        first, since = self.at is None, now if self.at is None else min(self.at, now)
        starts = [uid for uid in there.busy if uid not in self.begun]
        gone = [uid for uid in self.begun if uid not in there.busy]
        ends = [max(0.0, now - self.begun.pop(uid)) for uid in gone]
        self.begun.update(dict.fromkeys(starts, now))
        startups = self._startups(there, now)
        dry_seconds = now - since if self.dry else 0.0
        self.at, self.dry = now, not _has_room(there)
        return Activity(
            since=since,
            starts=() if first else (now,) * len(starts),
            ends=tuple(ends),
            begun=tuple(self.begun.values()),
            asked=tuple(sorted(self.asked.values())),
            startups=() if first else startups,
            dry_seconds=dry_seconds,
        )

    def _startups(self, there: Sorted, now: float) -> tuple[float, ...]:
        up = {pod.uid for pod in (*there.new_ready, *there.old_ready)} if self.asked else ()
        took = tuple(max(0.0, now - at) for uid, at in self.asked.items() if uid in up)
        starting = (*there.new_unready, *there.old_unready)
        self.asked = {pod.uid: pod.created_at for pod in starting if pod.uid not in there.busy}
        return took


def _has_room(there: Sorted) -> bool:
    ready = (*there.new_ready, *there.old_ready)
    return any(pod.uid not in there.busy and not pod.lapsed for pod in ready)
