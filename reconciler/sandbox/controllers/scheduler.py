"""The scheduler: gives every pending pod the best node that can hold it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from reconciler.kube import affinity, taints
from reconciler.sandbox.controllers.neighbours import Neighbours
from reconciler.sandbox.controllers.rooms import Need, Room, need_of, room_of
from reconciler.sandbox.kinds import NODE, POD
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.verbs.bind import assign, set_condition
from reconciler.sandbox.world import World

_NAME = "default-scheduler"
_RETRY_SECONDS = 0.5
_DONE = ("Succeeded", "Failed")
_PORTS = "node(s) didn't have free ports for the requested pod ports"
_SELECTOR = "node(s) didn't match Pod's node affinity/selector"
_TAINTS = "node(s) had untolerated taint(s)"
_CORDONED = "node(s) were unschedulable"
_TOGETHER = "node(s) didn't match pod affinity rules"
_APART = "node(s) didn't match pod anti-affinity rules"
_HOPELESS = frozenset({_SELECTOR, _TAINTS, _CORDONED, _TOGETHER})
_UNSCHEDULABLE_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True)
class Wish:
    """A pod that wants a node, with the counts behind its pod affinity."""

    pod: Json
    need: Need
    preferred: tuple[tuple[int, str, Counter[str]], ...]
    together: tuple[tuple[str, Counter[str]], ...]
    apart: tuple[tuple[str, Counter[str]], ...]
    choosy: bool  # the pod says something about its nodes


class Scheduler:
    """Keeps the books of all nodes and binds pods."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._rooms: dict[str, Room] = {}
        self._places: dict[str, str] = {}
        self._pending: dict[str, None] = {}
        self._waiting: dict[str, None] = {}
        self._neighbours = Neighbours()
        self._hopeful = False  # something changed that may let a refused pod in
        self._retry_at = 0.0

    @property
    def busy(self) -> bool:
        """Tell whether pods wait for a decision."""
        return bool(self._pending)

    def saw(self, change: Change) -> None:
        """Keep the books."""
        if change.kind is NODE:
            self._saw_node(change)
        elif change.kind is POD:
            self._saw_pod(change)

    def _saw_node(self, change: Change) -> None:
        name = change.stored.name
        if change.verb == "DELETED":
            self._rooms.pop(name, None)
        else:
            before, room = self._rooms.get(name), room_of(change.stored.decode(NODE))
            for need in before.needs.values() if before else ():
                room.add(need)
            self._rooms[name] = room
        self._hopeful = True

    def _saw_pod(self, change: Change) -> None:
        stored = change.stored
        node, scheduler, phase = stored.fields[0], stored.fields[2], stored.fields[5]
        gone = change.verb == "DELETED" or phase in _DONE
        if gone or not node:
            self._pending.pop(stored.key, None)
            self._waiting.pop(stored.key, None)
        if gone:
            self._leave(stored.key)
        elif node:
            self._arrive(stored, node)
        elif scheduler == _NAME:
            self._pending[stored.key] = None

    def _arrive(self, stored: Stored, node: str) -> None:
        if stored.key in self._places:
            return
        self._pending.pop(stored.key, None)
        self._waiting.pop(stored.key, None)
        room = self._rooms.get(node)
        if room is None:
            return
        need = need_of(stored.key, stored.decode(POD))
        self._places[stored.key] = node
        room.add(need)
        self._neighbours.count(need, node, 1)

    def _leave(self, key: str) -> None:
        node = self._places.pop(key, None)
        room = self._rooms.get(node) if node else None
        need = room.take(key) if room else None
        if room is not None and need is not None:
            self._neighbours.count(need, room.name, -1)
            self._hopeful = True

    def step(self, now: float) -> float | None:
        """Decide on the pods that wait, the oldest first; tells when refused ones get a turn."""
        if self._hopeful and now >= self._retry_at:
            self._pending.update(self._waiting)
            self._waiting.clear()
            self._hopeful, self._retry_at = False, now + _RETRY_SECONDS
        for key in list(islice(self._pending, self._world.behaviour.bindings_per_step)):
            self._pending.pop(key, None)
            stored = self._world.store.shelves[POD].objects.get(key)
            if stored is not None and not stored.fields[0]:
                self._decide(stored, now)
        return self._retry_at if self._hopeful and self._waiting else None

    def _decide(self, stored: Stored, now: float) -> None:
        pod = stored.decode(POD)
        if pod["spec"].get("schedulingGates"):
            return
        wish = self._wish(stored.key, pod)
        obstacles: Counter[str] = Counter()
        fitting, hopeless = [], 0
        for room in self._rooms.values():
            told = _obstacles(wish, room)
            obstacles.update(told)
            if told:
                hopeless += bool(_HOPELESS.intersection(told)) or room.is_too_small(wish.need)
            if not told:
                fitting.append(room)
        if fitting:
            best = _best(wish, fitting)
            assign(self._world, stored, best.name, now)
            return
        self._waiting[stored.key] = None
        self._tell(pod, _message(len(self._rooms), obstacles, hopeless), now)
        self._pending.pop(stored.key, None)
        self._waiting[stored.key] = None

    def _tell(self, pod: Json, message: str, now: float) -> None:
        changed = set_condition(
            pod, "PodScheduled", "False", now, reason="Unschedulable", message=message
        )
        if changed:
            self._world.report(POD, pod, "kube-scheduler", now)
            self._world.tell(pod, "Warning", "FailedScheduling", message, _NAME, now)

    def _wish(self, key: str, pod: Json) -> Wish:
        need, asked = need_of(key, pod), pod["spec"].get("affinity") or {}
        near, far = asked.get("podAffinity") or {}, asked.get("podAntiAffinity") or {}
        soft, hard = (
            "preferredDuringSchedulingIgnoredDuringExecution",
            "requiredDuringSchedulingIgnoredDuringExecution",
        )
        preferred = [
            (sign * one["weight"], *self._counted(one["podAffinityTerm"], need))
            for sign, terms in ((1, near.get(soft)), (-1, far.get(soft)))
            for one in terms or ()
        ]
        together = [self._counted(term, need) for term in near.get(hard) or ()]
        apart = [self._counted(term, need) for term in far.get(hard) or ()]
        choosy = bool(pod["spec"].get("nodeSelector") or asked.get("nodeAffinity"))
        return Wish(pod, need, tuple(preferred), tuple(together), tuple(apart), choosy)

    def _counted(self, term: Json, need: Need) -> tuple[str, Counter[str]]:
        counts = self._neighbours.on(term, need.namespace, self._rooms.values())
        return term.get("topologyKey", ""), counts


