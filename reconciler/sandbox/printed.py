"""What each kind shows of itself in a table."""

from __future__ import annotations

from typing import Any

from reconciler.sandbox import clock
from reconciler.sandbox.requests import Json

_NONE = "<none>"
_OVER = ("Succeeded", "Failed")
_ROLE = "node-role.kubernetes.io/"


def pod_cells(pod: Json, now: float) -> list[Any]:
    """Fill READY, STATUS, RESTARTS and the wide columns of a pod."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    sidecars = {one["name"] for one in spec.get("initContainers", ()) if _always(one)}
    inits = status.get("initContainerStatuses", ())
    statuses = [one for one in inits if one["name"] in sidecars]
    statuses += status.get("containerStatuses", ())
    total = len(spec.get("containers", ())) + len(sidecars)
    ready = sum(1 for one in statuses if one.get("ready") and "running" in one.get("state", {}))
    return [
        f"{ready}/{total}",
        _pod_reason(pod, sidecars),
        _restarts(statuses, now),
        status.get("podIP") or _NONE,
        spec.get("nodeName") or _NONE,
        status.get("nominatedNodeName") or _NONE,
        _gates(pod),
    ]


def _always(container: Json) -> bool:
    return container.get("restartPolicy") == "Always"


def _pod_reason(pod: Json, sidecars: set[str]) -> str:
    status = pod.get("status", {})
    reason = status.get("reason") or status.get("phase", "")
    if any(
        one["type"] == "PodScheduled" and one.get("reason") == "SchedulingGated"
        for one in status.get("conditions", ())
    ):
        reason = "SchedulingGated"
    init = _init_reason(pod, sidecars)
    reason = init or _container_reason(status, reason)
    if pod["metadata"].get("deletionTimestamp") and status.get("phase") not in _OVER:
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return str(reason)


def _init_reason(pod: Json, sidecars: set[str]) -> str:
    statuses = pod.get("status", {}).get("initContainerStatuses", ())
    for index, one in enumerate(statuses):
        state = one.get("state", {})
        if "terminated" in state and state["terminated"].get("exitCode", 0) == 0:
            continue
        if one["name"] in sidecars and one.get("started"):
            continue
        if "terminated" in state:
            return f"Init:{state['terminated'].get('reason') or 'Error'}"
        waiting = state.get("waiting", {}).get("reason", "")
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{len(statuses)}"
    return ""


def _container_reason(status: Json, reason: str) -> str:
    running = False
    for one in reversed(status.get("containerStatuses", ())):
        state = one.get("state", {})
        if state.get("waiting", {}).get("reason"):
            reason = state["waiting"]["reason"]
        elif "terminated" in state:
            ended = state["terminated"]
            reason = ended.get("reason") or f"ExitCode:{ended.get('exitCode', 0)}"
        elif one.get("ready") and "running" in state:
            running = True
    return "Running" if reason == "Completed" and running else reason


def _restarts(statuses: list[Json], now: float) -> str:
    count = sum(one.get("restartCount", 0) for one in statuses)
    ends = [
        one["lastState"]["terminated"].get("finishedAt")
        for one in statuses
        if "terminated" in one.get("lastState", {})
    ]
    if not count or not any(ends):
        return str(count)
    last = max(clock.moment(end) for end in ends if end)
    return f"{count} ({clock.age(now - last)} ago)"


def _gates(pod: Json) -> str:
    gates = pod.get("spec", {}).get("readinessGates", ())
    if not gates:
        return _NONE
    held = {one["type"] for one in pod["status"].get("conditions", ()) if one["status"] == "True"}
    return f"{sum(1 for gate in gates if gate['conditionType'] in held)}/{len(gates)}"


def node_cells(node: Json, now: float) -> list[Any]:
    """Fill STATUS, ROLES, VERSION and the wide columns of a node."""
    status = node.get("status", {})
    known = status.get("nodeInfo", {})
    return [
        _node_status(node),
        _roles(node["metadata"].get("labels") or {}),
        known.get("kubeletVersion", ""),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        known.get("osImage") or "<unknown>",
        known.get("kernelVersion") or "<unknown>",
        known.get("containerRuntimeVersion") or "<unknown>",
    ]


def _node_status(node: Json) -> str:
    ready = [one for one in node["status"].get("conditions", ()) if one["type"] == "Ready"]
    text = "Unknown"
    if ready:
        text = "Ready" if ready[0]["status"] == "True" else "NotReady"
    if node.get("spec", {}).get("unschedulable"):
        text += ",SchedulingDisabled"
    return text


def _roles(labels: Json) -> str:
    roles = sorted(name.removeprefix(_ROLE) for name in labels if name.startswith(_ROLE))
    return ",".join(role for role in roles if role) or _NONE


def _address(status: Json, kind: str) -> str:
    found = (one["address"] for one in status.get("addresses", ()) if one["type"] == kind)
    return next(found, _NONE)


def namespace_cells(namespace: Json, now: float) -> list[Any]:
    """Fill STATUS."""
    return [namespace.get("status", {}).get("phase", "")]


def budget_cells(budget: Json, now: float) -> list[Any]:
    """Fill MIN AVAILABLE, MAX UNAVAILABLE and ALLOWED DISRUPTIONS."""
    spec = budget.get("spec", {})
    return [
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        budget.get("status", {}).get("disruptionsAllowed", 0),
    ]


def event_cells(event: Json, now: float) -> list[Any]:
    """Fill a whole row of an event."""
    about = event.get("involvedObject", {})
    first = event.get("firstTimestamp") or event.get("eventTime")
    last = event.get("lastTimestamp") or first
    source = event.get("source", {})
    spoken = [source.get("component") or event.get("reportingComponent", ""), source.get("host")]
    return [
        _since(last, now),
        event.get("type", ""),
        event.get("reason", ""),
        f"{about.get('kind', '').lower()}/{about.get('name', '')}",
        about.get("fieldPath", ""),
        ", ".join(part for part in spoken if part),
        event.get("message", "").strip(),
        _since(first, now),
        event.get("count") or 1,
        event["metadata"]["name"],
    ]


def _since(text: str | None, now: float) -> str:
    return clock.age(now - clock.moment(text)) if text else "<unknown>"
