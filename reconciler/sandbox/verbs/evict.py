"""Eviction: a deletion that asks the disruption budgets first."""

from __future__ import annotations

from dataclasses import replace

from reconciler.kube.selectors import LabelSelector
from reconciler.sandbox import bodies, clock, refusals
from reconciler.sandbox.answers import status_success
from reconciler.sandbox.kinds import BUDGET, EVICTION, POD
from reconciler.sandbox.options import WriteOptions
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored
from reconciler.sandbox.verbs import write
from reconciler.sandbox.verbs.bind import disruption_condition, set_condition
from reconciler.sandbox.verbs.remove import DeleteOptions, check_preconditions, remove
from reconciler.sandbox.world import Call, World

_DONE = ("Succeeded", "Failed", "Pending")
_RETRY_SECONDS = 10


def evict(call: Call) -> Response:
    """Evict one pod. Raises Refused (429 when a budget forbids it)."""
    asked = WriteOptions.read(call.request, "CreateOptions")
    body = bodies.decode_plain(call.request, call.world.shapes, EVICTION)
    name = (body.get("metadata") or {}).get("name", "")
    if name and name != call.target.name:
        raise refusals.bad_request("name in URL does not match name in Eviction object")
    given = body.get("deleteOptions") or {}
    rehearsed = asked.dry_run or bool(given.get("dryRun"))
    stored = write.live_object(call)
    pod = stored.decode(POD)
    budgets = budgets_of(call.world, stored)
    if not _ignores_budgets(pod) and budgets:
        _spend(call, budgets, pod, dry_run=rehearsed)
    # How to delete is looked at only when the budgets let the pod go.
    options = replace(DeleteOptions.of(given, {}), dry_run=rehearsed)
    check_preconditions(POD, stored, options)
    if not options.dry_run:
        _mark(call, stored, pod)
        live = write.live_object(call)
        remove(call.world, POD, live, options, call.now)
    return status_success(201)


def _ignores_budgets(pod: Json) -> bool:
    phase = pod["status"].get("phase")
    return phase in _DONE or bool(pod["metadata"].get("deletionTimestamp"))


def budgets_of(world: World, pod: Stored) -> list[Stored]:
    """Find the budgets that select a pod."""
    found = []
    for stored in world.store.shelves[BUDGET].within(pod.namespace):
        selector = LabelSelector.from_object(stored.decode(BUDGET)["spec"].get("selector"))
        if selector is not None and selector.matches(pod.labels):
            found.append(stored)
    return found


def _spend(call: Call, budgets: list[Stored], pod: Json, *, dry_run: bool) -> None:
    if len(budgets) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, "
            "which the eviction subresource does not support."
        )
        raise refusals.failure(500, "", message)
    budget = budgets[0].decode(BUDGET)
    spec, status, name = budget["spec"], budget["status"], budgets[0].name
    ready = any(
        one["type"] == "Ready" and one["status"] == "True"
        for one in pod["status"].get("conditions", ())
    )
    healthy, needed = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if not ready and _lets_unhealthy_go(spec, healthy, needed):
        return
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _unobserved(name)
    if status.get("disruptionsAllowed", 0) <= 0:
        raise _blocked(name, needed, healthy)
    if dry_run:
        return
    status["disruptionsAllowed"] -= 1
    status.setdefault("disruptedPods", {})[pod["metadata"]["name"]] = clock.stamp(call.now)
    status["conditions"] = [disruption_condition(budget, call.now)]
    call.world.report(BUDGET, budget, "kube-apiserver", call.now)


def _lets_unhealthy_go(spec: Json, healthy: int, needed: int) -> bool:
    if spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    return healthy >= needed > 0


def _unobserved(name: str) -> refusals.Refused:
    why = f"The disruption budget {name} is still being processed by the server."
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    cause = {"reason": "DisruptionBudget", "message": why}
    details = {"causes": [cause], "retryAfterSeconds": _RETRY_SECONDS}
    refused = refusals.failure(429, "TooManyRequests", message, details)
    refused.headers = (("Retry-After", str(_RETRY_SECONDS)),)
    return refused


def _blocked(name: str, needed: int, healthy: int) -> refusals.Refused:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    why = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
    cause = {"reason": "DisruptionBudget", "message": why}
    return refusals.failure(429, "TooManyRequests", message, {"causes": [cause]})


def _mark(call: Call, stored: Stored, pod: Json) -> None:
    changed = set_condition(
        pod,
        "DisruptionTarget",
        "True",
        call.now,
        False,
        reason="EvictionByEvictionAPI",
        message="Eviction API: evicting",
    )
    if changed:
        call.world.store.put(POD, pod)
