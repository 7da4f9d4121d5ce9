"""What a pod must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from reconciler.kube import names, quantities
from reconciler.sandbox.refusals import (
    Cause,
    duplicate,
    invalid_value,
    required,
    unsupported,
)
from reconciler.sandbox.requests import Json
from reconciler.sandbox.validate.environment import check_environment
from reconciler.sandbox.validate.hosts import check_aliases, check_dns
from reconciler.sandbox.validate.metadata import check_labels
from reconciler.sandbox.validate.placement import (
    check_affinity,
    check_gates,
    check_spread,
    check_tolerations,
)
from reconciler.sandbox.validate.probes import (
    LARGEST_PORT,
    PORT_TEXT,
    check_run,
    check_run_once,
    port_name_problems,
)
from reconciler.sandbox.validate.volumes import check_mounts, check_tokens, check_volumes

_POLICIES = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PULLS = ("Always", "IfNotPresent", "Never")
_SYSTEMS = ("linux", "windows")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_IDENTITIES = ("fsGroup", "runAsUser", "runAsGroup")
_LARGEST_ID = 2**31 - 1
_RESOURCES = ("cpu", "memory", "ephemeral-storage", "hugepages-")
_UNKNOWN_RESOURCE = (
    "must be a standard resource type or fully qualified",
    "must be a standard resource for containers",
)


def check_pod(spec: Json) -> Iterator[Cause]:
    """Check the spec of a pod."""
    wrong, volumes = check_volumes(spec)
    yield from wrong
    grace = spec.get("terminationGracePeriodSeconds", 0)
    if not spec.get("containers"):
        yield required("spec.containers")
    seen: set[str] = set()
    for part in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(part) or ()):
            path = f"spec.{part}[{index}]"
            once = part == "initContainers" and container.get("restartPolicy") != "Always"
            yield from _container(container, path, seen, volumes)
            yield from (
                check_run_once(container, path) if once else check_run(container, path, grace)
            )
    yield from _host_ports(spec)
    yield from _policies(spec)
    yield from check_labels(spec.get("nodeSelector") or {}, "spec.nodeSelector")
    yield from _identities(spec.get("securityContext") or {}, "spec.securityContext")
    yield from check_affinity(spec)
    yield from check_dns(spec)
    yield from check_gates(spec)
    yield from check_spread(spec)
    yield from _settings(spec)
    yield from check_tolerations(spec)
    yield from check_aliases(spec)
    yield from _system(spec.get("os"))
    yield from check_tokens(spec)


def _system(system: Json | None) -> Iterator[Cause]:
    if system is not None and not system.get("name"):
        yield required("spec.os.name")
    elif system is not None and system["name"] not in _SYSTEMS:
        yield unsupported("spec.os", system["name"], _SYSTEMS)


def _policies(spec: Json) -> Iterator[Cause]:
    if spec.get("restartPolicy") not in _POLICIES:
        yield unsupported("spec.restartPolicy", spec.get("restartPolicy", ""), sorted(_POLICIES))
    if spec.get("dnsPolicy") not in _DNS:
        yield unsupported("spec.dnsPolicy", spec.get("dnsPolicy", ""), _DNS)


def _settings(spec: Json) -> Iterator[Cause]:
    yield from _names(spec, ("serviceAccountName", "nodeName"), names.subdomain_problem)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and deadline < 1:
        detail = "must be between 1 and 2147483647, inclusive"
        yield invalid_value("spec.activeDeadlineSeconds", deadline, detail)
    yield from _names(spec, ("hostname", "subdomain"), names.label_problem)


def _names(
    spec: Json, fields: Sequence[str], problem: Callable[[str], str | None]
) -> Iterator[Cause]:
    for field in fields:
        told = problem(spec[field]) if spec.get(field) else None
        if told:
            yield invalid_value(f"spec.{field}", spec[field], told)


def _container(container: Json, path: str, seen: set[str], volumes: set[str]) -> Iterator[Cause]:
    name = container.get("name", "")
    told = names.label_problem(name) if name else None
    if not name:
        yield required(f"{path}.name")
    elif told:
        yield invalid_value(f"{path}.name", name, told)
    elif name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)
    image = container.get("image", "")
    if not image:
        yield required(f"{path}.image")
    elif image != image.strip():
        detail = "must not have leading or trailing whitespace"
        yield invalid_value(f"{path}.image", image, detail)
    yield from _ports(container, path)
    yield from check_environment(container, path)
    yield from check_mounts(container, path, volumes)
    if container.get("imagePullPolicy") not in _PULLS:
        yield unsupported(
            f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""), sorted(_PULLS)
        )
    yield from _resources(container.get("resources") or {}, f"{path}.resources")
    yield from _identities(container.get("securityContext") or {}, f"{path}.securityContext")


def _identities(context: Json, path: str) -> Iterator[Cause]:
    ids = [(name, context[name]) for name in _IDENTITIES if name in context]
    groups = context.get("supplementalGroups") or ()
    ids += [(f"supplementalGroups[{index}]", group) for index, group in enumerate(groups)]
    for name, number in ids:
        if not 0 <= number <= _LARGEST_ID:
            detail = f"must be between 0 and {_LARGEST_ID}, inclusive"
            yield invalid_value(f"{path}.{name}", number, detail)


def _ports(container: Json, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, port in enumerate(container.get("ports") or ()):
        place, name = f"{path}.ports[{index}]", port.get("name", "")
        told = list(port_name_problems(name)) if name else []
        yield from (invalid_value(f"{place}.name", name, problem) for problem in told)
        if name and not told and name in seen:
            yield duplicate(f"{place}.name", name)
        seen.add(name)
        number = port.get("containerPort", 0)
        if not number:
            yield required(f"{place}.containerPort")
        elif not 0 < number <= LARGEST_PORT:
            yield invalid_value(f"{place}.containerPort", number, PORT_TEXT)
        host = port.get("hostPort", 0)
        if host and not 0 < host <= LARGEST_PORT:
            yield invalid_value(f"{place}.hostPort", host, PORT_TEXT)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{place}.protocol", port.get("protocol", ""), _PROTOCOLS)


def _host_ports(spec: Json) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, container in enumerate(spec.get("containers") or ()):
        for place, port in enumerate(container.get("ports") or ()):
            host, number = port.get("hostPort", 0), port.get("containerPort", 0)
            path = f"spec.containers[{index}].ports[{place}]"
            if spec.get("hostNetwork") and host != number:
                detail = "must match `containerPort` when `hostNetwork` is true"
                yield invalid_value(f"{path}.hostPort", host, detail)
            taken = f"{port.get('protocol')}/{port.get('hostIP', '')}/{host}"
            if host and taken in seen:
                yield duplicate(f"{path}.hostPort", taken)
            seen.add(taken)


def _resources(resources: Json, path: str) -> Iterator[Cause]:
    limits = resources.get("limits") or {}
    for part in ("limits", "requests"):
        for name, amount in (resources.get(part) or {}).items():
            if "/" not in name and not name.startswith(_RESOURCES):
                for detail in _UNKNOWN_RESOURCE:
                    yield invalid_value(f"{path}.{part}[{name}]", name, detail)
            if quantities.parse(amount) < 0:
                detail = "must be greater than or equal to 0"
                yield invalid_value(f"{path}.{part}[{name}]", amount, detail)
            limit = limits.get(name) if part == "requests" else None
            if limit is not None and quantities.parse(amount) > quantities.parse(limit):
                detail = f"must be less than or equal to {name} limit of {limit}"
                yield invalid_value(f"{path}.requests", amount, detail)
