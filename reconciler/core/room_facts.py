"""What a room is judged by: its pod, its workload and what was heard of it, at one instant."""

from dataclasses import dataclass

from reconciler.core import hearing
from reconciler.core.reporting import is_heard, is_recorded
from reconciler.model.live import LivePod
from reconciler.model.rooms import BUSY_MARKS, Ears, Heard, Mark
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
    def deaf(self) -> str:
        """Why rather we do not hear it, "" where nothing says so."""
        return self.ears.deaf_to(self.pod.node)

    @property
    def patience_seconds(self) -> float | None:
        """For how long a room that may be full and is silent is still waited for, None for ever.

        One that is marked draining for it is as busy as before, by its own last words.
        """
        limit, heard = self.workload.timeouts.silent_busy_seconds, self.heard
        if limit is None or self.deaf or not self.hears:
            return None
        if heard is not None:
            busy = self.recorded_busy or heard.busy
            silent = heard.silent or hearing.is_doubtful(heard, self.pod)
            return heard.at + limit - self.now if busy and silent else None
        if not self.ears.since or not (self.recorded_busy or self._is_awaited):
            return None
        begun = 0.0
        if self.pod.mark is Mark.NONE or not is_recorded(self.pod):
            begun = self.pod.seen.starting + self.workload.timeouts.initialize_seconds
        return max(self.ears.since, begun) + limit - self.now

    @property
    def _is_awaited(self) -> bool:
        """Whether it could have spoken, and nobody knows of a word: its start is over."""
        up = self.pod.ready or self.pod.lapsed
        return up and self.pod.mark in (Mark.NONE, Mark.DRAINING)
