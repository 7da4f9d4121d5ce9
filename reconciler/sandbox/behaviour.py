"""How the simulated cluster behaves: its nodes, its delays, what fails in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

PREFIX = "sandbox.gamekeeper.dev/"

# Annotations of a pod that overrule the behaviour of the cluster for it alone.
START = f"{PREFIX}start-seconds"
READY = f"{PREFIX}ready"
PULL = f"{PREFIX}pull"
CRASH = f"{PREFIX}crash-after-seconds"
EXIT = f"{PREFIX}exit-after-seconds"


@dataclass(frozen=True, slots=True)
class NodeShape:
    """One simulated node: what it is called and what it can hold."""

    name: str
    cpu: str = "16"
    memory: str = "64Gi"
    pods: int = 110
    labels: Mapping[str, str] = field(default_factory=dict)
    external_address: str = ""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Delays in seconds, and the images that misbehave (shell patterns over the whole name)."""

    start_seconds: float = 1.0
    ready_seconds: float = 0.0
    stop_seconds: float = 1.0
    namespace_seconds: float = 1.0
    backoff_seconds: float = 10.0
    bookmark_seconds: float = 60.0
    heartbeat_seconds: float = 40.0
    grace_seconds: float = 50.0  # without a heartbeat until a node is not known to be ready
    history: int = 10_000  # changes remembered per kind
    unpullable_images: Sequence[str] = ("*:missing", "*:does-not-exist", "*/missing:*")
    crashing_images: Sequence[str] = ("*:crash", "*:crashes")
    bindings_per_step: int = 50

    def pulls(self, image: str) -> bool:
        """Tell whether an image can be had."""
        return not any(fnmatchcase(image, pattern) for pattern in self.unpullable_images)

    def crashes(self, image: str) -> bool:
        """Tell whether an image dies soon after it has started."""
        return any(fnmatchcase(image, pattern) for pattern in self.crashing_images)


def nodes(count: int, prefix: str = "sandbox") -> tuple[NodeShape, ...]:
    """Name a number of equal nodes."""
    return tuple(NodeShape(f"{prefix}-{number}") for number in range(1, count + 1))
