"""chain: the policy of the first entry whose time has come; where none has, the count stays."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from reconciler.core.calendar import Zones
from reconciler.core.mistakes import Mistake, below
from reconciler.core.policies.nested import (
    Policies,
    advise_each,
    asks_of,
    check_policy,
    memory_of,
)
from reconciler.core.policies.policy import Ask, Facts, held
from reconciler.core.policies.windows import check_window, holds_at, is_limited, told
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look


@dataclass(frozen=True, slots=True)
class Chain:
    """The policy `chain [{timeZone, days, from, to, start, end, policy}, …]`."""

    schema: Json
    policies: Policies
    zones: Zones
    name: str = "chain"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return the mistakes of each entry, and which never get their turn."""
        always = None
        for at, entry in enumerate(parameters["of"]):
            if entry is None:
                continue
            place = (at,)
            yield from (below(place, one) for one in check_window(entry, self.zones))
            yield from check_policy(entry["policy"], (*place, "policy"), self.policies, facts)
            if always is not None:
                message = f"never gets its turn: entry {always + 1} holds always"
                fix = "move it up, or say when the other one holds"
                yield Mistake(place, message, fix, "chain", severity=Severity.WARNING)
            elif not is_limited(entry):
                always = at

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return what each of them has to know."""
        return asks_of(_values(parameters), self.policies)

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the advice of the first entry that holds now."""
        # All are heard, so that each remembers what it learns while another one counts.
        values = _values(parameters)
        advices = advise_each(values, look, self.policies)
        memory = memory_of(values, advices)
        for entry, advice in zip(parameters["of"], advices, strict=True):
            if holds_at(entry, self.zones, look.now):
                when = told(entry, self.zones) if is_limited(entry) else "always"
                reason, hold = f"{when}: {advice.reason}", advice.hold and f"{when}: {advice.hold}"
                missing = advice.missing and f"{when}: {advice.missing}"
                return replace(advice, reason=reason, hold=hold, missing=missing, memory=memory)
        return replace(held(look, "no entry of the chain holds now"), memory=memory)


def _values(parameters: Json) -> list[Json]:
    return [entry["policy"] for entry in parameters["of"]]
