"""Values that the API server fills in where a client left them out."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from reconciler.sandbox.kinds import BUDGET, NAMESPACE, NODE, POD, SECRET, Kind
from reconciler.sandbox.requests import Json

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE_DEFAULTS = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_FILE_MODE = 0o644
_SYSTEM = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
)
_VOLUME_MODES = ("secret", "configMap", "downwardAPI", "projected")


def fill(kind: Kind, value: Json) -> None:
    """Fill the defaults of an object in place."""
    if kind is POD:
        _pod(value.setdefault("spec", {}))
    elif kind is SECRET:
        _secret(value)
    elif kind is NAMESPACE and value["metadata"].get("name"):
        labels = value["metadata"].setdefault("labels", {})
        labels["kubernetes.io/metadata.name"] = value["metadata"]["name"]
    elif kind is NODE:
        _node(value)
    elif kind is BUDGET:
        value.setdefault("spec", {})


def _secret(value: Json) -> None:
    value.setdefault("type", "Opaque")


def _node(value: Json) -> None:
    spec = value.setdefault("spec", {})
    if spec.get("podCIDR"):
        spec.setdefault("podCIDRs", [spec["podCIDR"]])
    elif spec.get("podCIDRs"):
        spec["podCIDR"] = spec["podCIDRs"][0]
    status = value.setdefault("status", {})
    status.setdefault("daemonEndpoints", {}).setdefault("kubeletEndpoint", {"Port": 0})
    system = status.setdefault("nodeInfo", {})
    for name in _SYSTEM:
        system.setdefault(name, "")
    if "capacity" in status and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])


def containers(spec: Json) -> Iterator[Json]:
    """Walk every container of a pod, those that come first first."""
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()
    yield from spec.get("ephemeralContainers") or ()


def _pod(spec: Json) -> None:
    for container in containers(spec):
        _container(container, host_network=bool(spec.get("hostNetwork")))
    spec.setdefault("restartPolicy", "Always")
    grace = spec.setdefault("terminationGracePeriodSeconds", 30)
    spec["terminationGracePeriodSeconds"] = 1 if grace < 0 else grace
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("enableServiceLinks", True)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in spec.get("volumes") or ():
        _volume(volume)
    _limits_are_requests(spec)


def _container(container: Json, *, host_network: bool) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if host_network and "hostPort" not in port and "containerPort" in port:
            port["hostPort"] = port["containerPort"]
    for name in _PROBES:
        if name in container:
            _probe(container[name])
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict) and "httpGet" in hook:
            hook["httpGet"].setdefault("scheme", "HTTP")
            hook["httpGet"]["path"] = hook["httpGet"].get("path") or "/"
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
        resource = (variable.get("valueFrom") or {}).get("resourceFieldRef")
        if resource is not None:
            resource.setdefault("divisor", "0")


def _pull_policy(image: str) -> str:
    name, digest = image.rsplit("/", 1)[-1], "@" in image
    tag = name.rpartition(":")[2] if ":" in name and not digest else ""
    return "Always" if tag == "latest" or (not tag and not digest) else "IfNotPresent"


def _probe(probe: Json) -> None:
    for name, value in _PROBE_DEFAULTS.items():
        probe.setdefault(name, value)
    if "httpGet" in probe:
        probe["httpGet"].setdefault("scheme", "HTTP")
        probe["httpGet"]["path"] = probe["httpGet"].get("path") or "/"
    if "grpc" in probe:
        probe["grpc"].setdefault("service", "")


def _volume(volume: Json) -> None:
    for name in _VOLUME_MODES:
        if name in volume:
            volume[name].setdefault("defaultMode", _FILE_MODE)
    if "hostPath" in volume:
        volume["hostPath"].setdefault("type", "")
    if len(volume) == 1:
        volume["emptyDir"] = {}
    items = (volume.get("downwardAPI") or {}).get("items") or []
    for source in (volume.get("projected") or {}).get("sources") or ():
        if "serviceAccountToken" in source:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
        items = items + ((source.get("downwardAPI") or {}).get("items") or [])
    for item in items:
        if "fieldRef" in item:
            item["fieldRef"].setdefault("apiVersion", "v1")


def _limits_are_requests(spec: Json) -> None:
    for container in containers(spec):
        resources = container["resources"]
        for name, amount in (resources.get("limits") or {}).items():
            resources.setdefault("requests", {}).setdefault(name, amount)


def base64_text(text: str) -> str:
    """Write text as a Secret holds it."""
    return base64.b64encode(text.encode()).decode()
