"""Disruption budgets: how many pods may be spared right now."""

from __future__ import annotations

from reconciler.kube.selectors import LabelSelector
from reconciler.sandbox import clock
from reconciler.sandbox.controllers.agenda import Agenda
from reconciler.sandbox.kinds import BUDGET, POD
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.verbs.bind import disruption_condition
from reconciler.sandbox.world import World

_QUIET_SECONDS = 0.1  # a burst of pods counts once
_DISRUPTION_TIMEOUT_SECONDS = 120


class Budgets:
    """Keeps the status of every budget."""

    busy = False

    def __init__(self, world: World) -> None:
        self._world = world
        self._fresh: dict[str, None] = {}
        self._urgent: dict[str, None] = {}
        self._agenda = Agenda()

    def saw(self, change: Change) -> None:
        """Note the budgets that a change may concern."""
        if change.kind is BUDGET and change.verb != "DELETED":
            self._urgent[change.stored.key] = None
        elif change.kind is POD:
            for budget in self._world.store.shelves[BUDGET].within(change.stored.namespace):
                self._fresh[budget.key] = None

    def step(self, now: float) -> float | None:
        """Count again what is due; tells when the next is (Unix seconds)."""
        for key in self._fresh:
            if key not in self._agenda:
                self._agenda.put(key, now + _QUIET_SECONDS)
        for key in self._urgent:
            self._agenda.put(key, now)
        self._fresh.clear()
        self._urgent.clear()
        for key in [*self._agenda.take(now, 1000)]:
            stored = self._world.store.shelves[BUDGET].objects.get(key)
            if stored is not None:
                self._count(stored, now)
        self._urgent.clear()
        return self._agenda.next

    def _count(self, stored: Stored, now: float) -> None:
        budget = stored.decode(BUDGET)
        spec, status = budget["spec"], budget.setdefault("status", {})
        pods = self._selected(stored.namespace, spec)
        disrupted = _still_disrupted(status, pods, now)
        healthy = sum(
            1 for pod in pods if pod.ready and not pod.ending and pod.name not in disrupted
        )
        expected, desired = _wanted(spec, len(pods))
        allowed = max(0, healthy - desired) if expected > 0 else 0
        fresh: Json = {
            "observedGeneration": budget["metadata"].get("generation", 1),
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
        }
        if disrupted:
            fresh["disruptedPods"] = disrupted
        budget["status"] = {**status, "disruptionsAllowed": allowed}
        fresh["conditions"] = [disruption_condition(budget, now)]
        if fresh != status:
            budget["status"] = fresh
            self._world.report(BUDGET, budget, "kube-controller-manager", now)

    def _selected(self, namespace: str, spec: Json) -> list[Stored]:
        selector = LabelSelector.from_object(spec.get("selector"))
        shelf = self._world.store.shelves[POD]
        return [
            pod
            for pod in shelf.within(namespace)
            if pod.fields[5] not in ("Succeeded", "Failed") and selector.matches(pod.labels)
        ]


def _still_disrupted(status: Json, pods: list[Stored], now: float) -> dict[str, str]:
    names = {pod.name for pod in pods if not pod.ending}
    return {
        name: when
        for name, when in (status.get("disruptedPods") or {}).items()
        if name in names and now - clock.moment(when) < _DISRUPTION_TIMEOUT_SECONDS
    }


def _wanted(spec: Json, count: int) -> tuple[int, int]:
    """Say how many pods are expected and how many must stay healthy.

    Pods without a controller have no scale: only a whole number of minAvailable means anything.
    """
    least = spec.get("minAvailable")
    if isinstance(least, int):
        return count, least
    if least is not None or "maxUnavailable" in spec:
        return 0, 0
    return count, 0
