"""Which autoscaling policies there are: ours, and those that installed packages bring.

A package brings one as an entry point of the group `gamekeeper.policies`: an object, or a class
or function without arguments that makes one, of the form of `core/policies/policy.py`.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from reconciler import assets
from reconciler.core.policies.policy import Policy
from reconciler.core.policies.table import policy_table
from reconciler.model.errors import Misconfigured
from reconciler.model.intents import PERSONS

GROUP = "gamekeeper.policies"
_MEMBERS = ("name", "schema", "problems", "asks", "advise")


@cache
def policies() -> Mapping[str, Policy]:
    """Return every policy by its name.

    Raises Misconfigured where a package's policy cannot be loaded, or two have one name.
    """
    return policies_with(entry_points(group=GROUP))


def policies_with(points: Iterable[EntryPoint]) -> Mapping[str, Policy]:
    """Return our policies and those of these entry points. Raises as `policies` does."""
    others = [_loaded(point) for point in sorted(points, key=lambda point: point.name)]
    try:
        return policy_table(assets.policy_schemas(), assets.TimeZones(), others)
    except ValueError as error:
        raise Misconfigured(f"{error}: take one of their packages out") from error


def _loaded(point: EntryPoint) -> Policy:
    where = f"the policy {point.name} ({point.value})"
    try:
        found: Any = point.load()
        policy: Policy = found() if callable(found) else found
    except Exception as error:
        # A stranger's import may fail in any way.
        raise Misconfigured(f"{where} cannot be loaded: {type(error).__name__}") from error
    missing = [name for name in _MEMBERS if not hasattr(policy, name)]
    if missing:
        raise Misconfigured(f"{where} has no {', '.join(missing)}")
    if policy.name in PERSONS:
        taken = f"is named {policy.name}, which stands for what people do: give it another name"
        raise Misconfigured(f"{where} {taken}")
    try:
        Draft202012Validator.check_schema(policy.schema)
    except SchemaError as error:
        raise Misconfigured(f"{where} has a schema that is none: {error.message}") from error
    return policy
