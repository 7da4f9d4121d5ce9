"""roomOccupancy: so many rooms that a share of the match places stays free, as Maestro reckons.

    running = matches + allocated                    an allocated room will hold one match
    desired = ceil(ceil(running / (1 - readyTarget)) / matches of a room)
    rooms may go while  ceil(desired * matches of a room * readyTarget) / free <= downThreshold

where `free` are the places for matches that nobody has, of all rooms that are ready. At least one
room is wanted always: without a room no match begins, and nothing would ever be seen to grow.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.core.mistakes import Mistake
from reconciler.core.policies.policy import Ask, Facts, hears_nothing, plural
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Load, Look

DOWN_THRESHOLD = 0.99


@dataclass(frozen=True, slots=True)
class RoomOccupancy:
    """The policy `roomOccupancy {readyTarget, downThreshold}`."""

    schema: Json
    name: str = "roomOccupancy"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return that it needs reports."""
        return hears_nothing(self.name, facts)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return nothing: it reckons with what rooms report."""
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the rooms that keep `readyTarget` of the places free."""
        load, target = look.load, float(parameters["readyTarget"])
        most_taken = float(parameters.get("downThreshold", DOWN_THRESHOLD))
        running = load.matches + load.allocated
        places = _up(running / (1 - target))
        desired = max(1, _up(places / load.matches_max))
        reason = (
            f"{plural(running, 'match')} of {load.matches_max} a room and {target:.4g} of the "
            f"places free: {plural(desired, 'room')}"
        )
        wanted, free = _up(desired * load.matches_max * target), _free(load)
        may_remove = free > 0 and wanted / free <= most_taken
        if not may_remove and desired < load.replicas:
            reason += (
                f"; none goes while {wanted} wanted free places are more than {most_taken:.4g} of "
                f"the {free} that are free"
            )
        return Advice(desired, reason, may_remove=may_remove)


def _free(load: Load) -> int:
    return (load.ready + load.busy) * load.matches_max - load.matches


def _up(amount: float) -> int:
    # Rounded at 9 digits first: 1 / (1 - 0.9) is 10.000000000000002 in binary.
    return math.ceil(round(amount, 9))
