"""Simulated nodes as a kubelet would register them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.controlplane.programs import kubernetes_version

NODES_MOST = 16_384


@dataclass(frozen=True, slots=True)
class NodeShape:
    """What a node offers, as Kubernetes quantities, and its extra labels."""

    cpu: str = "32"
    memory: str = "128Gi"
    pods: int = 500
    labels: Mapping[str, str] = field(default_factory=dict)


def node(name: str, number: int, shape: NodeShape) -> dict[str, Any]:
    """Return the Node with its own address and pod range, both told by its number.

    Raises:
        ValueError: the number leaves the address ranges (10.128.0.0/10, and 10.64.0.0/10 for pods).
    """
    if number >= NODES_MOST:
        raise ValueError(f"node number {number}: there are addresses for {NODES_MOST} nodes")
    offers = {
        "cpu": shape.cpu,
        "memory": shape.memory,
        "pods": str(shape.pods),
        "ephemeral-storage": "1Ti",
    }
    fixed = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    high, low = divmod(number, 256)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**fixed, **shape.labels}},
        "spec": {"podCIDR": f"10.{64 + high}.{low}.0/24"},
        "status": {
            "allocatable": offers,
            "capacity": offers,
            "addresses": [
                {"type": "InternalIP", "address": f"10.{128 + high}.{low}.1"},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": _node_info(name),
        },
    }


def is_usable(live: Mapping[str, Any]) -> bool:
    """Tell whether a live node is ready and takes pods."""
    conditions = live.get("status", {}).get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and not live["spec"].get("taints")


def _node_info(name: str) -> dict[str, str]:
    version = kubernetes_version()
    return {
        "architecture": "amd64",
        "bootID": name,
        "containerRuntimeVersion": "kwok",
        "kernelVersion": "kwok",
        "kubeProxyVersion": version,
        "kubeletVersion": version,
        "machineID": name,
        "operatingSystem": "linux",
        "osImage": "kwok",
        "systemUUID": name,
    }
