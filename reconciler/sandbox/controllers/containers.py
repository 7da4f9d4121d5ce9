"""The statuses of a pod's containers and conditions, as its kubelet writes them."""

from __future__ import annotations

from hashlib import sha256

from reconciler.sandbox import clock
from reconciler.sandbox.requests import Json
from reconciler.sandbox.verbs.bind import set_condition

_EXIT_REASONS = {0: "Completed"}


def begin(pod: Json, node_address: str, now: float) -> None:
    """Write that the kubelet has taken a pod in."""
    status = pod["status"]
    status["hostIP"] = node_address
    status["hostIPs"] = [{"ip": node_address}]
    status["startTime"] = clock.stamp(now)
    _statuses(pod, {"waiting": {"reason": "ContainerCreating"}})
    set_condition(pod, "PodReadyToStartContainers", "False", now)
    _inits(pod, now, done=False)
    _readiness(pod, ready=False, now=now)


def start(pod: Json, address: str, now: float, *, ready: bool) -> None:
    """Write that every container runs."""
    status = pod["status"]
    if pod["spec"].get("hostNetwork"):
        address = status.get("hostIP", address)
    status["phase"] = "Running"
    status["podIP"], status["podIPs"] = address, [{"ip": address}]
    _inits(pod, now, done=True)
    _statuses(pod, {"running": {"startedAt": clock.stamp(now)}}, started=True, ready=ready)
    set_condition(pod, "PodReadyToStartContainers", "True", now)
    _readiness(pod, ready=ready, now=now)


def set_ready(pod: Json, now: float, *, ready: bool) -> None:
    """Write whether the containers are ready."""
    for one in pod["status"].get("containerStatuses", ()):
        one["ready"] = ready and "running" in one["state"]
    _readiness(pod, ready=ready, now=now)


def wait(pod: Json, reason: str, message: str, now: float) -> None:
    """Write that no container can start, and why."""
    for one in pod["status"].get("containerStatuses", ()):
        one["state"] = {"waiting": {"reason": reason, "message": message}}
        one["ready"] = one["started"] = False
    _readiness(pod, ready=False, now=now)


def end(pod: Json, code: int, now: float, *, phase: str = "") -> None:
    """Write that every container has ended."""
    for one in pod["status"].get("containerStatuses", ()):
        began = one["state"].get("running", {}).get("startedAt") or clock.stamp(now)
        one["state"] = {
            "terminated": {
                "exitCode": code,
                "reason": _EXIT_REASONS.get(code, "Error"),
                "startedAt": began,
                "finishedAt": clock.stamp(now),
                "containerID": one.get("containerID", ""),
            }
        }
        one["ready"] = one["started"] = False
    if phase:
        pod["status"]["phase"] = phase
    why = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "ContainersNotReady")
    _readiness(pod, ready=False, now=now, reason=why)


def back_off(pod: Json, wait_seconds: float, now: float) -> None:
    """Write that ended containers wait before they start again."""
    name = pod["metadata"]["name"]
    for one in pod["status"].get("containerStatuses", ()):
        one["lastState"] = one["state"]
        one["restartCount"] += 1
        message = (
            f"back-off {int(wait_seconds)}s restarting failed container={one['name']} pod={name}"
        )
        one["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}


def _statuses(pod: Json, state: Json, *, started: bool = False, ready: bool = False) -> None:
    known = {one["name"]: one for one in pod["status"].get("containerStatuses", ())}
    pod["status"]["containerStatuses"] = [
        _status(pod, container, state, known.get(container["name"], {}), started, ready)
        for container in pod["spec"]["containers"]
    ]


def _status(
    pod: Json, container: Json, state: Json, before: Json, started: bool, ready: bool
) -> Json:
    image, identity = container["image"], ""
    if started:
        identity = f"sandbox://{_hash(pod['metadata']['uid'], container['name'])}"
    return {
        "name": container["name"],
        "state": state,
        "lastState": before.get("lastState", {}),
        "ready": ready,
        "restartCount": before.get("restartCount", 0),
        "image": image,
        "imageID": f"sandbox://{_hash(image)}" if started else "",
        **({"containerID": identity} if identity else {}),
        "started": started,
    }


def _hash(*parts: str) -> str:
    return sha256("/".join(parts).encode()).hexdigest()


def _inits(pod: Json, now: float, *, done: bool) -> None:
    inits = pod["spec"].get("initContainers") or []
    if inits:
        pod["status"]["initContainerStatuses"] = [_init(pod, one, now, done) for one in inits]
    if inits or done:
        set_condition(
            pod,
            "Initialized",
            "True" if done else "False",
            now,
            reason="" if done else "ContainersNotInitialized",
        )
    else:
        set_condition(pod, "Initialized", "True", now)


def _init(pod: Json, container: Json, now: float, done: bool) -> Json:
    sidecar = container.get("restartPolicy") == "Always"
    stamp = clock.stamp(now)
    if not done:
        return _status(pod, container, {"waiting": {"reason": "PodInitializing"}}, {}, False, False)
    if sidecar:
        return _status(pod, container, {"running": {"startedAt": stamp}}, {}, True, True)
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": stamp, "finishedAt": stamp}
    return _status(pod, container, {"terminated": ended}, {}, False, True)


def _readiness(pod: Json, *, ready: bool, now: float, reason: str = "ContainersNotReady") -> None:
    message = ""
    if not ready and reason == "ContainersNotReady":
        waiting = " ".join(
            one["name"] for one in pod["status"].get("containerStatuses", ()) if not one["ready"]
        )
        message = f"containers with unready status: [{waiting}]"
    why = {"reason": "", "message": ""} if ready else {"reason": reason, "message": message}
    set_condition(pod, "ContainersReady", "True" if ready else "False", now, **why)
    gated = ready and not _gates_open(pod)
    if gated:
        gates = ", ".join(g["conditionType"] for g in pod["spec"]["readinessGates"])
        why = {
            "reason": "ReadinessGatesNotReady",
            "message": f"not every readiness gate is True: {gates}",
        }
    set_condition(pod, "Ready", "True" if ready and not gated else "False", now, **why)


def _gates_open(pod: Json) -> bool:
    held = {one["type"] for one in pod["status"].get("conditions", ()) if one["status"] == "True"}
    return all(gate["conditionType"] in held for gate in pod["spec"].get("readinessGates") or ())
