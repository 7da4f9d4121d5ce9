"""Put the data of one room on what the templates rendered; never text (rule 7).

Nothing of this is in a revision: what a release stamps otherwise restarts no room.
"""

import json
import re
from functools import lru_cache

from reconciler.core.exposed_ports import container_ports
from reconciler.core.reach import CONTAINERS, UNREACHED, Reach, variable, with_token
from reconciler.core.reach import environment as reporting
from reconciler.model.plans import RoomSeat
from reconciler.model.refs import Json
from reconciler.model.specs import Workload

_HOST_IP: Json = {
    "name": "GAMEKEEPER_HOST_IP",
    "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}},
}


def room_name(workload: str, ordinal: int) -> str:
    """Return the name of a room; `ordinal_of` of the views reads it back."""
    return f"{workload}-{ordinal}"


def stamp_room(room: str, workload: Workload, seat: RoomSeat, reach: Reach = UNREACHED) -> Json:
    """Return the pod of one room: name, host ports, environment and token on the `room` JSON.

    The environment goes to every container, init containers too; a name that the user's
    template sets itself is left as the user wrote it. What is the same in every room of a
    workload is shared between them: no part of a pod may be changed in place.
    """
    shared = _parsed(room, workload.hears)
    name = room_name(workload.key.name, seat.ordinal)
    ports = container_ports(workload.template, workload.ports_to_expose)
    chosen = dict(zip(ports, seat.host_ports, strict=False))
    environment = [
        *_environment(workload, name, shared, chosen),
        *(reporting(workload, name, reach) if workload.hears else ()),
    ]
    spec = {
        **shared["spec"],
        **{
            group: [_stamped(each, chosen, environment) for each in shared["spec"][group]]
            for group in CONTAINERS
            if shared["spec"].get(group)
        },
    }
    metadata = {**shared["metadata"], "name": name, "namespace": workload.key.namespace}
    return {**shared, "metadata": metadata, "spec": spec}


@lru_cache(maxsize=64)
def _parsed(room: str, hears: bool) -> Json:
    # A thousand rooms of one template are parsed once.
    parsed: Json = json.loads(room)
    return with_token(parsed) if hears else parsed


def _stamped(container: Json, chosen: dict[int, int], environment: list[Json]) -> Json:
    given = container.get("env") or []
    own = {variable["name"] for variable in given}
    added = [variable for variable in environment if variable["name"] not in own]
    stamped = {**container, "env": [*added, *given]}
    if chosen and container.get("ports"):
        stamped["ports"] = [
            {**entry, "hostPort": chosen[entry["containerPort"]]}
            if entry["containerPort"] in chosen
            else entry
            for entry in container["ports"]
        ]
    return stamped


@lru_cache(maxsize=1024)
def _in_capitals(label: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", label.upper())


def _environment(workload: Workload, name: str, pod: Json, chosen: dict[int, int]) -> list[Json]:
    """Return what every room learns; the two of Maestro's at the end."""
    variables: list[Json] = [
        variable("GAMEKEEPER_ROOM", name),
        variable("GAMEKEEPER_WORKLOAD", workload.key.name),
        variable("GAMEKEEPER_NAMESPACE", workload.key.namespace),
        _HOST_IP,
    ]
    named: dict[str, int] = {}
    for container in pod["spec"]["containers"]:
        for entry in container.get("ports") or []:
            number = chosen.get(entry["containerPort"])
            if number is not None:
                label = entry.get("name") or str(entry["containerPort"])
                named[_in_capitals(label)] = number
    variables += [variable(f"GAMEKEEPER_PORT_{label}", number) for label, number in named.items()]
    variables.append(variable("MAESTRO_SCHEDULER_NAME", workload.key.name))
    variables.append(variable("MAESTRO_ROOM_ID", name))
    return variables
