"""What a pod must be."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kube import names, quantities
from reconciler.sandbox.refusals import (
    Cause,
    duplicate,
    forbidden_value,
    invalid_value,
    missing_value,
    required,
    unsupported,
)
from reconciler.sandbox.requests import Json
from reconciler.sandbox.validate.metadata import check_labels

_POLICIES = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PULLS = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_SPREADS = ("DoNotSchedule", "ScheduleAnyway")
_REFERENCES = (
    ("fieldRef", "fieldPath"),
    ("resourceFieldRef", "resource"),
    ("configMapKeyRef", "key"),
    ("secretKeyRef", "key"),
)
_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_PORT_TEXT = "must be between 1 and 65535, inclusive"
_LARGEST_PORT = 65_535
_RESOURCES = ("cpu", "memory", "ephemeral-storage", "hugepages-")
_UNKNOWN_RESOURCE = (
    "must be a standard resource type or fully qualified",
    "must be a standard resource for containers",
)


def check_pod(spec: Json) -> Iterator[Cause]:
    """Check the spec of a pod."""
    volumes = {volume.get("name", "") for volume in spec.get("volumes") or ()}
    yield from _volumes(spec)
    if not spec.get("containers"):
        yield required("spec.containers")
    seen: set[str] = set()
    for part in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(part) or ()):
            path = f"spec.{part}[{index}]"
            once = part == "initContainers" and container.get("restartPolicy") != "Always"
            yield from _container(container, path, seen, volumes)
            yield from _run_once(container, path) if once else _probes(container, path)
    yield from _host_ports(spec)
    yield from _settings(spec)
    yield from check_labels(spec.get("nodeSelector") or {}, "spec.nodeSelector")
    yield from _tolerations(spec)
    yield from _spread(spec)


def _spread(spec: Json) -> Iterator[Cause]:
    for index, one in enumerate(spec.get("topologySpreadConstraints") or ()):
        place = f"spec.topologySpreadConstraints[{index}]"
        if one["maxSkew"] <= 0:
            yield invalid_value(f"{place}.maxSkew", one["maxSkew"], "must be greater than zero")
        if not one["topologyKey"]:
            yield required(f"{place}.topologyKey", "can not be empty")
        if one["whenUnsatisfiable"] not in _SPREADS:
            yield unsupported(f"{place}.whenUnsatisfiable", one["whenUnsatisfiable"], _SPREADS)


def _settings(spec: Json) -> Iterator[Cause]:
    if spec.get("restartPolicy") not in _POLICIES:
        yield unsupported("spec.restartPolicy", spec.get("restartPolicy", ""), sorted(_POLICIES))
    if spec.get("dnsPolicy") not in _DNS:
        yield unsupported("spec.dnsPolicy", spec.get("dnsPolicy", ""), sorted(_DNS))
    grace = spec.get("terminationGracePeriodSeconds", 0)
    if grace < 0:
        detail = "must be greater than or equal to 0"
        yield invalid_value("spec.terminationGracePeriodSeconds", grace, detail)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and deadline < 1:
        detail = "must be between 1 and 2147483647, inclusive"
        yield invalid_value("spec.activeDeadlineSeconds", deadline, detail)
    for field in ("serviceAccountName", "nodeName"):
        told = names.subdomain_problem(spec[field]) if spec.get(field) else None
        if told:
            yield invalid_value(f"spec.{field}", spec[field], told)


def _volumes(spec: Json) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, volume in enumerate(spec.get("volumes") or ()):
        path, name = f"spec.volumes[{index}].name", volume.get("name", "")
        told = names.label_problem(name) if name else None
        if not name:
            yield required(path)
        elif told:
            yield invalid_value(path, name, told)
        elif name in seen:
            yield duplicate(path, name)
        seen.add(name)
        sources = (volume.get("projected") or {}).get("sources") or ()
        for place, source in enumerate(sources):
            if "serviceAccountToken" in source and not spec.get("serviceAccountName"):
                yield forbidden_value(
                    f"spec.volumes[{index}].projected.sources[{place}].serviceAccountToken",
                    "must not be specified when serviceAccountName is not set",
                )


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
    yield from _environment(container, path)
    yield from _mounts(container, path, volumes)
    if container.get("imagePullPolicy") not in _PULLS:
        yield unsupported(
            f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""), sorted(_PULLS)
        )
    yield from _resources(container.get("resources") or {}, f"{path}.resources")


def _probes(container: Json, path: str) -> Iterator[Cause]:
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        handlers = [one for one in _HANDLERS if one in probe]
        if not handlers:
            yield required(f"{path}.{name}", "must specify a handler type")
        yield from _one_handler(handlers, f"{path}.{name}")
        port = (probe.get("httpGet") or {}).get("port", 1)
        if isinstance(port, int) and not 0 < port <= _LARGEST_PORT:
            yield invalid_value(f"{path}.{name}.httpGet.port", port, _PORT_TEXT)
    for name, hook in (container.get("lifecycle") or {}).items():
        if isinstance(hook, dict):
            handlers = [one for one in _HOOKS if one in hook]
            if not handlers:
                yield required(f"{path}.lifecycle.{name}", "must specify a handler type")
            yield from _one_handler(handlers, f"{path}.lifecycle.{name}")


def _one_handler(handlers: list[str], path: str) -> Iterator[Cause]:
    for extra in handlers[1:]:
        yield forbidden_value(f"{path}.{extra}", "may not specify more than 1 handler type")


def _run_once(container: Json, path: str) -> Iterator[Cause]:
    for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            detail = "may not be set for init containers without restartPolicy=Always"
            yield forbidden_value(f"{path}.{name}", detail)


def _ports(container: Json, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, port in enumerate(container.get("ports") or ()):
        place, name = f"{path}.ports[{index}]", port.get("name", "")
        if name and name in seen:
            yield duplicate(f"{place}.name", name)
        seen.add(name)
        number = port.get("containerPort", 0)
        if not number:
            yield required(f"{place}.containerPort")
        elif not 0 < number <= _LARGEST_PORT:
            yield invalid_value(f"{place}.containerPort", number, _PORT_TEXT)
        host = port.get("hostPort", 0)
        if host and not 0 < host <= _LARGEST_PORT:
            yield invalid_value(f"{place}.hostPort", host, _PORT_TEXT)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{place}.protocol", port.get("protocol", ""), _PROTOCOLS)


def _host_ports(spec: Json) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, container in enumerate(spec.get("containers") or ()):
        for place, port in enumerate(container.get("ports") or ()):
            host, number = port.get("hostPort", 0), port.get("containerPort", 0)
            path = f"spec.containers[{index}].ports[{place}]"
            if spec.get("hostNetwork") and host != number:
                detail = "must match `hostPort` when `hostNetwork` is true"
                yield invalid_value(f"{path}.containerPort", number, detail)
            taken = f"{port.get('protocol')}/{port.get('hostIP', '')}/{host}"
            if host and taken in seen:
                yield duplicate(f"{path}.hostPort", taken)
            seen.add(taken)


def _environment(container: Json, path: str) -> Iterator[Cause]:
    for index, variable in enumerate(container.get("env") or ()):
        place, name = f"{path}.env[{index}]", variable.get("name", "")
        told = names.env_name_problem(name) if name else None
        if not name:
            yield required(f"{place}.name")
        elif told:
            yield invalid_value(f"{place}.name", name, told)
        for source, part in _REFERENCES:
            reference = (variable.get("valueFrom") or {}).get(source)
            if reference is not None and not reference.get(part):
                yield required(f"{place}.valueFrom.{source}.{part}")
        if variable.get("value") and variable.get("valueFrom"):
            detail = "may not be specified when `value` is not empty"
            yield invalid_value(f"{place}.valueFrom", "", detail)


def _mounts(container: Json, path: str, volumes: set[str]) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        place, name, where = (
            f"{path}.volumeMounts[{index}]",
            mount.get("name", ""),
            mount.get("mountPath", ""),
        )
        if not name:
            yield required(f"{place}.name")
        elif name not in volumes:
            yield missing_value(f"{place}.name", name)
        if not where:
            yield required(f"{place}.mountPath")
        elif where in seen:
            yield invalid_value(f"{place}.mountPath", where, "must be unique")
        seen.add(where)


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
    for name, amount in (resources.get("requests") or {}).items():
        limit = limits.get(name)
        if limit is not None and quantities.parse(amount) > quantities.parse(limit):
            detail = f"must be less than or equal to {name} limit of {limit}"
            yield invalid_value(f"{path}.requests", amount, detail)


def _tolerations(spec: Json) -> Iterator[Cause]:
    for index, one in enumerate(spec.get("tolerations") or ()):
        place = f"spec.tolerations[{index}]"
        operator = one.get("operator") or "Equal"
        if not one.get("key") and operator != "Exists":
            detail = (
                "operator must be Exists when `key` is empty, "
                'which means "match all values and all keys"'
            )
            yield invalid_value(f"{place}.operator", one.get("operator", ""), detail)
        if operator == "Exists" and one.get("value"):
            yield invalid_value(
                f"{place}.operator", one, "value must be empty when `operator` is 'Exists'"
            )
        if one.get("effect") and one["effect"] not in _EFFECTS:
            yield unsupported(f"{place}.effect", one["effect"], sorted(_EFFECTS))
        if one.get("tolerationSeconds") is not None and one.get("effect") != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid_value(f"{place}.effect", one.get("effect", ""), detail)


def check_gates_only_shrink(live: Json, updated: Json) -> Iterator[Cause]:
    """Check that scheduling gates are only taken away."""
    known = {gate["name"] for gate in live.get("schedulingGates") or ()}
    for index, gate in enumerate(updated.get("schedulingGates") or ()):
        if gate["name"] not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield forbidden_value(f"spec.schedulingGates[{index}].name", detail)
