"""adaptive: as few spare rooms as keep nearly every match from waiting, learned from the rooms.

    desired = members + order      where ready + starting < the need until a new room would be ready
    desired = members - spare      spare: ready + due until t - need until t, the least over every t

The need until t is a quantile of what starts less what ends until then (adaptive_decision). No
history and no tuning is needed. It never wants fewer than one room ready.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.core.mistakes import Mistake
from reconciler.core.policies.policy import Ask, Facts, hears_nothing
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look

MISS_PERCENTAGE = 0.1
STARTUP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Adaptive:
    """The policy `adaptive {missPercentage, startupSeconds}`."""

    schema: Json
    name: str = "adaptive"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return that it needs reports."""
        return hears_nothing(self.name, facts)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return nothing: it reckons with what rooms report."""
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the rooms that keep the chance of a match without one below what may be."""
        # numpy takes a tenth of a second to import: a command that never decides does not wait.
        from reconciler.core.policies.adaptive_decision import Parameters, decide

        given = Parameters(
            float(parameters.get("missPercentage", MISS_PERCENTAGE)) / 100.0,
            float(parameters.get("startupSeconds", STARTUP_SECONDS)),
        )
        return decide(given, look)
