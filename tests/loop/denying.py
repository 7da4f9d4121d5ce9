"""A cluster of which one answer is wrong: it says that something is not there, which is."""

from typing import Any, cast

from reconciler.model.refs import Json, ObjectRef
from tests.loop.world import Process


class Denying:
    """Says so once, where `verb` asks for this kind in a namespace, and does nothing."""

    def __init__(self, process: Process, verb: str, kind: str, namespace: str) -> None:
        self._cluster, self._at = process.cluster, (verb, kind, namespace)
        self.left = 1
        process.lane.cluster = cast("Any", self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def get(self, ref: ObjectRef) -> Json | None:
        """Read it, or be told that it is not there."""
        return None if self._denies("get", ref) else await self._cluster.get(ref)

    async def delete(self, ref: ObjectRef, uid: str, resource_version: str) -> bool:
        """Delete it, or be told that it was not there."""
        if self._denies("delete", ref):
            return False
        return bool(await self._cluster.delete(ref, uid, resource_version))

    def _denies(self, verb: str, ref: ObjectRef) -> bool:
        denied = (verb, ref.kind, ref.namespace) == self._at and self.left > 0
        self.left -= denied
        return denied
