"""The host ports that a pod asks for, as its spec says."""

from collections.abc import Iterable
from functools import lru_cache

from reconciler.model.live import HostPort
from reconciler.model.refs import Json


def host_ports_of(spec: Json) -> tuple[HostPort, ...]:
    """Return the host ports that a pod's containers ask for."""
    return tuple(_host_ports(spec.get("containers") or ()))


def held_ports_of(spec: Json) -> tuple[HostPort, ...]:
    """Return the same with those of sidecars among its init containers.

    The kube-scheduler counts what runs for as long as the pod does.
    """
    inits = spec.get("initContainers") or ()
    sidecars = [each for each in inits if each.get("restartPolicy") == "Always"]
    return (*host_ports_of(spec), *_host_ports(sidecars))


def _host_ports(containers: Iterable[Json]) -> Iterable[HostPort]:
    for container in containers:
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield _host_port(
                    port["hostPort"],
                    port.get("protocol") or "TCP",
                    port.get("name") or "",
                    port.get("containerPort") or 0,
                )


@lru_cache(maxsize=1 << 17)
def _host_port(port: int, protocol: str, name: str, container_port: int) -> HostPort:
    return HostPort(port, protocol, name, container_port)
