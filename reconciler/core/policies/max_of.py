"""max: the largest count that any of several policies wants. While one cannot tell, none goes."""

from reconciler.core.policies.nested import Policies, Several, largest
from reconciler.model.refs import Json


def max_of(schema: Json, policies: Policies) -> Several:
    """Return the policy `max [policy, …]`."""
    return Several("max", schema, policies, largest)
