"""References inside a pod template: each must name something that the template has."""

from collections.abc import Iterator

from reconciler.core.mistakes import Mistake, likely, shown, word
from reconciler.core.places import Path
from reconciler.core.pod_parts import child, containers, entries, handlers, text
from reconciler.model.refs import Json

_MOST_LISTED = 12


def check_references(spec: Json) -> Iterator[Mistake]:
    """Yield the references of a pod's spec that lead nowhere; paths begin inside it."""
    volumes = {text(volume, "name"): volume for _, volume in entries(spec, "volumes")}
    claims = {text(claim, "name") for _, claim in entries(spec, "resourceClaims")}
    for path, container in containers(spec):
        yield from _mounts(path, container, volumes)
        yield from _devices(path, container, volumes)
        yield from _port_names(path, container)
        resources = child(container, "resources")
        for at, claim in entries(resources, "claims", (*path, "resources")):
            yield from _known((*at, "name"), text(claim, "name"), claims, "resource claim")
    names = {text(container, "name") for _, container in containers(spec)}
    for path, container in containers(spec):
        for at, variable in entries(container, "env", path):
            source = child(variable, "valueFrom", "resourceFieldRef")
            where = (*at, "valueFrom", "resourceFieldRef", "containerName")
            yield from _known(where, text(source, "containerName"), names, "container")


def _mounts(path: Path, container: Json, volumes: dict[str, Json]) -> Iterator[Mistake]:
    for at, mount in entries(container, "volumeMounts", path):
        yield from _known((*at, "name"), text(mount, "name"), set(volumes), "volume")


def _devices(path: Path, container: Json, volumes: dict[str, Json]) -> Iterator[Mistake]:
    for at, device in entries(container, "volumeDevices", path):
        name = text(device, "name")
        yield from _known((*at, "name"), name, set(volumes), "volume")
        volume = volumes.get(name)
        if volume is not None and not ({"persistentVolumeClaim", "ephemeral"} & volume.keys()):
            message = f"volume {shown(name)} is no persistent volume claim"
            yield Mistake((*at, "name"), message, "use volumeMounts for it", "reference")


def _port_names(path: Path, container: Json) -> Iterator[Mistake]:
    known = {text(port, "name") for _, port in entries(container, "ports")} - {""}
    for at, handler in handlers(container, path):
        for action in ("httpGet", "tcpSocket"):
            port = child(handler, action).get("port")
            where = (*at, action, "port")
            if isinstance(port, str):
                yield from _known(where, port, known, "port")
            elif type(port) is int and not 1 <= port <= 65535:
                message = f"must be a port from 1 to 65535, not {port}"
                yield Mistake(where, message, "write the one that the game listens at", "range")


def _known(path: Path, name: str, known: set[str], what: str) -> Iterator[Mistake]:
    if not name or name in known:
        return
    near = likely(name, known)
    if near is not None:
        fix = f"did you mean {shown(near)}?"
    else:
        listed = ", ".join(map(word, sorted(known)[:_MOST_LISTED])) or "none"
        fix = f"{what}s here: {listed}"
    yield Mistake(path, f"there is no {what} {shown(name)} in this template", fix, "reference")
