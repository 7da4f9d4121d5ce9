"""Namespaces that end: their content goes first, then they do."""

from __future__ import annotations

from reconciler.sandbox.controllers.agenda import Agenda
from reconciler.sandbox.kinds import NAMESPACE, POD, STORED, Kind
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.verbs.remove import DeleteOptions, remove
from reconciler.sandbox.world import World

_RETRY_SECONDS = 0.25
_CONTENT = tuple(kind for kind in STORED if kind.namespaced)


class Namespaces:
    """Empties terminating namespaces and takes them away."""

    busy = False

    def __init__(self, world: World) -> None:
        self._world = world
        self._fresh: list[str] = []
        self._agenda = Agenda()

    def saw(self, change: Change) -> None:
        """Note a namespace that has begun to end."""
        if change.kind is NAMESPACE and change.stored.fields[0] == "Terminating":
            self._fresh.append(change.stored.name)

    def step(self, now: float) -> float | None:
        """Empty what is due; tells when the next is (Unix seconds)."""
        wait = self._world.behaviour.namespace_seconds
        for name in self._fresh:
            if name not in self._agenda:
                self._agenda.put(name, now + wait)
        self._fresh.clear()
        for name in [*self._agenda.take(now, 100)]:
            self._end(name, now)
        self._fresh.clear()
        return self._agenda.next

    def _end(self, name: str, now: float) -> None:
        stored = self._world.store.get(NAMESPACE, "", name)
        if stored is None:
            return
        left = [(kind, one) for kind in _CONTENT for one in self._content(kind, name)]
        for kind, one in left:
            self._remove(kind, one, now)
        if any(self._world.store.get(kind, name, one.name) for kind, one in left):
            self._agenda.put(name, now + _RETRY_SECONDS)
            return
        value = stored.decode(NAMESPACE)
        if value["spec"].pop("finalizers", None):
            stored = self._world.store.put(NAMESPACE, value)
            value = stored.decode(NAMESPACE)
        if not value["metadata"].get("finalizers"):
            self._world.store.remove(NAMESPACE, value)

    def _content(self, kind: Kind, name: str) -> list[Stored]:
        return list(self._world.store.shelves[kind].within(name))

    def _remove(self, kind: Kind, stored: Stored, now: float) -> None:
        if kind is POD and stored.ending:
            return
        remove(self._world, kind, stored, DeleteOptions(), now)
