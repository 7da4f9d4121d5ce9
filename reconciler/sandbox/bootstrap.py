"""What a cluster holds before anybody has asked it anything."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.sandbox.behaviour import NodeShape
from reconciler.sandbox.kinds import NAMESPACE, NODE
from reconciler.sandbox.requests import Json
from reconciler.sandbox.world import World

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


def found(world: World, nodes: Sequence[NodeShape], now: float) -> None:
    """Set up a fresh cluster."""
    for name in _NAMESPACES:
        labels = {"kubernetes.io/metadata.name": name}
        value: Json = {
            "kind": "Namespace",
            "apiVersion": "v1",
            "metadata": {"name": name, "labels": labels},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }
        world.add(NAMESPACE, value, now)
    add_nodes(world, nodes, now)


def add_nodes(world: World, nodes: Sequence[NodeShape], now: float) -> None:
    """Register nodes as their kubelets do."""
    for shape in nodes:
        world.add(NODE, _node(shape), now)


def _node(shape: NodeShape) -> Json:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": shape.name,
        "kubernetes.io/os": "linux",
    }
    room = {"cpu": shape.cpu, "memory": shape.memory, "pods": str(shape.pods)}
    status: Json = {"capacity": room, "allocatable": dict(room)}
    if shape.external_address:
        status["addresses"] = [{"type": "ExternalIP", "address": shape.external_address}]
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": shape.name, "labels": {**labels, **shape.labels}},
        "spec": {},
        "status": status,
    }
