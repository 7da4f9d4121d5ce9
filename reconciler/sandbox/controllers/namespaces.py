"""Namespaces that end: their content goes first, then they do."""

from __future__ import annotations

from reconciler.sandbox.controllers.agenda import Agenda
from reconciler.sandbox.kinds import NAMESPACE, STORED, Kind
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.verbs.remove import DeleteOptions, remove
from reconciler.sandbox.world import World

_RETRY_SECONDS = 0.25
_MOST = 100  # objects a step, so that a full namespace does not hold up the rest
_CONTENT = tuple(kind for kind in STORED if kind.namespaced)


class Namespaces:
    """Empties terminating namespaces and takes them away."""

    busy = False

    def __init__(self, world: World) -> None:
        self._world = world
        self._fresh: list[str] = []
        self._agenda = Agenda()

    def saw(self, change: Change) -> None:
        """Note a namespace that has untouched to end."""
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
        if stored is None or stored.fields[0] != "Terminating":
            return  # its name may have come back meanwhile
        left = [(kind, one) for kind in _CONTENT for one in self._content(kind, name)]
        untouched = [one for one in left if not one[1].ending]
        for kind, one in untouched[:_MOST]:
            remove(self._world, kind, one, DeleteOptions(), now)
        if any(self._world.store.get(kind, name, one.name) for kind, one in left):
            self._agenda.put(name, now + (0.0 if len(untouched) > _MOST else _RETRY_SECONDS))
            return
        value = stored.decode(NAMESPACE)
        if value["spec"].pop("finalizers", None):
            stored = self._world.store.put(NAMESPACE, value)
            value = stored.decode(NAMESPACE)
        if not value["metadata"].get("finalizers"):
            self._world.store.remove(NAMESPACE, value)

    def _content(self, kind: Kind, name: str) -> list[Stored]:
        return list(self._world.store.shelves[kind].within(name))