def _obstacles(wish: Wish, room: Room) -> list[str]:
    guarded = _guard(wish, room) if room.guarded else ""
    if guarded:
        return [guarded]
    if wish.choosy and not affinity.node_selector_matches(wish.pod["spec"], room.node):
        return [_SELECTOR]
    if room.clashes(wish.need):
        return [_PORTS]
    short = room.shortages(wish.need)
    if short:
        return short
    # The first pod of a group that wants company has to start somewhere.
    if any(counts and not counts[room.labels.get(key, "")] for key, counts in wish.together):
        return [_TOGETHER]
    if any(counts[room.labels.get(key, "")] for key, counts in wish.apart):
        return [_APART]
    return []


def _guard(wish: Wish, room: Room) -> str:
    tolerations, spec = wish.pod["spec"].get("tolerations") or (), room.node["spec"]
    if spec.get("unschedulable") and not taints.tolerates(tolerations, _UNSCHEDULABLE_TAINT):
        return _CORDONED
    if taints.untolerated(tolerations, spec.get("taints") or ()) is not None:
        return _TAINTS
    return ""


def _best(wish: Wish, fitting: list[Room]) -> Room:
    company = [
        sum(weight * counts[room.labels.get(key, "")] for weight, key, counts in wish.preferred)
        for room in fitting
    ]
    liked = [0] * len(fitting)
    if wish.choosy:
        liked = [affinity.preferred_weight(wish.pod["spec"], room.node) for room in fitting]
    scores = [
        2 * near + 2 * like + room.emptiness(wish.need)
        for near, like, room in zip(_scaled(company), _scaled(liked), fitting, strict=True)
    ]
    return fitting[scores.index(max(scores))]


def _scaled(scores: list[int]) -> list[int]:
    low, high = min(scores), max(scores)
    return [(score - low) * 100 // (high - low) if high > low else 0 for score in scores]


def _message(count: int, obstacles: Counter[str], hopeless: int) -> str:
    if not count:
        return "no nodes available to schedule pods"
    listed = ", ".join(sorted(f"{number} {text}" for text, number in obstacles.items()))
    chances = {
        "No preemption victims found for incoming pod": count - hopeless,
        "Preemption is not helpful for scheduling": hopeless,
    }
    rest = ", ".join(f"{number} {text}" for text, number in chances.items() if number)
    return (
        f"0/{count} nodes are available: {listed}. no new claims to deallocate, "
        f"preemption: 0/{count} nodes are available: {rest}."
    )
