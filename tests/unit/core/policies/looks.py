"""Values for tests of policies, with everything that a test does not care about filled in."""

from functools import cache
from typing import Any

from reconciler import assets, registry
from reconciler.core.policies.nested import Policies
from reconciler.core.policies.policy import policy_of
from reconciler.model.refs import Json
from reconciler.model.scaling import Activity, Advice, Bounds, Load, Look, Signal

NOW = 1_800_000_000.0
"""A Friday: 2027-01-15, 08:00 in UTC."""


def a_load(**changes: Any) -> Load:
    """Return a load; `replicas` is the sum of its rooms unless it is said."""
    counts = {"ready": 0, "active": 0, "occupied": 0, "allocated": 0, "starting": 0, **changes}
    rooms = sum(counts[name] for name in ("ready", "active", "occupied", "allocated", "starting"))
    usual = {"replicas": rooms, "matches": counts["occupied"], "matches_max": 1, "players": 0}
    usual["busy_heard"] = counts["active"] + counts["occupied"] + counts["allocated"]
    return Load(**{**usual, "unheard": 0, **counts})


def a_look(load: Load | None = None, **changes: Any) -> Look:
    """Return a look at a load, between 0 and 1,000 rooms unless it is said."""
    given = {"now": NOW, "bounds": Bounds(0, 1000), "activity": Activity(NOW - 30), **changes}
    return Look(load=load or a_load(), **given)


def signal(value: Any, age_seconds: float = 0.0, trouble: str = "") -> Signal:
    """Return what was asked a while ago."""
    return Signal(NOW - age_seconds, value, trouble)


@cache
def policies() -> Policies:
    """Return ours."""
    return registry.policies_with(())


def advice(value: Json, look: Look) -> Advice:
    """Return the advice of a policy as a spec writes it."""
    spec = policy_of(value)
    return policies()[spec.name].advise(spec.parameters, look)


def schemas() -> dict[str, Json]:
    """Return the schemas of ours."""
    return assets.policy_schemas()
