"""What an injector makes of rooms at their creation, as a mutating webhook of a mesh does.

The game stays the first container: tests look for its image there.
"""

import copy
from collections.abc import Callable

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.refs import Json

MESH = "example.com/mesh"
_PROXY: Json = {
    "name": "mesh",
    "image": "registry.example/mesh:7",
    "ports": [{"name": "mesh", "containerPort": 15090, "protocol": "TCP"}],
    "resources": {"requests": {"cpu": "10m"}},
}


def _marked(pod: Json) -> None:
    metadata = pod["metadata"]
    metadata["labels"] = {**metadata.get("labels", {}), MESH: "on"}
    metadata["annotations"] = {**metadata.get("annotations", {}), f"{MESH}-status": "injected"}


def _beside(pod: Json) -> None:
    pod["spec"]["containers"].append(copy.deepcopy(_PROXY))


def _before(pod: Json) -> None:
    sidecar = {**copy.deepcopy(_PROXY), "restartPolicy": "Always"}
    pod["spec"].setdefault("initContainers", []).append(sidecar)


def _tolerant(pod: Json) -> None:
    pod["spec"].setdefault("tolerations", []).append({"key": MESH, "operator": "Exists"})


INJECTORS: dict[str, Callable[[Json], None]] = {
    "a container": _beside,
    "a sidecar among the init containers": _before,
    "a toleration": _tolerant,
}
"""Each sets a label and an annotation, too."""


def injected(call: Call, injector: str) -> Json:
    """Return the pod that the server makes of the one that a call asks for."""
    assert isinstance(call.body, dict)
    pod: Json = copy.deepcopy(call.body)
    _marked(pod)
    INJECTORS[injector](pod)
    return pod
