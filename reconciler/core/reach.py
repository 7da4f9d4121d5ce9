"""What a room that reports is given for it: where to, a token of its own, a code of its own.

Nothing of this is in a revision: what a release stamps otherwise restarts no room.
"""

from dataclasses import dataclass, field

from reconciler.model import labels
from reconciler.model.masks import MASK
from reconciler.model.refs import Json
from reconciler.model.specs import Workload

VOLUME = "gamekeeper-token"
FOLDER = "/var/run/secrets/gamekeeper.dev"
TOKEN_FILE = f"{FOLDER}/token"
TOKEN_SECONDS = 3600
"""A kubelet brings a new one after four fifths of this."""
CONTAINERS = ("initContainers", "containers")
"""Where the containers of a pod stand."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How a room reaches us: where it reports to, and the code that is its own.

    Without the keys of codes, as where manifests are only shown, the code is masked.
    """

    url: str = ""
    code: str = field(default=MASK, repr=False)


UNREACHED = Reach()


def with_token(room: Json) -> Json:
    """Return the room with a token in each container, made for this instance alone.

    A volume of that name, and whatever a container has at that path, is the user's own.
    """
    spec = room["spec"]
    volumes = spec.get("volumes") or []
    if any(volume["name"] == VOLUME for volume in volumes):
        return room
    instance = (room["metadata"].get("labels") or {}).get(labels.INSTANCE, "")
    token = {
        "audience": labels.PREFIX + instance,
        "expirationSeconds": TOKEN_SECONDS,
        "path": "token",
    }
    volume = {"name": VOLUME, "projected": {"sources": [{"serviceAccountToken": token}]}}
    mounted = {
        group: [_mounted(each) for each in spec[group]] for group in CONTAINERS if spec.get(group)
    }
    return {**room, "spec": {**spec, **mounted, "volumes": [*volumes, volume]}}


def _mounted(container: Json) -> Json:
    mounts = container.get("volumeMounts") or []
    if any(mount.get("mountPath", "").rstrip("/") == FOLDER for mount in mounts):
        return container
    own: Json = {"name": VOLUME, "mountPath": FOLDER, "readOnly": True}
    return {**container, "volumeMounts": [*mounts, own]}


def environment(workload: Workload, name: str, reach: Reach) -> list[Json]:
    """Return what a room needs to report: ours, and the four of the collections."""
    return [
        variable("GAMEKEEPER_API_URL", reach.url),
        variable("GAMEKEEPER_TOKEN_FILE", TOKEN_FILE),
        variable("SERVER_NAME", name),
        variable("SERVER_NAMESPACE", workload.key.namespace),
        variable("API_SERVER_URL", reach.url),
        variable("API_SERVER_CODE", reach.code),
    ]


def variable(name: str, value: object) -> Json:
    """Return one variable of an environment."""
    return {"name": name, "value": str(value)}
