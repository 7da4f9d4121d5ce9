"""What the rooms of a workload tell together: the numbers that every policy begins with."""

from collections.abc import Iterable

from reconciler.core import rollup
from reconciler.core.rooms import Sorted
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import Health, Mark
from reconciler.model.scaling import Load

MOST_UNHEARD_PERCENT = 10
"""Where more of the rooms are not heard, their numbers are no ground for taking rooms away."""


def load_of(there: Sorted, replicas: int) -> Load:
    """Return the load of sorted rooms; `replicas` is the count that is effective now.

    A room that is to leave adds no place, yet whoever still plays there is demand: they will want
    a room again.
    """
    tally = _Tally(there)
    tally.members((*there.new_ready, *there.old_ready), up=True)
    tally.members((*there.new_unready, *there.old_unready), up=False)
    gone = (*there.left, *there.failed, *there.kept, *there.terminating)
    tally.others((*there.leaving, *gone))
    return Load(
        replicas=replicas,
        ready=tally.ready,
        active=tally.active,
        occupied=tally.occupied,
        allocated=tally.allocated,
        starting=tally.starting,
        matches=tally.matches,
        matches_max=there.workload.matches_max,
        players=tally.players,
        unheard=there.unheard,
        trouble=_trouble(there),
        healthy=_healthy(there),
        crowds=tuple(tally.crowds),
        busy_heard=tally.busy_heard,
    )


class _Tally:
    """Counts rooms. Ten thousand are counted in one pass, so each costs a lookup or two."""

    def __init__(self, there: Sorted) -> None:
        self.ready = self.active = self.occupied = self.allocated = self.starting = 0
        self.matches = self.players = self.busy_heard = 0
        self.crowds: list[int] = []
        self._there = there

    def members(self, pods: Iterable[LivePod], *, up: bool) -> None:
        """Count rooms that count; those that are `up` take matches."""
        busy = self._there.busy
        for pod in pods:
            if pod.uid in busy:
                self._demand(pod)
            elif not up:
                self.starting += 1
            elif not pod.lapsed and self._is_known_free(pod):
                # One that lapsed takes nobody in, and is not on its way either.
                self.ready += 1

    def _is_known_free(self, pod: LivePod) -> bool:
        """Whether it is known that nobody plays there: silence is not emptiness."""
        if not self._there.workload.hears:
            return True
        heard = self._there.heard(pod)
        return heard is not None and not heard.silent

    def others(self, pods: Iterable[LivePod]) -> None:
        """Count whoever plays in rooms that do not count."""
        for pod in pods:
            if pod.uid in self._there.busy:
                self._demand(pod)

    def _demand(self, pod: LivePod) -> None:
        heard = self._there.heard(pod)
        if heard is not None and not heard.silent and self._there.workload.hears:
            self.busy_heard += 1
        matches = heard.matches if heard else 0
        players = heard.players if heard else 0
        if players:
            self.players += players
            self.crowds.append(players)
        if pod.mark is Mark.ALLOCATED and not matches and not players:
            self.allocated += 1
            return
        self.matches += max(1, matches)
        if 0 < matches < self._there.workload.matches_max:
            self.active += 1
        else:
            self.occupied += 1


def _trouble(there: Sorted) -> str:
    if there.ears.deaf:
        return there.ears.deaf
    members = len(there.members)
    if there.unheard and there.unheard * 100 > MOST_UNHEARD_PERCENT * members:
        # Who is to leave, or failed, may be full unheard, and counts with those that stay.
        others = (there.leaving, there.left, there.failed, there.kept, there.terminating)
        total = members + sum(map(len, others))
        return f"{there.unheard} of {total} rooms are not heard"
    return ""


def _healthy(there: Sorted) -> bool:
    heard = there.ears.rooms
    return all(
        pod.phase is Phase.RUNNING and rollup.health_of(pod, heard.get(pod.uid)) is Health.HEALTHY
        for pod in there.members
    )
