"""What a pod asks of the node it runs on: resources, host ports, and its quality of service."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from reconciler.kube.json_types import Json
from reconciler.kube.quantities import parse

Requests = dict[str, Decimal]
HostPort = tuple[int, str, str]

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - a value compared with, nothing listens here
_COUNTED_FOR_QUALITY = ("cpu", "memory")


def requests(pod_spec: Json) -> Requests:
    """Sum what the scheduler sets aside for a pod, in the base unit of each resource.

    Init containers run before the others and one by one, sidecars (init containers that restart
    always) run on beside all that start after them.
    """
    running: Requests = {}
    for container in pod_spec.get("containers") or ():
        _add(running, _asked(container))
    sidecars: Requests = {}
    peak: Requests = {}
    for container in pod_spec.get("initContainers") or ():
        beside = dict(sidecars)
        _add(beside, _asked(container))
        if _is_sidecar(container):
            _add(running, _asked(container))
            sidecars = beside
        _raise(peak, beside)
    _raise(running, peak)
    running.update(
        (name, amount) for name, amount in _asked(pod_spec).items() if _is_pod_level(name)
    )
    _add(running, _amounts(pod_spec.get("overhead")))
    return running


def host_ports(pod_spec: Json) -> frozenset[HostPort]:
    """List the (port, protocol, host address) triples that a pod takes on its node."""
    on_host = bool(pod_spec.get("hostNetwork"))
    return frozenset(
        (int(number), port.get("protocol") or "TCP", port.get("hostIP") or _ANY_ADDRESS)
        for container in _long_running(pod_spec)
        for port in container.get("ports") or ()
        if (number := port.get("hostPort") or (on_host and port.get("containerPort")))
    )


def host_ports_clash(wanted: frozenset[HostPort], taken: frozenset[HostPort]) -> bool:
    """Tell whether two sets of host ports cannot share a node; every address clashes with all."""
    return any(
        port == other_port
        and protocol == other_protocol
        and (address == other_address or _ANY_ADDRESS in (address, other_address))
        for port, protocol, address in wanted
        for other_port, other_protocol, other_address in taken
    )


def qos_class(pod_spec: Json) -> str:
    """Name the quality of service class: Guaranteed, Burstable or BestEffort."""
    holders = [pod_spec] if pod_spec.get("resources") else list(_containers(pod_spec))
    asked = [_for_quality(_asked(holder)) for holder in holders]
    limits = [_for_quality(_listed(holder, "limits")) for holder in holders]
    if not any(asked) and not any(limits):
        return "BestEffort"
    guaranteed = all(
        set(limit) == set(_COUNTED_FOR_QUALITY) and limit == request
        for limit, request in zip(limits, asked, strict=True)
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _containers(pod_spec: Json) -> Iterator[Json]:
    yield from pod_spec.get("containers") or ()
    yield from pod_spec.get("initContainers") or ()


def _long_running(pod_spec: Json) -> Iterator[Json]:
    yield from pod_spec.get("containers") or ()
    yield from filter(_is_sidecar, pod_spec.get("initContainers") or ())


def _is_sidecar(container: Json) -> bool:
    return container.get("restartPolicy") == "Always"


def _is_pod_level(resource: str) -> bool:
    return resource in _COUNTED_FOR_QUALITY or resource.startswith("hugepages-")


def _asked(holder: Json) -> Requests:
    """Read the requests; a limit without a request is the request too, as the server defaults."""
    return {**_listed(holder, "limits"), **_listed(holder, "requests")}


def _listed(holder: Json, which: str) -> Requests:
    return _amounts((holder.get("resources") or {}).get(which))


def _amounts(quantities: Json | None) -> Requests:
    return {name: parse(amount) for name, amount in (quantities or {}).items()}


def _for_quality(amounts: Requests) -> Requests:
    return {name: amounts[name] for name in _COUNTED_FOR_QUALITY if amounts.get(name)}


def _add(total: Requests, more: Mapping[str, Decimal]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Decimal(0)) + amount


def _raise(total: Requests, floor: Mapping[str, Decimal]) -> None:
    for name, amount in floor.items():
        total[name] = max(total.get(name, Decimal(0)), amount)
