"""What becomes of a node that is not ready: its taints, and the end of its pods.

The part of the node lifecycle controller and of the taint eviction controller. A pod goes when
its toleration of a NoExecute taint is over, at once where it has none; admission gives each pod
300 s for the two taints of lost nodes. How fast many lost nodes are tainted one after another,
and that nothing is evicted while most of a zone is lost, is left out.
"""

from __future__ import annotations

from reconciler.kube import taints
from reconciler.sandbox import clock
from reconciler.sandbox.controllers.agenda import Agenda
from reconciler.sandbox.kinds import NODE, POD
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.verbs.bind import set_condition
from reconciler.sandbox.verbs.remove import DeleteOptions, remove
from reconciler.sandbox.world import World

_KEYS = {
    "False": "node.kubernetes.io/not-ready",
    "Unknown": "node.kubernetes.io/unreachable",
}
_EXECUTES = frozenset({"NoExecute"})
_DONE = ("Succeeded", "Failed")
_MOST = 1000


class Lifecycle:
    """Follows the readiness of nodes."""

    busy = False

    def __init__(self, world: World) -> None:
        self._world = world
        self._nodes: dict[str, None] = {}
        self._pods: dict[str, None] = {}
        self._evicting: set[str] = set()
        self._agenda = Agenda()

    def saw(self, change: Change) -> None:
        """Note a node that changed, and a pod that came to one that evicts."""
        stored = change.stored
        if change.kind is NODE and change.verb == "DELETED":
            self._evicting.discard(stored.name)
            self._nodes.pop(stored.name, None)
        elif change.kind is NODE:
            self._nodes[stored.name] = None
        elif change.kind is POD and change.verb == "DELETED":
            self._agenda.drop(stored.key)
            self._pods.pop(stored.key, None)
        elif change.kind is POD and stored.fields[0] in self._evicting:
            self._pods[stored.key] = None

    def step(self, now: float) -> float | None:
        """Taint, and evict who is due; tells when the next is (Unix seconds)."""
        nodes, self._nodes = self._nodes, {}
        for name in nodes:
            self._judge(name, now)
        # What we tainted is seen anew, and says the same.
        pods, self._pods = self._pods, {}
        for key in pods:
            self._plan(key, now)
        for key in [*self._agenda.take(now, _MOST)]:
            self._evict(key, now)
        return self._agenda.next

    def _judge(self, name: str, now: float) -> None:
        stored = self._world.store.get(NODE, "", name)
        if stored is None:
            return
        node = stored.decode(NODE)
        status = _readiness(node)
        if not status:
            return  # its kubelet has not spoken yet
        self._world.change(NODE, "", name, lambda value: _taint(value, status, now))
        stored = self._world.store.get(NODE, "", name)
        held = stored.decode(NODE)["spec"].get("taints") or () if stored else ()
        evicts = any(taint["effect"] == "NoExecute" for taint in held)
        if not evicts and name not in self._evicting:
            return
        if evicts:
            self._evicting.add(name)
        else:
            self._evicting.discard(name)
        pods = self._world.store.shelves[POD].within("")
        self._pods.update((pod.key, None) for pod in pods if pod.fields[0] == name)

    def _plan(self, key: str, now: float) -> None:
        """Set when a pod is evicted, or take that back."""
        stored = self._world.store.shelves[POD].objects.get(key)
        moment = None if stored is None or stored.ending else self._moment(stored, now)
        if moment is None:
            self._agenda.drop(key)
        else:
            self._agenda.put(key, moment)

    def _moment(self, stored: Stored, now: float) -> float | None:
        node = self._world.store.get(NODE, "", stored.fields[0])
        if node is None or stored.fields[5] in _DONE:
            return None
        held = node.decode(NODE)["spec"].get("taints") or ()
        executing = [taint for taint in held if taint["effect"] == "NoExecute"]
        tolerations = stored.decode(POD)["spec"].get("tolerations") or []
        if taints.untolerated(tolerations, executing, _EXECUTES) is not None:
            return now
        ends = []
        for taint in executing:
            covering = [one for one in tolerations if taints.tolerates([one], taint)]
            limits = [one["tolerationSeconds"] for one in covering if "tolerationSeconds" in one]
            if limits:
                ends.append(_added(taint, now) + max(0, min(limits)))
        return min(ends, default=None)

    def _evict(self, key: str, now: float) -> None:
        stored = self._world.store.shelves[POD].objects.get(key)
        if stored is None or stored.ending:
            return
        pod = stored.decode(POD)
        set_condition(
            pod,
            "DisruptionTarget",
            "True",
            now,
            reason="DeletionByTaintManager",
            message="Taint manager: deleting due to NoExecute taint",
        )
        remove(self._world, POD, self._world.store.put(POD, pod), DeleteOptions(), now)


def _readiness(node: Json) -> str:
    conditions = node.get("status", {}).get("conditions", ())
    return next((str(one["status"]) for one in conditions if one["type"] == "Ready"), "")


def _taint(node: Json, status: str, now: float) -> bool:
    """Let the taints be those of its readiness; tells whether they were others."""
    before = node["spec"].get("taints") or []
    key = _KEYS.get(status, "")
    kept = [one for one in before if one["key"] not in _KEYS.values() or one["key"] == key]
    missing = {"NoSchedule", "NoExecute"} - {one["effect"] for one in kept if one["key"] == key}
    if key:
        kept += [
            {"key": key, "effect": effect, "timeAdded": clock.stamp(now)}
            for effect in sorted(missing, reverse=True)
        ]
    if kept == before:
        return False
    node["spec"].pop("taints", None)
    if kept:
        node["spec"]["taints"] = kept
    return True


def _added(taint: Json, now: float) -> float:
    stamp = taint.get("timeAdded")
    return clock.moment(stamp) if stamp else now
