"""Nodes: their kubelets report them ready, their lease is renewed, their loss takes the pods."""

from __future__ import annotations

from reconciler.sandbox import clock
from reconciler.sandbox.controllers.agenda import Agenda
from reconciler.sandbox.kinds import LEASE, NODE, POD
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.verbs.bind import set_condition
from reconciler.sandbox.verbs.remove import DeleteOptions, remove
from reconciler.sandbox.world import World

_NOT_READY = "node.kubernetes.io/not-ready"
_LEASES = "kube-node-lease"
_ROOM = {"cpu": "16", "memory": "64Gi", "pods": "110"}
_SYSTEM = {
    "architecture": "amd64",
    "operatingSystem": "linux",
    "osImage": "Sandbox",
    "kernelVersion": "6.1.0-sandbox",
    "containerRuntimeVersion": "sandbox://1.0",
    "kubeletVersion": "v1.36.3",
    "kubeProxyVersion": "",
    "machineID": "",
    "systemUUID": "",
    "bootID": "",
}
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


class Nodes:
    """Plays the part of kubelets that register and report their nodes."""

    busy = False

    def __init__(self, world: World) -> None:
        self._world = world
        self._fresh: list[str] = []
        self._lost: list[str] = []
        self._woken: list[str] = []
        self._renewed: dict[str, float] = {}
        self._leases = Agenda()
        self._addresses = 0

    def saw(self, change: Change) -> None:
        """Note a node that came or went."""
        if change.kind is NODE and change.verb == "ADDED":
            self._fresh.append(change.stored.name)
        elif change.kind is NODE and change.verb == "DELETED":
            self._lost.append(change.stored.name)

    def silence(self, name: str) -> None:
        """Let a kubelet fall silent."""
        self._world.silent.add(name)

    def wake(self, name: str) -> None:
        """Let a kubelet speak again."""
        if name in self._world.silent:
            self._world.silent.discard(name)
            self._woken.append(name)

    def step(self, now: float) -> float | None:
        """Report new nodes, renew leases; tells when the next lease is due (Unix seconds)."""
        fresh, self._fresh = self._fresh, []
        lost, self._lost = self._lost, []
        woken, self._woken = self._woken, []
        for name in woken:
            self._world.change(NODE, "", name, lambda node: _speak(node, now))
            self._leases.put(name, now)
        for name in fresh:
            self._world.change(NODE, "", name, lambda node: self._report(node, now))
            self._leases.put(name, now)
        for name in lost:
            self._clear(name, now)
        for name in [*self._leases.take(now, 1000)]:
            self._renew(name, now)
        return self._leases.next

    def _report(self, node: Json, now: float) -> bool:
        status = node.setdefault("status", {})
        told = [one["status"] for one in status.get("conditions", ()) if one["type"] == "Ready"]
        if told:
            return told == ["True"] and _untaint(node)
        self._addresses += 1
        name = node["metadata"]["name"]
        node["metadata"].setdefault("labels", {}).setdefault("kubernetes.io/hostname", name)
        status.setdefault("capacity", dict(_ROOM))
        status.setdefault("allocatable", dict(status["capacity"]))
        number = self._addresses
        address = f"10.0.{number // 250}.{number % 250 + 1}"
        status["addresses"] = [
            {"type": "InternalIP", "address": address},
            {"type": "Hostname", "address": name},
            *status.get("addresses", ()),
        ]
        if not status.get("nodeInfo", {}).get("kubeletVersion"):
            status["nodeInfo"] = dict(_SYSTEM)
        status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": 10250}}
        status["conditions"] = _conditions(now)
        _untaint(node)
        return True

    def _wait(self, name: str, now: float) -> None:
        """Wait for a silent kubelet, and then for it no more."""
        until = self._renewed.get(name, now) + self._world.behaviour.grace_seconds
        if now < until:
            self._leases.put(name, until)
        else:
            self._world.change(NODE, "", name, lambda node: _fall_silent(node, now))
            for stored in self._on(name):
                self._unready(stored, now)

    def _on(self, name: str) -> list[Stored]:
        pods = self._world.store.shelves[POD].within("")
        return [stored for stored in pods if stored.fields[0] == name]

    def _unready(self, stored: Stored, now: float) -> None:
        """Nobody knows how a pod is on a node that nobody hears; one that tells is believed."""
        pod = stored.decode(POD)
        conditions = pod.get("status", {}).get("conditions", ())
        told = any(one["type"] == "Ready" for one in conditions)
        if told and set_condition(pod, "Ready", "False", now):
            self._world.store.put(POD, pod)

    def _clear(self, name: str, now: float) -> None:
        self._leases.drop(name)
        self._renewed.pop(name, None)
        self._world.silent.discard(name)
        for stored in self._on(name):
            remove(self._world, POD, stored, DeleteOptions(grace_seconds=0), now)

    def _renew(self, name: str, now: float) -> None:
        if self._world.store.get(NODE, "", name) is None:
            return
        if name in self._world.silent:
            self._wait(name, now)
            return
        self._leases.put(name, now + self._world.behaviour.heartbeat_seconds)
        self._renewed[name] = now
        renewed = clock.micro(now)

        def edit(lease: Json) -> None:
            lease["spec"]["renewTime"] = renewed

        if self._world.change(LEASE, _LEASES, name, edit) is None:
            spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": renewed}
            value: Json = {"metadata": {"name": name, "namespace": _LEASES}, "spec": spec}
            self._world.add(LEASE, value, now)


def _fall_silent(node: Json, now: float) -> bool:
    """Write what the node lifecycle controller writes of a kubelet that it does not hear."""
    for one in node["status"]["conditions"]:
        one |= {
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": clock.stamp(now),
        }
    return True


def _speak(node: Json, now: float) -> bool:
    node["status"]["conditions"] = _conditions(now)
    return True


def _conditions(now: float) -> list[Json]:
    stamp = clock.stamp(now)
    return [
        {
            "type": kind,
            "status": state,
            "lastHeartbeatTime": stamp,
            "lastTransitionTime": stamp,
            "reason": reason,
            "message": message,
        }
        for kind, state, reason, message in _CONDITIONS
    ]


def _untaint(node: Json) -> bool:
    taints = node["spec"].pop("taints", None) or []
    left = [one for one in taints if one["key"] != _NOT_READY]
    if left:
        node["spec"]["taints"] = left
    return left != taints
