"""Check host ports: the range, what a room wants of it, and which containerPorts are meant."""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from reconciler.core.compile import FLEET_PORTS
from reconciler.core.exposed_ports import container_ports
from reconciler.core.mistakes import Mistake
from reconciler.core.pod_parts import child, entries
from reconciler.core.podspec import check_pod_spec
from reconciler.model.findings import Severity
from reconciler.model.refs import Json

_RANGE = ("spec", "portRange")
_EXPOSED = ("spec", "portsToExpose")
_MOST_EXPOSED = 100
_MOST_LISTED = 12


def check_ports(value: Json) -> Iterator[Mistake]:
    """Yield the mistakes of a workload's host ports; the shape of each part is the schema's."""
    spec = child(value, "spec")
    yield from _unknown_ports(spec)
    written = "portRange" in spec
    port_range = spec.get("portRange", FLEET_PORTS if value.get("kind") == "Fleet" else None)
    start, end = (_port(child({"r": port_range}, "r").get(name)) for name in ("start", "end"))
    if start is None or end is None:
        return
    if start > end:
        message = f"start {start} is above end {end}"
        fix = f"write start: {end} and end: {start}"
        yield Mistake(_RANGE, message, fix, "range", at_key=True)
        return
    yield from _collisions(spec)
    yield from _room_in_range(spec, start, end, written=written)


def _room_in_range(spec: Json, start: int, end: int, *, written: bool) -> Iterator[Mistake]:
    at = _RANGE if written else ("spec",)
    wanted, size = len(container_ports(_sound(spec), _exposed(spec))), end - start + 1
    if wanted == 0:
        if written and _exposed(spec) is None:
            message = "no container of the template has a port, so no host port is given out"
            fix = "add ports to the container, or take portRange out"
            yield Mistake(at, message, fix, "port-range", True, Severity.WARNING)
    elif wanted > size:
        message = f"a room wants {wanted} host ports, and the range has {size}"
        yield Mistake(at, message, f"write end: {start + wanted - 1} or more", "port-range", True)
    elif (most := _most_rooms(spec))[0] * wanted > size:
        rooms, where = most
        message = f"{rooms} rooms{where} want {rooms * wanted} host ports, and the range has {size}"
        fix = "widen it, or have as many nodes as rooms share a port"
        yield Mistake(at, message, fix, "port-range", True, Severity.WARNING)


def _most_rooms(spec: Json) -> tuple[int, str]:
    """Return how many rooms there may be, and where that is written, "" for `replicas`."""
    scaling = child(spec, "autoscaling")
    replicas, most = spec.get("replicas"), scaling.get("max")
    rooms = replicas if type(replicas) is int else 0
    if scaling.get("enabled") is False or type(most) is not int or most <= rooms:
        return rooms, ""
    return most, " (autoscaling.max)"


def _unknown_ports(spec: Json) -> Iterator[Mistake]:
    listed = spec.get("portsToExpose")
    known = dict.fromkeys(container_ports(_sound(spec)))
    shown = ", ".join(map(str, islice(known, _MOST_LISTED))) or "none"
    # What stands beyond the schema's bound is the schema's to tell of.
    some = listed[:_MOST_EXPOSED] if isinstance(listed, list) else ()
    for index, port in enumerate(some):
        if _port(port) and port not in known:
            message = f"no container of the template has the containerPort {port}"
            fix = f"containerPorts here: {shown}"
            yield Mistake((*_EXPOSED, index), message, fix, "reference")


def _collisions(spec: Json) -> Iterator[Mistake]:
    """Refuse a port that is declared twice: both would be stamped with one host port."""
    for mistake in check_pod_spec(child(spec, "template", "spec")):
        if mistake.rule == "duplicate-port":
            at = ("spec", "template", "spec", *mistake.path)
            message = "declared twice, it would get one host port twice, which Kubernetes refuses"
            yield Mistake(at, message, "declare it once", "port-range")


def _sound(spec: Json) -> Json:
    """Return a template with the sound ports of a spec, whatever else is wrong with it."""
    sound = [
        {"ports": [port for _, port in entries(one, "ports") if _port(port.get("containerPort"))]}
        for _, one in entries(child(spec, "template", "spec"), "containers")
    ]
    return {"spec": {"containers": sound}}


def _exposed(spec: Json) -> Collection[int] | None:
    listed = spec.get("portsToExpose")
    return frozenset(filter(_port, listed)) if isinstance(listed, list) else None


def _port(value: Any) -> int | None:
    return value if type(value) is int and 1 <= value <= 65535 else None
