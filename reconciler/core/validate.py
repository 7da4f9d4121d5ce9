"""Check one document: its schema, and what a schema cannot say."""

from collections.abc import Iterator
from typing import Any

from reconciler.core.compile import canonical
from reconciler.core.host_ports import container_ports
from reconciler.core.mistakes import Mistake, below, shown
from reconciler.core.pod_parts import child, entries, text
from reconciler.core.podspec import check_pod_spec
from reconciler.core.schema_check import check
from reconciler.core.spec_kit import SpecKit
from reconciler.core.template_check import check_template
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from reconciler.model.specs import Config, Permissions

MOST_SPEC_BYTES = 128 * 1024
"""The accepted spec is kept in a record of 256 KiB beside much else."""
_NOTHING = (0, "0%")


def check_config(value: Json, kit: SpecKit) -> list[Mistake]:
    """Return the mistakes of a Config document."""
    found = check(kit.kinds["Config"], value)
    version = child(value, "spec").get("kubernetesVersion", Config().kubernetes_version)
    if not found and version not in kit.versions:
        known = ", ".join(kit.versions)
        message = f"the definitions of Kubernetes {version} are not installed"
        fix = f"installed are {known}"
        found.append(Mistake(("spec", "kubernetesVersion"), message, fix, "version"))
    return found


def check_scheduler(
    value: Json, kit: SpecKit, permissions: Permissions, version: str
) -> list[Mistake]:
    """Return the mistakes of a Scheduler document; templates are held to Kubernetes `version`."""
    size = len(canonical(value).encode(errors="replace"))
    if size > MOST_SPEC_BYTES:
        message = f"the document has {size} bytes as JSON; at most {MOST_SPEC_BYTES} are taken"
        return [Mistake((), message, "move long texts to a ConfigMap", "size")]
    found = check(kit.kinds["Scheduler"], value)
    found.extend(_name(value, permissions))
    spec = child(value, "spec")
    found.extend(_rollout(spec))
    template = spec.get("template")
    if isinstance(template, dict):
        level = permissions.pod_security
        content = (version, level, canonical(template))
        mistakes = kit.remembered(
            content, lambda: check_template(template, kit.pod_spec(version), level)
        )
        found.extend(below(("spec", "template"), mistake) for mistake in mistakes)
    found.extend(_port_range(spec))
    return found


def _name(value: Json, permissions: Permissions) -> Iterator[Mistake]:
    name = text(child(value, "metadata"), "name")
    if name in permissions.reserved_namespaces or name.startswith("kube-"):
        message = f"{shown(name)} is reserved: a scheduler's name is also its namespace"
        yield Mistake(("metadata", "name"), message, "choose another name", "reserved-name")


def _rollout(spec: Json) -> Iterator[Mistake]:
    rollout = child(spec, "rollout")
    surge, unavailable = rollout.get("maxSurge", "25%"), rollout.get("maxUnavailable", 0)
    if surge in _NOTHING and unavailable in _NOTHING and not isinstance(surge, bool):
        message = "maxSurge and maxUnavailable are both 0: no room could ever be replaced"
        yield Mistake(("spec", "rollout"), message, "write maxSurge: 1", "rollout", at_key=True)


def _port_range(spec: Json) -> Iterator[Mistake]:
    at = ("spec", "portRange")
    start, end = (_port(child(spec, "portRange").get(name)) for name in ("start", "end"))
    if start is None or end is None:
        return
    if start > end:
        message = f"start {start} is above end {end}"
        yield Mistake(at, message, f"write start: {end} and end: {start}", "range", at_key=True)
        return
    yield from _collisions(spec)
    wanted, size = _distinct_ports(spec), end - start + 1
    if wanted == 0:
        message = "no container of the template has a port, so no host port is given out"
        fix = "add ports to the container, or take portRange out"
        yield Mistake(at, message, fix, "port-range", True, Severity.WARNING)
    elif wanted > size:
        message = f"a room wants {wanted} host ports, and the range has {size}"
        yield Mistake(at, message, f"write end: {start + wanted - 1} or more", "port-range", True)
    elif type(spec.get("replicas")) is int and spec["replicas"] * wanted > size:
        needed = spec["replicas"] * wanted
        message = f"{spec['replicas']} rooms want {needed} host ports, and the range has {size}"
        fix = "widen it, or have as many nodes as rooms share a port"
        yield Mistake(at, message, fix, "port-range", True, Severity.WARNING)


def _collisions(spec: Json) -> Iterator[Mistake]:
    """Refuse a port that is declared twice: both would be stamped with one host port."""
    for mistake in check_pod_spec(child(spec, "template", "spec")):
        if mistake.rule == "duplicate-port":
            at = ("spec", "template", "spec", *mistake.path)
            message = "declared twice, it would get one host port twice, which Kubernetes refuses"
            yield Mistake(at, message, "declare it once", "port-range")


def _distinct_ports(spec: Json) -> int:
    """Count the host ports that one room is given, whatever else is wrong with its template."""
    sound = [
        {"ports": [port for _, port in entries(one, "ports") if _port(port.get("containerPort"))]}
        for _, one in entries(child(spec, "template", "spec"), "containers")
    ]
    return len(container_ports({"spec": {"containers": sound}}))


def _port(value: Any) -> int | None:
    return value if type(value) is int and 1 <= value <= 65535 else None
