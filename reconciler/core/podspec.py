"""What the API server checks of a pod beyond types: names used once, one of several, amounts."""

from collections.abc import Iterator
from typing import Any

from reconciler.core.mistakes import Mistake, likely, shown, word
from reconciler.core.places import Path
from reconciler.core.pod_parts import child, containers, entries, handlers, is_sidecar, text
from reconciler.kube import quantities
from reconciler.model.findings import Severity
from reconciler.model.refs import Json

_OURS = {
    "nodeName": "rooms are placed by the cluster's scheduler; use nodeSelector or affinity",
    "serviceAccountName": "every scheduler has a service account of its own; take it out",
    "serviceAccount": "every scheduler has a service account of its own; take it out",
    "ephemeralContainers": "they are added to running pods only; take them out",
}
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_MOST_LISTED = 5
_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")


def check_pod_spec(spec: Json) -> Iterator[Mistake]:
    """Yield the mistakes of a pod's spec; paths begin inside it."""
    for name, fix in _OURS.items():
        if spec.get(name):
            message = "may not be set by a template"
            yield Mistake((name,), message, fix, "reserved-property", at_key=True)
    yield from _once((item for item in containers(spec)), "name", "container")
    yield from _once(entries(spec, "volumes"), "name", "volume")
    yield from _ports(spec)
    for path, container in containers(spec):
        yield from _container(path, container)
    for path, volume in entries(spec, "volumes"):
        yield from _one_source(path, volume)
    yield from _selectors(spec)
    if spec.get("dnsPolicy") == "None" and not child(spec, "dnsConfig").get("nameservers"):
        fix = "add dnsConfig: {nameservers: [...]}"
        yield Mistake(("dnsPolicy",), "dnsPolicy None needs nameservers", fix, "one-of")


def _once(items: Iterator[tuple[Path, Json]], key: str, what: str) -> Iterator[Mistake]:
    seen: set[str] = set()
    for path, item in items:
        name = text(item, key)
        if name and name in seen:
            message = f"{what} {shown(name)} stands here twice"
            yield Mistake((*path, key), message, "give each its own name", "duplicate")
        seen.add(name)


def _ports(spec: Json) -> Iterator[Mistake]:
    seen: set[tuple[Any, str]] = set()
    for path, container in entries(spec, "containers"):
        yield from _once(entries(container, "ports", path), "name", "port")
        for at, port in entries(container, "ports", path):
            number, protocol = port.get("containerPort"), text(port, "protocol") or "TCP"
            if isinstance(number, int) and (number, protocol) in seen:
                message = f"port {number}/{protocol} stands in this pod twice"
                fix = "containers of a pod share their ports: use another number or protocol"
                where = (*at, "containerPort")
                yield Mistake(where, message, fix, "duplicate-port", severity=Severity.WARNING)
            if isinstance(number, int):
                seen.add((number, protocol))


def _container(path: Path, container: Json) -> Iterator[Mistake]:
    yield from _once(entries(container, "env", path), "name", "variable")
    yield from _once(entries(container, "volumeMounts", path), "mountPath", "mount path")
    for at, variable in entries(container, "env", path):
        yield from _variable(at, variable)
    for at, source in entries(container, "envFrom", path):
        yield from _exactly_one(at, source, ("configMapRef", "secretRef"), "source")
    for at, handler in handlers(container, path):
        of_probe = at[-1] not in ("postStart", "preStop")
        yield from _exactly_one(at, handler, _PROBES if of_probe else _HOOKS, "action")
        if not is_sidecar(path, container):
            fix = "take it out, or set restartPolicy: Always to make it a sidecar"
            message = "an init container that ends has no probes or hooks"
            yield Mistake(at, message, fix, "init-container", at_key=True)
        if at[-1] in ("livenessProbe", "startupProbe") and handler.get("successThreshold", 1) != 1:
            message = f"must be 1 for a {at[-1]}"
            yield Mistake((*at, "successThreshold"), message, "write 1", "range")
    yield from _amounts((*path, "resources"), child(container, "resources"))


