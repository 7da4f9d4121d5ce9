"""What a policy is to the rest of the program: a name, a schema, and pure functions (DESIGN §5).

Policies of others are loaded in `reconciler/registry.py`; this file is all that they implement.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from reconciler.core.mistakes import Mistake
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look, PolicySpec

Form = Literal["gamekeeper", "agones"]
MOST_EVERY_SECONDS = 86_400.0
MOST_ROOMS = 1_000_000
"""A count above that is nobody's: who advises it is mistaken."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the spec around a policy says."""

    reports: bool
    """Whether the rooms report."""
    minimum: int = 0
    maximum: int = 0


@dataclass(frozen=True, slots=True)
class Ask:
    """Something that has to be asked of somebody else before the policy can be.

    The answer comes as a `Signal` under `name`. `what` is the address of a webhook, or the query
    of a metric. `form` is the form in which a webhook is spoken to. It is asked anew
    `every_seconds` after it was answered.
    """

    name: str
    kind: Literal["webhook", "metric"]
    what: str
    form: Form = "gamekeeper"
    every_seconds: float = 30.0
    """As Agones and Kubernetes' HPA have it, roughly."""


def is_ask(ask: object) -> bool:
    """Whether somebody can be asked that, at a pace that hurts nobody."""
    if not isinstance(ask, Ask) or ask.kind not in ("webhook", "metric"):
        return False
    texts = isinstance(ask.name, str) and isinstance(ask.what, str)
    return texts and 1.0 <= ask.every_seconds <= MOST_EVERY_SECONDS


class Policy(Protocol):
    """One way to tell how many rooms are wanted. All of it is pure."""

    @property
    def name(self) -> str:
        """The key under which a spec asks for it, such as `fixedBuffer`."""
        ...

    @property
    def schema(self) -> Json:
        """The JSON Schema of what stands under its key: a map of parameters, or a list."""
        ...

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return what is wrong with parameters that the schema allows.

        Paths begin at what stands under the policy's key. Items of a list that the schema refuses
        are None here, so that the mistakes of the others are told as well; asked once more it is
        given what is right of those items, with None for the others.
        """
        ...

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return what it needs to know from others."""
        ...

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return how many rooms are wanted, and why.

        The reason is committed: it names no player. What others said is the advice's `said`.
        """
        ...


def policy_of(value: Json) -> PolicySpec:
    """Return the policy that a valid spec writes as a map of one key."""
    ((name, written),) = value.items()
    return PolicySpec(name, parameters_of(written))


def parameters_of(written: Any) -> Json:
    """Return the parameters of a policy as it is given them.

    A list of others is its `of`, and what is written as null is not written.
    """
    if isinstance(written, list):
        return {"of": written}
    found = written.items() if isinstance(written, dict) else ()
    return {name: value for name, value in found if value is not None}


def hears_nothing(name: str, facts: Facts) -> Iterable[Mistake]:
    """Yield the mistake of a policy that reckons with what rooms report, where they do not."""
    if not facts.reports:
        message = (
            f"{name} reckons with what rooms report, and with reports: none they are not heard"
        )
        fix = "write reports: required, or a policy such as schedule or metric"
        yield Mistake((), message, fix, "reports", at_key=True)


def held(look: Look, why: str) -> Advice:
    """Return the advice of a policy that cannot tell: nothing changes."""
    return Advice(look.load.replicas, why, hold=why, memory=look.memory)


def plural(count: float, noun: str) -> str:
    """Return a count with its noun: `1 room`, `2 rooms`, `3 matches`."""
    ending = "es" if noun.endswith("ch") else "s"
    figures = f"{count:{'.15g' if count % 1 == 0 else 'g'}}"
    return f"{figures} {noun}{'' if count == 1 else ending}"
