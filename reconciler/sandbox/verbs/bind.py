"""Binding a pod to a node, as a scheduler asks."""

from __future__ import annotations

from reconciler.sandbox import bodies, clock, refusals
from reconciler.sandbox.answers import status_success
from reconciler.sandbox.kinds import BINDING, POD
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored
from reconciler.sandbox.world import Call, World


def bind(call: Call) -> Response:
    """Bind the pod that the path or the body names. Raises Refused."""
    value = bodies.decode_plain(call.request, call.world.shapes, BINDING)
    given = (value.get("metadata") or {}).get("name", "")
    if call.target.name and given != call.target.name:
        raise refusals.bad_request("name in URL does not match name in Binding object")
    name = given
    node = (value.get("target") or {}).get("name", "")
    if not node:
        cause = refusals.required("target.name")
        raise refusals.invalid(BINDING, name, [cause])
    stored = call.world.store.get(POD, call.target.namespace, name)
    if stored is None:
        raise refusals.not_found(POD, name)
    pod = stored.decode(POD)
    why = _why_not(pod, name)
    if why:
        message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
        raise refusals.failure(409, "Conflict", message, {"name": name, "kind": "pods/binding"})
    assign(call.world, stored, node, call.now)
    return status_success(201)


def _why_not(pod: Json, name: str) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    assigned = pod["spec"].get("nodeName")
    if assigned:
        return f'pod {name} is already assigned to node "{assigned}"'
    if pod["spec"].get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def assign(world: World, stored: Stored, node: str, now: float) -> Stored:
    """Give a pod its node."""
    pod = stored.decode(POD)
    pod["spec"]["nodeName"] = node
    set_condition(pod, "PodScheduled", "True", now, False)
    return world.store.put(POD, pod)


def set_condition(
    pod: Json,
    kind: str,
    status: str,
    now: float,
    observes: bool = True,
    /,
    *,
    reason: str = "",
    message: str = "",
) -> bool:
    """Set one condition of a pod; tells whether anything changed.

    The server itself `observes` no generation, unlike kubelets and schedulers.
    """
    conditions = pod["status"].setdefault("conditions", [])
    found = next((one for one in conditions if one["type"] == kind), None)
    said = {"status": status, "reason": reason, "message": message}
    said = {name: text for name, text in said.items() if text}
    if found is None:
        found = {"type": kind, "lastProbeTime": None, "lastTransitionTime": clock.stamp(now)}
        if observes and "generation" in pod["metadata"]:
            found["observedGeneration"] = pod["metadata"]["generation"]
        conditions.append(found | said)
        return True
    before = {name: found.get(name, "") for name in ("status", "reason", "message")}
    if before == {"reason": "", "message": "", **said}:
        return False
    if found.get("status") != status:
        found["lastTransitionTime"] = clock.stamp(now)
    for name in ("reason", "message"):
        found.pop(name, None)
    found.update(said)
    return True


def disruption_condition(budget: Json, now: float) -> Json:
    """Say whether a budget allows a disruption, as its condition."""
    allowed = budget["status"]["disruptionsAllowed"]
    status = "True" if allowed else "False"
    before: Json = next(
        (
            one
            for one in budget["status"].get("conditions", ())
            if one["type"] == "DisruptionAllowed"
        ),
        {},
    )
    moved = before.get("status") != status
    return {
        "type": "DisruptionAllowed",
        "status": status,
        "observedGeneration": budget["metadata"].get("generation", 1),
        "lastTransitionTime": clock.stamp(now) if moved else before["lastTransitionTime"],
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
    }
