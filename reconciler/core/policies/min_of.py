"""min: the smallest count that any of several policies wants. While one cannot tell, all stays."""

from collections.abc import Sequence
from dataclasses import replace

from reconciler.core.policies.nested import Policies, Several, held_by, missing_of, wanted
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look


def min_of(schema: Json, policies: Policies) -> Several:
    """Return the policy `min [policy, …]`."""
    return Several("min", schema, policies, _smallest)


def _smallest(advices: Sequence[Advice], look: Look) -> Advice:
    missing = missing_of(advices)
    if any(advice.hold for advice in advices):
        return held_by(advices, look, missing)
    least = min(advices, key=lambda advice: wanted(advice, look))
    reason = f"least of {len(advices)} policies: {least.reason}"
    return replace(least, reason=reason, missing=missing)
