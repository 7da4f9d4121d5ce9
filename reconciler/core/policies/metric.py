"""metric: the value of a Prometheus query, as Kubernetes' HPA reckons with external metrics.

    targetPerRoom:  desired = ceil(value / targetPerRoom)          the value is shared by the rooms
    target:         desired = ceil(rooms that run * value / target)   it is a level, as of a load

With `target` only rooms that run count: those that start have no part in the value yet, and would
be added once more at every look. A level is of the rooms that ran when it was told, which are
remembered until the next one: multiplied anew at each look, it would run away. Where the value is
within `tolerancePercent` of its target for the rooms there are, nothing changes. A sudden fall
takes no room until it lasts (`sudden_falls.py`), and a zero none while rooms have players.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.core.mistakes import Mistake
from reconciler.core.policies.policy import MOST_ROOMS, Ask, Facts, held, plural
from reconciler.core.policies.signals import (
    EVERY_SECONDS,
    STALE_SECONDS,
    attested,
    doubt,
    number_of,
    pace_mistakes,
)
from reconciler.core.policies.sudden_falls import doubted, follow
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look

_MADE_ZERO = re.compile(r"\bor\s+(on\s*\(\s*\)\s*)?vector\s*\(\s*0(\.0*)?\s*\)", re.IGNORECASE)
TOLERANCE_PERCENT = 10.0
"""The HPA's own."""


@dataclass(frozen=True, slots=True)
class Metric:
    """The policy `metric {query, target | targetPerRoom, tolerancePercent, everySeconds, …}`."""

    schema: Json
    name: str = "metric"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return that it needs one target, a query that measures, and answers that live long."""
        if ("target" in parameters) == ("targetPerRoom" in parameters):
            message = "a metric has a target or a targetPerRoom, one of both"
            yield Mistake((), message, "write targetPerRoom: 20", "target", at_key=True)
        if _MADE_ZERO.search(parameters["query"]):
            message = (
                "the query makes a 0 of what is not there: rooms would go by what nobody measured"
            )
            fix = "take out `or vector(0)`: where nothing is measured the count stays"
            yield Mistake(("query",), message, fix, "metric", severity=Severity.WARNING)
        yield from pace_mistakes(parameters)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return the query."""
        return (_ask(parameters),)

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the rooms that bring the value to its target."""
        ask = _ask(parameters)
        why = doubt(ask, look, float(parameters.get("staleSeconds", STALE_SECONDS)))
        if why:
            return held(look, why)
        signal = look.signals[ask.name]
        value = number_of(signal)
        if value is None:
            return held(look, f"the metric told no number to count by: {str(signal.value)[:40]}")
        tolerance = float(parameters.get("tolerancePercent", TOLERANCE_PERCENT)) / 100
        if "targetPerRoom" in parameters:
            target = float(parameters["targetPerRoom"])
            # So little that it comes to no room is a zero.
            told = follow(ask, look, value if _up(value / target) else 0.0)
            advice = _shared(value, target, tolerance, look)
        else:
            told = follow(ask, look, value)
            target = float(parameters["target"])
            advice = _levelled(value, target, tolerance, told.running, look)
        return attested(ask, look, doubted(advice, told, ask, look))


def _shared(value: float, target: float, tolerance: float, look: Look) -> Advice:
    count = look.load.replicas
    told = f"{value:.6g}, wanted {target:.6g} a room"
    if count and abs(value / (target * count) - 1) <= tolerance:
        return Advice(count, f"{told}: within {tolerance:.3g} of it, as many")
    desired = _up(value / target)
    return Advice(desired, f"{told}: {_rooms(desired, value / target)}")


def _levelled(value: float, target: float, tolerance: float, running: int, look: Look) -> Advice:
    count = look.load.replicas
    told = f"{value:.6g} of {target:.6g} in {plural(running, 'room')}"
    if running == 0:
        return Advice(max(1, count), f"{told}: no room runs that it could tell of")
    if abs(value / target - 1) <= tolerance:
        return Advice(count, f"{told}: within {tolerance:.3g} of it, as many")
    desired = max(1, _up(running * value / target))
    if value > target:
        # Rooms that start were asked for by an earlier look: they are no reason to take one away.
        desired = max(desired, min(count, look.load.members))
    return Advice(desired, f"{told}: {_rooms(desired, running * value / target)}")


def _rooms(desired: int, amount: float) -> str:
    """Write a count, or that it is not what the value comes to, but the most of all."""
    if amount > MOST_ROOMS:
        return f"more than {MOST_ROOMS:,} rooms, the most that any policy may want"
    return plural(desired, "room")


def _up(amount: float) -> int:
    return math.ceil(round(min(amount, MOST_ROOMS), 9))


def _ask(parameters: Json) -> Ask:
    every_seconds = float(parameters.get("everySeconds", EVERY_SECONDS))
    name = f"metric {parameters['query']}"
    return Ask(name, "metric", parameters["query"], every_seconds=every_seconds)
