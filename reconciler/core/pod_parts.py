"""The parts of a pod template that checks look at, with their paths; whatever is misshapen is not.

Shapes are told by `schema_check`; these walks only ever yield what has the right shape, so that
every check runs over every template, however broken its other parts are.
"""

from collections.abc import Iterator
from typing import Any

from reconciler.core.places import Path
from reconciler.model.refs import Json


def child(value: Any, *names: str) -> Json:
    """Return the mapping at `names` inside `value`; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def entries(value: Any, name: str, at: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield path and value of every mapping in the list `name` of `value`, which stands at `at`."""
    items = value.get(name) if isinstance(value, dict) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield (*at, name, index), item


def containers(spec: Json) -> Iterator[tuple[Path, Json]]:
    """Yield init containers, then containers, with paths from the pod's spec."""
    yield from entries(spec, "initContainers")
    yield from entries(spec, "containers")


def is_sidecar(path: Path, container: Json) -> bool:
    """Whether a container runs as long as the room does."""
    return path[0] == "containers" or container.get("restartPolicy") == "Always"


def handlers(container: Json, at: Path) -> Iterator[tuple[Path, Json]]:
    """Yield every probe and lifecycle hook of a container that stands at `at`."""
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        if isinstance(container.get(name), dict):
            yield (*at, name), container[name]
    lifecycle = child(container, "lifecycle")
    for name in ("postStart", "preStop"):
        if isinstance(lifecycle.get(name), dict):
            yield (*at, "lifecycle", name), lifecycle[name]


def text(value: Json, name: str) -> str:
    """Return a property that is text; "" where it is anything else."""
    found = value.get(name)
    return found if isinstance(found, str) else ""
