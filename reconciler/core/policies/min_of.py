"""min: the smallest count that any of several policies wants. While one cannot tell, all stays."""

from collections.abc import Sequence

from reconciler.core.policies.nested import Policies, Several, wanted
from reconciler.core.policies.policy import held
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look


def min_of(schema: Json, policies: Policies) -> Several:
    """Return the policy `min [policy, …]`."""
    return Several("min", schema, policies, _smallest)


def _smallest(advices: Sequence[Advice], look: Look) -> Advice:
    for advice in advices:
        if advice.hold:
            return held(look, f"one of {len(advices)} policies cannot tell: {advice.hold}")
    least = min(advices, key=lambda advice: wanted(advice, look))
    reason = f"least of {len(advices)} policies: {least.reason}"
    return Advice(least.replicas, reason, may_remove=least.may_remove)
