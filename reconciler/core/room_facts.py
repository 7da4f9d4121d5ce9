"""What a room is judged by: its pod, its workload and what was heard of it, at one instant."""

from dataclasses import dataclass

from reconciler.core.reporting import is_heard
from reconciler.model.live import LivePod
from reconciler.model.rooms import BUSY_MARKS, Ears, Heard
from reconciler.model.specs import Workload


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a room is judged by. `heard` is None where it is not heard, or does not report."""

    pod: LivePod
    workload: Workload
    heard: Heard | None
    ears: Ears
    now: float

    @property
    def hears(self) -> bool:
        """Whether it is one that reports."""
        return is_heard(self.pod, self.workload) or self.heard is not None

    @property
    def recorded_busy(self) -> bool:
        """Whether it stands as busy or allocated on its pod."""
        return self.pod.mark in BUSY_MARKS

    @property
    def patience_seconds(self) -> float | None:
        """For how long a busy room that is silent is still waited for, None for ever.

        One that is marked draining for it is as busy as before, by its own last words.
        """
        limit, heard = self.workload.timeouts.silent_busy_seconds, self.heard
        busy = self.recorded_busy or (heard is not None and heard.busy)
        if limit is None or self.ears.deaf or not self.hears or not busy:
            return None
        if heard is None:
            return self.ears.since + limit - self.now if self.ears.since else None
        return heard.at + limit - self.now if heard.silent else None
