"""Policies inside policies: how one is checked, asked and heard, and which of several counts.

A policy is written as a map of one key, wherever it stands: `{fixedBuffer: {amount: 5}}`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reconciler.core.mistakes import Mistake, below, likely, shown, word
from reconciler.core.places import Path
from reconciler.core.policies import nested_memory
from reconciler.core.policies.policy import (
    Ask,
    Facts,
    Policy,
    held,
    is_ask,
    parameters_of,
    policy_of,
)
from reconciler.core.scaling_holds import sound
from reconciler.core.schema_check import check
from reconciler.core.schemas import validator_of
from reconciler.model.printable import escaped
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Ground, Look, PolicySpec

Policies = Mapping[str, Policy]

MOST_MEMORY_BYTES = 128 * 1024
"""What a workload's policy may remember: all of it stands in the state record, a third longer."""
_MOST_REASON = 1000
_GROUNDS: tuple[Ground, ...] = ("rooms", "others", "clock")
"""What needs most to be believed comes first."""


def check_policy(value: Any, at: Path, policies: Policies, facts: Facts) -> Iterator[Mistake]:
    """Yield what is wrong with a policy that stands at `at`, and with those inside it."""
    known = ", ".join(sorted(policies))
    if not isinstance(value, dict) or len(value) != 1:
        count = len(value) if isinstance(value, dict) else 0
        message = "must be one policy, as a map of one key"
        if count > 1:
            message += f", not {count}: {', '.join(word(str(each)) for each in list(value)[:5])}"
        fix = "write them as a list under max, min or chain" if count > 1 else f"known: {known}"
        yield Mistake(at, message, fix, "policy")
        return
    ((name, written),) = value.items()
    policy = policies.get(name)
    if policy is None:
        near = likely(name, list(policies))
        fix = f"did you mean {near}?" if near else f"known: {known}"
        message = f"there is no policy {shown(str(name))}"
        yield Mistake((*at, str(name)), message, fix, "policy", at_key=True)
        return
    inside = (*at, name)
    try:
        yield from _problems(policy, written, inside, facts)
    except Exception as failure:
        # Policies of others come with others' mistakes: such a one holds its workload alone.
        message = f"the policy {name} cannot be checked: {type(failure).__name__}"
        yield Mistake(inside, message, "mend its package, or take another policy", "policy")


def _problems(policy: Policy, written: Any, inside: Path, facts: Facts) -> Iterator[Mistake]:
    schema = validator_of(policy.schema)
    found = check(schema, {} if written is None else written, inside)
    yield from found
    # The items of a list are judged one by one, also where another one is wrong.
    listed = isinstance(written, list) and policy.schema.get("type") == "array"
    if not found or listed:
        problems = policy.problems(parameters_of(_sound(written, found, len(inside))), facts)
        yield from (below(inside, one) for one in problems)
    rest = _rest(written, found, len(inside)) if listed else []
    if any(rest):
        problems = policy.problems(parameters_of(_sound(rest, check(schema, rest), 0)), facts)
        # What an item lacks is said by what was taken out of it.
        yield from (below(inside, one) for one in problems if len(one.path) > 1)


def _sound(written: Any, found: Sequence[Mistake], depth: int) -> Any:
    """Return what is written, with None for those items of a list that have no right form."""
    if not isinstance(written, list):
        return written
    wrong = {mistake.path[depth] for mistake in found if len(mistake.path) > depth}
    return [None if at in wrong else item for at, item in enumerate(written)]


def _rest(written: list[Any], found: Sequence[Mistake], depth: int) -> list[Any]:
    """Return what is right of the wrong items of a list, with None for all other items."""
    wrong: dict[Any, set[Any]] = {}
    for mistake in found:
        if len(mistake.path) > depth + 1:
            wrong.setdefault(mistake.path[depth], set()).add(mistake.path[depth + 1])
    return [
        {name: value for name, value in item.items() if name not in wrong[at]}
        if at in wrong and isinstance(item, dict)
        else None
        for at, item in enumerate(written)
    ]


def asks_of(values: Sequence[Json], policies: Policies) -> tuple[Ask, ...]:
    """Return what policies have to know from others, each thing once."""
    found: dict[Ask, None] = {}
    for value in values:
        found |= dict.fromkeys(asks_by(policy_of(value), policies))
    return tuple(found)


def asks_by(spec: PolicySpec, policies: Policies) -> tuple[Ask, ...]:
    """Return what one policy has to know from others; nothing where it fails, or asks none."""
    policy = policies.get(spec.name)
    try:
        asks = tuple(policy.asks(spec.parameters)) if policy is not None else ()
        return asks if all(map(is_ask, asks)) else ()
    except Exception:
        # What it advises without is told by `advise_by`.
        return ()


def advise_by(spec: PolicySpec, look: Look, policies: Policies) -> Advice:
    """Return the advice of one policy; where there is none, or it is none, nothing changes."""
    policy = policies.get(spec.name)
    if policy is None:
        return held(look, f"no policy {shown(spec.name)} is installed")
    try:
        return sound(_kept(policy.advise(spec.parameters, look)), look)
    except Exception as failure:
        # Policies of others come with others' mistakes: such a one holds its workload alone.
        return held(look, f"the policy {spec.name} failed: {type(failure).__name__}")


