"""A namespace on its way out that does not end: what keeps it is told.

Kubernetes writes into the conditions of a namespace what is left in it, and which finalizers.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from reconciler.core.instants import instant_of_text, told
from reconciler.core.mistakes import shown
from reconciler.core.pod_parts import child, text
from reconciler.core.waits import soonest
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveObject
from reconciler.model.masks import redact
from reconciler.model.plans import Plan, Situation

PATIENCE_SECONDS = 30.0
"""So long an ordinary end may take: what is in it goes first, with a pod's usual grace."""
CLOCKS_APART_SECONDS = 60.0
"""So far ahead of ours the cluster's clock may be: an end that it dates ahead has only begun."""
_MOST_NAMED = 3
_LONGEST_MESSAGE = 200
_NUMBERS = re.compile(r" (?:has|in) \d+ resource instances?")
"""How many are left changes all the time, and a reason is written whenever it changes."""


def with_told(plan: Plan, situation: Situation, now: float) -> Plan:
    """Return a plan that tells of a namespace that does not end. `now` is Unix seconds."""
    space = next((each for each in situation.live.objects if each.ref.kind == "Namespace"), None)
    if space is None or not space.terminating:
        return plan
    since = instant_of_text(text(child(space.body, "metadata"), "deletionTimestamp"))
    left_seconds = 0.0 if since is None else since + PATIENCE_SECONDS - now
    if 0 < left_seconds <= PATIENCE_SECONDS + CLOCKS_APART_SECONDS:
        # More than that comes from a clock by which nothing can be said.
        return replace(plan, wake_in_seconds=soonest(plan.wake_in_seconds, left_seconds))
    begun = "" if since is None else f" since {told(since)}"
    reason = (
        f"namespace {space.ref.name} is being deleted{begun} and does not end: "
        f"{'; '.join(_keeping(space)) or 'the API server does not say why'}. Whoever put a "
        "finalizer there takes it out when its work is done "
        f"(kubectl get namespace {space.ref.name} -o yaml)"
    )
    if situation.desired is not None:
        reason += f". {situation.key} is made anew when it is gone"
    return replace(plan, holds=(*plan.holds, Hold(HoldKind.STUCK, situation.key, reason)))


def _keeping(space: LiveObject) -> Iterator[str]:
    """Yield what keeps a namespace: finalizers of its own, and what its conditions tell."""
    finalizers = child(space.body, "metadata").get("finalizers")
    named = [shown(each) for each in finalizers or ()][:_MOST_NAMED]
    if named:
        yield f"it has the finalizer {', '.join(named)}"
    conditions = child(space.body, "status").get("conditions")
    for each in conditions or ():
        # NamespaceFinalizersRemaining, NamespaceContentRemaining, NamespaceDeletion…Failure.
        if text(each, "type").startswith("Namespace") and each.get("status") == "True":
            message = redact(_NUMBERS.sub("", text(each, "message")[:2000]))
            plain = "".join(c if c.isprintable() else "?" for c in message)
            yield plain[:_LONGEST_MESSAGE].rstrip(" .")
