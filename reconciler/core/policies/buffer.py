"""buffer: empty rooms beside those that serve players, by count or as a share, as Agones reckons.

    rooms:    desired = busy + rooms
    percent:  desired = ceil(busy * 100 / (100 - percent))        the share of all that is empty

A share of nothing is nothing: with nobody playing one room is wanted, or no match would begin.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.core.mistakes import Mistake
from reconciler.core.policies.fixed_buffer import serving
from reconciler.core.policies.policy import Ask, Facts, hears_nothing, plural
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look


@dataclass(frozen=True, slots=True)
class Buffer:
    """The policy `buffer {rooms | percent}`."""

    schema: Json
    name: str = "buffer"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return that it needs reports, and one way to say how large the buffer is."""
        yield from hears_nothing(self.name, facts)
        if ("rooms" in parameters) == ("percent" in parameters):
            message = "a buffer is written as rooms or as percent, one of both"
            yield Mistake((), message, "write rooms: 5", "buffer", at_key=True)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return nothing: it reckons with what rooms report."""
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the rooms that serve players, and the buffer."""
        busy = look.load.busy
        if "rooms" in parameters:
            desired = busy + int(parameters["rooms"])
            told = f"{parameters['rooms']} empty ones"
        else:
            percent = int(parameters["percent"])
            desired = max(1, -(-busy * 100 // (100 - percent)))
            told = f"{percent}% of all empty"
        return Advice(desired, f"{serving(look.load)} and {told}: {plural(desired, 'room')}")