def _variable(path: Path, variable: Json) -> Iterator[Mistake]:
    source = variable.get("valueFrom")
    if source is None:
        return
    if variable.get("value"):
        message = "value and valueFrom exclude each other"
        yield Mistake(path, message, "keep one of them", "one-of")
    yield from _exactly_one(
        (*path, "valueFrom"),
        child(variable, "valueFrom"),
        ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"),
        "source",
    )


def _exactly_one(path: Path, value: Json, names: tuple[str, ...], what: str) -> Iterator[Mistake]:
    given = [name for name in names if value.get(name) is not None]
    if len(given) == 1:
        return
    wanted = f"one of {', '.join(names)}"
    if given:
        message = f"has {len(given)} {what}s: {', '.join(given)}"
        yield Mistake(path, message, "keep one of them", "one-of", at_key=True)
    else:
        yield Mistake(path, f"has no {what}", f"add {wanted}", "one-of", at_key=True)


def _one_source(path: Path, volume: Json) -> Iterator[Mistake]:
    sources = volume.keys() - {"name"}
    given = sorted(name for name in sources if volume[name] is not None)
    if len(given) > 1:
        named = ", ".join(map(word, given[:_MOST_LISTED]))
        message = f"a volume has one source, not {len(given)}: {named}"
        yield Mistake(path, message, "keep one of them", "one-of")
    elif not sources:
        fix = "add emptyDir: {}, or configMap, secret, persistentVolumeClaim…"
        message = "the volume has no source and will be an empty directory"
        yield Mistake(path, message, fix, "one-of", severity=Severity.WARNING)


def _amounts(path: Path, resources: Json) -> Iterator[Mistake]:
    limits = child(resources, "limits")
    for part in ("requests", "limits"):
        for name, amount in child(resources, part).items():
            if not _is_resource(name):
                fix = (
                    f"did you mean {shown(near)}?"
                    if (near := likely(name, _RESOURCES))
                    else ("write its whole name, such as example.com/gpu")
                )
                at = (*path, part, name)
                yield Mistake(at, "unknown resource", fix, "resource", at_key=True)
            if (_number(amount) or 0) < 0:
                message = f"must not be negative: {shown(amount)}"
                yield Mistake((*path, part, name), message, "write 0 or more", "range")
    for name, amount in child(resources, "requests").items():
        asked, most = _number(amount), _number(limits.get(name))
        if asked is not None and most is not None and asked > most:
            message = f"asks for {shown(amount)}, above its limit {shown(limits[name])}"
            yield Mistake((*path, "requests", name), message, "raise the limit", "range")


def _is_resource(name: str) -> bool:
    return name in _RESOURCES or "/" in name or name.startswith("hugepages-")


def _number(amount: Any) -> Any:
    try:
        return quantities.parse(amount) if type(amount) in (str, int, float) else None
    except ValueError:
        return None


def _selectors(spec: Json) -> Iterator[Mistake]:
    for path, toleration in entries(spec, "tolerations"):
        operator = toleration.get("operator")
        if operator == "Exists" and toleration.get("value"):
            message = "operator Exists goes without a value"
            yield Mistake((*path, "value"), message, "take it out", "one-of", at_key=True)
        if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != (
            "NoExecute"
        ):
            message = "tolerationSeconds is for the effect NoExecute"
            yield Mistake(path, message, "write effect: NoExecute", "one-of")
        if not toleration.get("key") and operator != "Exists":
            message = "a toleration without a key tolerates everything"
            yield Mistake(path, message, "add a key, or operator: Exists", "missing-property")
    affinity = spec.get("affinity")
    if isinstance(affinity, dict):
        yield from _requirements(affinity, ("affinity",))


def _requirements(value: Any, path: Path) -> Iterator[Mistake]:
    """Judge every `matchExpressions` entry below `value`, wherever affinity nests it."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _requirements(item, (*path, index))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _requirements(inner, (*path, name))
        operator, values = value.get("operator"), value.get("values")
        if operator in ("In", "NotIn") and not values:
            yield Mistake(path, f"operator {operator} needs values", "add values", "one-of")
        if operator in ("Exists", "DoesNotExist") and values:
            message = f"operator {operator} goes without values"
            yield Mistake((*path, "values"), message, "take them out", "one-of", at_key=True)
