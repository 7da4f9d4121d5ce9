"""Put the data of one room, or a count, on what the templates rendered; never text (rule 7)."""

import json
import re
from collections.abc import Iterator

from reconciler.core.host_ports import container_ports
from reconciler.model.plans import RoomSeat
from reconciler.model.refs import Json
from reconciler.model.specs import Workload


def room_name(workload: str, ordinal: int) -> str:
    """Return the name of a room; `ordinal_of` of the views reads it back."""
    return f"{workload}-{ordinal}"


def stamp_room(room: str, workload: Workload, seat: RoomSeat) -> Json:
    """Return the pod of one room: name, host ports and environment on the rendered `room` JSON.

    The environment goes to every container, init containers too; a name that the user's
    template sets itself is left as the user wrote it.
    """
    pod: Json = json.loads(room)
    name = room_name(workload.key.name, seat.ordinal)
    pod["metadata"] = {**pod["metadata"], "name": name, "namespace": workload.key.namespace}
    chosen = dict(zip(container_ports(workload.template), seat.host_ports, strict=False))
    environment = _environment(workload, name, pod, chosen)
    for container in _containers(pod):
        for entry in container.get("ports") or []:
            if entry["containerPort"] in chosen:
                entry["hostPort"] = chosen[entry["containerPort"]]
        own = {variable["name"] for variable in container.get("env") or []}
        added = [variable for variable in environment if variable["name"] not in own]
        container["env"] = [*added, *(container.get("env") or [])]
    return pod


def stamp_budget(pdb: Json, workload: Workload) -> Json:
    """Return the PDB with its count: of n rooms floor(n * (1 - safetyPercentage)) stay.

    Without reports nobody knows which rooms are occupied, so the promise is about all of them
    (DESIGN §4, `mode: count`). An integer, since percentages do not work for bare pods.
    """
    share = 1 - workload.disruption.safety_percentage
    # Rounded at 9 digits first: 20 * 0.95 is 18.999999999999996 in binary.
    stays = int(round(workload.replicas * share, 9))
    return {**pdb, "spec": {**pdb["spec"], "minAvailable": stays}}


def _containers(pod: Json) -> Iterator[Json]:
    yield from pod["spec"].get("initContainers") or []
    yield from pod["spec"]["containers"]


def _environment(workload: Workload, name: str, pod: Json, chosen: dict[int, int]) -> list[Json]:
    variables: list[Json] = [
        {"name": "GAMEKEEPER_ROOM", "value": name},
        {"name": "GAMEKEEPER_WORKLOAD", "value": workload.key.name},
        {"name": "GAMEKEEPER_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
    ]
    named: dict[str, int] = {}
    for container in pod["spec"]["containers"]:
        for entry in container.get("ports") or []:
            number = chosen.get(entry["containerPort"])
            if number is not None:
                label = entry.get("name") or str(entry["containerPort"])
                named[re.sub(r"[^A-Z0-9]", "_", label.upper())] = number
    variables.extend(
        {"name": f"GAMEKEEPER_PORT_{label}", "value": str(number)}
        for label, number in named.items()
    )
    return variables
