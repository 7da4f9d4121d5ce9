"""The lines that a simulated container prints."""

from __future__ import annotations

from reconciler.sandbox.requests import Json


def lines(pod: Json, name: str, *, previous: bool = False) -> list[tuple[str, str]]:
    """List what a container has printed, each line with its time."""
    status = _status(pod, name)
    state = status.get("lastState" if previous else "state", {})
    if "waiting" in state:
        state = status.get("lastState", {})
    run = state.get("running") or state.get("terminated")
    if run is None:
        return []
    began = run.get("startedAt", "")
    container = _container(pod, name)
    metadata, spec = pod["metadata"], pod["spec"]
    printed = [
        (
            began,
            f"{metadata['namespace']}/{metadata['name']}: container {name} starts "
            f"{container.get('image', '')} on node {spec.get('nodeName', '')}",
        )
    ]
    printed += [(began, text) for text in _ports(container)]
    if status.get("ready"):
        printed.append((_ready_since(pod, began), "ready for players"))
    if "terminated" in state:
        ended = state["terminated"]
        code, when = ended.get("exitCode", 0), ended.get("finishedAt", began)
        printed.append((when, f"ends with exit code {code}: {ended.get('reason', '')}"))
    return printed


def _status(pod: Json, name: str) -> Json:
    for part in ("containerStatuses", "initContainerStatuses"):
        for one in pod["status"].get(part, ()):
            if one["name"] == name:
                found: Json = one
                return found
    return {}


def _container(pod: Json, name: str) -> Json:
    for part in ("containers", "initContainers"):
        for one in pod["spec"].get(part, ()):
            if one["name"] == name:
                found: Json = one
                return found
    return {}


def _ports(container: Json) -> list[str]:
    texts = []
    for port in container.get("ports") or ():
        outside = f" (host port {port['hostPort']})" if port.get("hostPort") else ""
        texts.append(f"listens on {port['containerPort']}/{port.get('protocol', 'TCP')}{outside}")
    return texts


def _ready_since(pod: Json, began: str) -> str:
    for one in pod["status"].get("conditions", ()):
        if one["type"] == "Ready":
            return one.get("lastTransitionTime") or began
    return began
