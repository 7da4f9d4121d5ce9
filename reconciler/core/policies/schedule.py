"""schedule: counts, or policies, for times; of those that hold now the largest.

The order of the entries says nothing, so an event that is added to a week's plan can only raise
it. Where none holds, `min` is wanted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from reconciler.core.calendar import Zones
from reconciler.core.mistakes import Mistake, below
from reconciler.core.policies.nested import (
    Policies,
    advise_each,
    asks_of,
    check_policy,
    largest,
    memory_of,
)
from reconciler.core.policies.policy import Ask, Facts, plural
from reconciler.core.policies.windows import check_window, holds_at, told
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look


@dataclass(frozen=True, slots=True)
class Schedule:
    """The policy `schedule [{timeZone, days, from, to, start, end, replicas | policy}, …]`."""

    schema: Json
    policies: Policies
    zones: Zones
    name: str = "schedule"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return the mistakes of each entry."""
        for at, entry in enumerate(parameters["of"]):
            if entry is None:
                continue
            place = (at,)
            yield from (below(place, one) for one in check_window(entry, self.zones))
            yield from (below(place, one) for one in _count_mistakes(entry, facts))
            if entry.get("policy") is not None:
                yield from check_policy(entry["policy"], (*place, "policy"), self.policies, facts)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return what the policies among them have to know."""
        return asks_of(_values(parameters), self.policies)

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the largest count of what holds now."""
        # All are heard, so that each remembers what it learns while another one counts.
        values = _values(parameters)
        advices = advise_each(values, look, self.policies)
        heard = iter(advices)
        holding = []
        for entry in parameters["of"]:
            advice = _counted(entry) if entry.get("policy") is None else next(heard)
            if holds_at(entry, self.zones, look.now):
                reason = f"{told(entry, self.zones)}: {advice.reason}"
                holding.append(replace(advice, reason=reason))
        memory = memory_of(values, advices)
        if not holding:
            least = look.bounds.minimum
            reason = f"no entry holds now: min, {plural(least, 'room')}"
            return Advice(least, reason, memory=memory, ground="clock")
        return replace(largest(holding, look), memory=memory)


def _values(parameters: Json) -> list[Json]:
    return [entry["policy"] for entry in parameters["of"] if entry.get("policy") is not None]


def _counted(entry: Json) -> Advice:
    return Advice(entry["replicas"], plural(entry["replicas"], "room"), ground="clock")


def _count_mistakes(entry: Json, facts: Facts) -> Iterator[Mistake]:
    count = entry.get("replicas")
    if (count is None) == (entry.get("policy") is None):
        message = "an entry has replicas or a policy, one of both"
        yield Mistake((), message, "write replicas: 10", "schedule")
        return
    if count is not None and not facts.minimum <= count <= facts.maximum:
        message = f"{count} is outside min and max, {facts.minimum} to {facts.maximum}"
        fix = "widen them, or write a count between them"
        yield Mistake(("replicas",), message, fix, "schedule", severity=Severity.WARNING)
