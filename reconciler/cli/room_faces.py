"""The rooms of a workload as `status` shows them: by state, as a fleet's face, and who stays."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field

from reconciler.cli.deadlines import end_text, ends_in_seconds
from reconciler.cli.reading import counted
from reconciler.core import kept_reports, room_state
from reconciler.core.rollup import FleetHealth, Rollup, by_state, roll_up
from reconciler.core.rooms import Sorted
from reconciler.model.holds import Hold, is_untouched
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import BUSY_MARKS, RoomState, Why, players_told
from reconciler.model.specs import Workload

NOBODY = Rollup(0, FleetHealth.HEALTHY, Phase.RUNNING)
STAY = {
    Why.SCALE_IN: "fewer are wanted",
    Why.ROLLOUT: "rolling out",
    Why.LEFT_GIT: "leaving Git",
    Why.REQUEST: "asked to leave",
    Why.FAILED: "failed",
}
"""Why rooms are to leave that stay until their players have left."""


@dataclass(frozen=True, slots=True)
class RoomsFace:
    """What stands on the pods of a workload.

    `staying` counts busy rooms that are to go, `above` those of them that nobody told: they are
    above the count. `ends` is in how many seconds the first of them does so whoever plays there,
    where a deadline ends it.
    """

    states: Mapping[RoomState, int] = field(default_factory=dict)
    rollup: Rollup = NOBODY
    players: int | None = None
    staying: Mapping[Why, int] = field(default_factory=dict)
    above: int = 0
    ends: Mapping[Why, float] = field(default_factory=dict)

    @property
    def stay_lines(self) -> list[str]:
        """Say who stays, and until when."""
        return [
            f"{STAY[why]}: {counted(number, 'room')} with players "
            f"{'stays until it ends' if number == 1 else 'stay until they end'}"
            f"{self._end(why, number)}"
            for why, number in sorted(self.staying.items())
        ]

    def _end(self, why: Why, number: int) -> str:
        if why not in self.ends:
            return ""
        return f", or {'is' if number == 1 else 'the first is'} {end_text(self.ends[why])}"


NO_ROOMS = RoomsFace()


def surplus(there: Sorted, wanted: int) -> frozenset[str]:
    """Return the uids of rooms of the wanted revision that play beyond the count, told by nobody.

    Who is empty goes first.
    """
    members = (*there.new_ready, *there.new_unready)
    return frozenset([pod.uid for pod in members if pod.mark in BUSY_MARKS][wanted:])


def face_of(
    pods: Iterable[LivePod],
    spec: Workload,
    holds: Collection[Hold],
    *,
    deleting: bool,
    outdated: Container[str] = (),
    above: Container[str] = (),
    now: float = 0.0,
) -> RoomsFace:
    """Return the face of rooms of which nothing is known but what stands on their pods.

    `outdated` are the uids of those that a roll-out replaces, `above` of those above the count:
    of a Scheduler one with players is not told to leave, and stays all the same. Of one that
    is untouched nobody is to go: whatever its rooms were told before, nothing is done with them.
    `now` is Unix seconds.
    """
    rooms = [pod for pod in pods if pod.ordinal >= 0]
    kept = {pod.uid: kept_reports.heard_of(pod.kept_report) for pod in rooms}
    heard = {uid: said for uid, said in kept.items() if said is not None}
    staying: Counter[Why] = Counter()
    ends: dict[Why, float] = {}
    untold = 0
    for pod in rooms if not is_untouched(holds) else ():
        why = pod.leaving or (Why.LEFT_GIT if deleting else Why.STAYS)
        if why is Why.STAYS and pod.uid in outdated:
            why = Why.ROLLOUT
        elif why is Why.STAYS and pod.uid in above:
            why, untold = Why.SCALE_IN, untold + 1
        if pod.mark not in BUSY_MARKS or pod.terminating or why is Why.STAYS:
            continue
        staying[why] += 1
        left = ends_in_seconds(pod, spec, now)
        if left is not None:
            ends[why] = min(left, ends.get(why, left))
    return RoomsFace(
        states=by_state(room_state.judge(pod, spec, heard.get(pod.uid)) for pod in rooms),
        rollup=roll_up(rooms, heard, holds, wanted=0 if deleting else spec.replicas),
        players=players_told(heard.values()) if heard else None,
        staying=staying,
        above=untold,
        ends=ends,
    )