def _kept(advice: Advice) -> Advice:
    """Return an advice as it can be told and put on record. Raises where it is none."""
    parts: Sequence[tuple[Any, type]] = (
        (advice, Advice),
        (advice.reason, str),
        (advice.hold, str),
        (advice.missing, str),
        (advice.memory, bytes),
        (advice.may_remove, bool),
        (advice.ground, str),
        (advice.contradicted, bool),
        (advice.said, str),
    )
    if not all(isinstance(part, form) for part, form in parts):
        raise TypeError("this is no advice")
    texts = (advice.reason, advice.hold, advice.missing, advice.said)
    reason, hold, missing, said = (escaped(text[:_MOST_REASON]) for text in texts)
    memory = advice.memory
    if len(memory) > MOST_MEMORY_BYTES:
        # With it no record of the workload could be written any more.
        memory = b""
        reason += f"; forgets {len(advice.memory)} bytes, more than {MOST_MEMORY_BYTES} to remember"
    kept = replace(advice, reason=reason, hold=hold, missing=missing, memory=memory, said=said)
    return advice if kept == advice else kept


def advise_each(values: Sequence[Json], look: Look, policies: Policies) -> list[Advice]:
    """Return the advice of each policy, each given what it remembers itself."""
    remembered = nested_memory.unpack(look.memory)
    specs = [policy_of(value) for value in values]
    return [
        advise_by(spec, replace(look, memory=remembered.get(_place(at, spec), b"")), policies)
        for at, spec in enumerate(specs)
    ]


def memory_of(values: Sequence[Json], advices: Sequence[Advice]) -> bytes:
    """Return what several policies want to be given back, b"" where none wants anything."""
    kept = {
        _place(at, policy_of(value)): advice.memory
        for at, (value, advice) in enumerate(zip(values, advices, strict=True))
        if advice.memory
    }
    return nested_memory.pack(kept)


def wanted(advice: Advice, look: Look) -> int:
    """Return the count that an advice comes to: not below the one there is if none may go."""
    return advice.replicas if advice.may_remove else max(advice.replicas, look.load.replicas)


def largest(advices: Sequence[Advice], look: Look) -> Advice:
    """Return the advice that wants most; while one cannot tell, no room goes.

    A zero that rooms with players contradict is no word of those that count these rooms: beside
    one of them it takes nothing and keeps nothing.
    """
    telling = [advice for advice in advices if not advice.hold]
    if not telling:
        return held_by(advices, look, "; ".join(dict.fromkeys(each.hold for each in advices)))
    most = max(telling, key=lambda advice: wanted(advice, look))
    reason = most.reason if len(advices) == 1 else f"most of {len(advices)} policies: {most.reason}"
    ground = _ground_of(telling)
    heard = advices
    if ground == "rooms":
        heard = [replace(each, hold="") if each.contradicted else each for each in advices]
    missing = missing_of(heard)
    if missing:
        # Why not may be in others' words, which no commit tells.
        reason += "; no room goes while one of them cannot tell"
    return Advice(
        most.replicas,
        reason,
        may_remove=not missing and _all_may(heard),
        missing=missing,
        ground=ground,
        said="; ".join(filter(None, (most.said, missing))),
    )


def held_by(advices: Sequence[Advice], look: Look, why: str) -> Advice:
    """Return that nothing changes by several policies of which those that hold say why."""
    holding = [advice for advice in advices if advice.hold]
    return replace(held(look, why), contradicted=all(each.contradicted for each in holding))


def _ground_of(advices: Sequence[Advice]) -> Ground:
    """Return what the largest of several counts rests on: on rooms where any of them does."""
    grounds = {advice.ground for advice in advices}
    return next((ground for ground in _GROUNDS if ground in grounds), "rooms")


def missing_of(advices: Sequence[Advice]) -> str:
    """Say which of several policies cannot tell, and why, "" when all can."""
    silent = [(at, each.hold or each.missing) for at, each in enumerate(advices, start=1)]
    told = [f"policy {at} of {len(advices)} cannot tell: {why}" for at, why in silent if why]
    return "; ".join(told)


def _all_may(advices: Sequence[Advice]) -> bool:
    return all(advice.may_remove for advice in advices)


def _place(at: int, spec: PolicySpec) -> str:
    return f"{at} {spec.name}"


@dataclass(frozen=True, slots=True)
class Several:
    """A policy that is a list of others, of whose advices `choose` makes one."""

    name: str
    schema: Json
    policies: Policies
    choose: Callable[[Sequence[Advice], Look], Advice]

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return the mistakes of each policy."""
        for at, value in enumerate(parameters["of"]):
            if value is not None:
                yield from check_policy(value, (at,), self.policies, facts)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return what each of them has to know."""
        return asks_of(parameters["of"], self.policies)

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the advice that is chosen; each of them goes on remembering."""
        advices = advise_each(parameters["of"], look, self.policies)
        return replace(self.choose(advices, look), memory=memory_of(parameters["of"], advices))
