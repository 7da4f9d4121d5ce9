"""What every node has left: the book-keeping of the scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from reconciler.kube import quantities, resources
from reconciler.kube.resources import HostPort
from reconciler.sandbox.requests import Json

_ANY = str(IPv4Address(0))  # how a host port on every address is written
Amounts = dict[str, int]  # thousandths of the base unit


@dataclass(frozen=True, slots=True)
class Need:
    """What one pod takes of its node."""

    key: str
    namespace: str
    labels: Mapping[str, str]
    amounts: Amounts
    ports: frozenset[HostPort]
    addressed: int  # ports that are taken on one address only


@dataclass(slots=True)
class Room:
    """One node: what it can hold and what it holds."""

    node: Json
    allocatable: Amounts
    used: Counter[str] = field(default_factory=Counter)
    ports: Counter[HostPort] = field(default_factory=Counter)
    needs: dict[str, Need] = field(default_factory=dict)
    addressed: int = 0
    guarded: bool = False  # the node keeps some pods away

    @property
    def name(self) -> str:
        """Give the name of the node."""
        return str(self.node["metadata"]["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        """Give the labels of the node."""
        labels: Mapping[str, str] = self.node["metadata"].get("labels") or {}
        return labels

    def add(self, need: Need) -> None:
        """Book a pod."""
        self.needs[need.key] = need
        self.used.update(need.amounts)
        self.ports.update(need.ports)
        self.addressed += need.addressed

    def take(self, key: str) -> Need | None:
        """Strike a pod off."""
        need = self.needs.pop(key, None)
        if need is not None:
            self.used.subtract(need.amounts)
            self.ports.subtract(need.ports)
            self.addressed -= need.addressed
            self.ports = +self.ports if need.ports else self.ports
        return need

    def shortages(self, need: Need) -> list[str]:
        """Say what this node lacks for a pod."""
        told = []
        if len(self.needs) + 1 > self.allocatable.get("pods", 0) // 1000:
            told.append("Too many pods")
        for name, amount in need.amounts.items():
            if amount and self.used[name] + amount > self.allocatable.get(name, 0):
                told.append(f"Insufficient {name}")
        return told

    def is_too_small(self, need: Need) -> bool:
        """Tell whether the pod would not fit even if the node were empty."""
        amounts = need.amounts.items()
        return any(amount > self.allocatable.get(name, 0) for name, amount in amounts)

    def clashes(self, need: Need) -> bool:
        """Tell whether a host port that the pod wants is taken."""
        if not need.ports or not self.ports:
            return False
        if not need.ports.isdisjoint(self.ports):
            return True
        if not self.addressed and not need.addressed:
            return False
        return resources.host_ports_clash(need.ports, frozenset(self.ports))

    def emptiness(self, need: Need) -> int:
        """Score how much would be left (0 to 100), as the scheduler spreads load."""
        scores = []
        for name in ("cpu", "memory"):
            room = self.allocatable.get(name, 0)
            left = room - self.used[name] - need.amounts.get(name, 0)
            scores.append(max(0, left) * 100 // room if room else 0)
        return sum(scores) // len(scores)


def need_of(key: str, pod: Json) -> Need:
    """Work out what a pod takes."""
    metadata, spec = pod["metadata"], pod["spec"]
    amounts = {name: int(amount * 1000) for name, amount in resources.requests(spec).items()}
    labels = metadata.get("labels") or {}
    ports = resources.host_ports(spec)
    addressed = sum(1 for *_, address in ports if address != _ANY)
    return Need(key, metadata["namespace"], labels, amounts, ports, addressed)


def room_of(node: Json) -> Room:
    """Work out what a node can hold."""
    status, spec = node.get("status", {}), node["spec"]
    amounts = status.get("allocatable") or status.get("capacity") or {}
    room = Room(node, {name: int(quantities.parse(text) * 1000) for name, text in amounts.items()})
    room.guarded = bool(spec.get("taints") or spec.get("unschedulable"))
    return room
