"""The collector of garbage: nothing here has dependents, so what waits for it waits no longer."""

from __future__ import annotations

from reconciler.sandbox.kinds import Kind
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change
from reconciler.sandbox.world import World

_OWN = ("foregroundDeletion", "orphan")


class Collector:
    """Takes its finalizers off what is being deleted."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._fresh: dict[tuple[Kind, str, str], None] = {}

    @property
    def busy(self) -> bool:
        """Tell whether something waits to be done."""
        return bool(self._fresh)

    def saw(self, change: Change) -> None:
        """Note what has begun to go."""
        if change.stored.ending and change.verb != "DELETED":
            self._fresh[change.kind, change.stored.namespace, change.stored.name] = None

    def step(self, now: float) -> float | None:
        """Let go of what is noted; nothing here is due at a time."""
        noted, self._fresh = self._fresh, {}
        for kind, namespace, name in noted:
            stored = self._world.store.get(kind, namespace, name)
            value = stored.decode(kind) if stored else None
            if value and _let_go(value["metadata"]):
                self._write(kind, value)
        return None

    def _write(self, kind: Kind, value: Json) -> None:
        metadata = value["metadata"]
        waits = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
        if waits or (value.get("spec") or {}).get("finalizers"):
            self._world.store.put(kind, value)
        else:
            self._world.store.remove(kind, value)


def _let_go(metadata: Json) -> bool:
    known = metadata.get("finalizers") or []
    left = [name for name in known if name not in _OWN]
    if left == known:
        return False
    if left:
        metadata["finalizers"] = left
    else:
        metadata.pop("finalizers", None)
    return True
