"""fixedBuffer: the rooms that serve players, and a number of empty ones beside them.

    desired = occupied + active + allocated + amount

A room in which one of several matches runs is no part of the buffer, and no room that may go: it
counts with those that serve. Maestro's policy leaves it out, and so wants too few rooms as soon as
a room holds more than one match.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.core.mistakes import Mistake
from reconciler.core.policies.policy import Ask, Facts, hears_nothing, plural
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Load, Look


@dataclass(frozen=True, slots=True)
class FixedBuffer:
    """The policy `fixedBuffer {amount}`."""

    schema: Json
    name: str = "fixedBuffer"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return that it needs reports."""
        return hears_nothing(self.name, facts)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return nothing: it reckons with what rooms report."""
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the rooms that serve players, and `amount` more."""
        amount = int(parameters["amount"])
        desired = look.load.busy + amount
        reason = f"{serving(look.load)} and {amount} more: {plural(desired, 'room')}"
        return Advice(desired, reason)


def serving(load: Load) -> str:
    """Say which rooms serve players: `5 rooms with players (3 full, 2 partly full)`."""
    parts = [
        f"{count} {word}"
        for count, word in (
            (load.occupied, "full"),
            (load.active, "partly full"),
            (load.allocated, "allocated"),
        )
        if count
    ]
    told = f" ({', '.join(parts)})" if parts else ""
    return f"{plural(load.busy, 'room')} with players{told}"
