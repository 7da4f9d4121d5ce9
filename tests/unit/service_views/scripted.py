"""A cluster of which a test says what it lists and what its watches tell."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from reconciler.model import labels
from reconciler.model.checks import Check, unchecked
from reconciler.model.errors import PortError
from reconciler.model.refs import Followed, Json, ObjectRef
from reconciler.ports import Listing, WatchEvent

INSTANCE = "studio"


class VirtualClock:
    """Time that passes when somebody sleeps; and by `step` whenever it is looked at."""

    def __init__(self) -> None:
        self.at = 1_000_000.0
        self.slept: list[float] = []
        self.step = 0.0

    def now(self) -> float:
        """Unix seconds."""
        self.at += self.step
        return self.at

    async def sleep(self, seconds: float) -> None:
        """Pass at once."""
        self.slept.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)


class NoCluster:
    """Every verb of a cluster, each of which fails the test: a script answers those it knows."""

    name = "scripted"

    async def get(self, ref: ObjectRef) -> Json | None:
        raise AssertionError(f"get {ref}")

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        raise AssertionError(f"list {kind}")

    async def list_metadata(
        self, api_version: str, kind: str, namespace: str, labels: str = ""
    ) -> Listing:
        raise AssertionError(f"list metadata of {kind}")

    def pages(self, followed: Followed) -> AsyncIterator[Listing]:
        raise AssertionError(f"pages of {followed.kind}")

    def watch(self, followed: Followed, resource_version: str) -> AsyncIterator[WatchEvent]:
        raise AssertionError(f"watch {followed.kind}")

    async def serves(self, api_version: str, kind: str) -> bool:
        raise AssertionError(f"serves {kind}")

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        raise AssertionError(f"create {body}")

    async def replace(self, body: Json) -> Json:
        raise AssertionError(f"replace {body}")

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        raise AssertionError(f"apply {body}")

    async def merge_patch(self, ref: ObjectRef, patch: Json) -> Json:
        raise AssertionError(f"patch {ref}")

    async def json_patch(self, ref: ObjectRef, operations: Sequence[Json]) -> Json | None:
        raise AssertionError(f"patch {ref}")

    async def raw_get(self, path: str) -> Json | None:
        raise AssertionError(f"read {path}")

    def logs(
        self, ref: ObjectRef, container: str = "", *, follow: bool = False, tail: int | None = None
    ) -> AsyncIterator[bytes]:
        raise AssertionError(f"logs of {ref}")

    async def delete(
        self, ref: ObjectRef, uid: str, resource_version: str, check: Check = unchecked
    ) -> bool:
        raise AssertionError(f"delete {ref}")

    async def close(self) -> None:
        """Nothing is open."""


@dataclass
class Scripted(NoCluster):
    """Each list answers the next of `lists`, each watch plays the next of `watches`.

    A list is pages of objects with a version, or an error; a watch is events and at last an
    error, None to end quietly, or nothing to go on for ever.
    """

    lists: list[tuple[str, Sequence[Json]] | PortError]
    watches: list[Sequence[WatchEvent | PortError | None]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def pages(self, followed: Followed) -> AsyncIterator[Listing]:
        """Give two pages, or the error in the middle."""
        self.asked.append("list")
        answer = self.lists.pop(0)
        if isinstance(answer, PortError):
            raise answer
        version, items = answer
        for part in (items[:1], items[1:]):
            await asyncio.sleep(0)
            yield Listing(part, version)

    async def watch(self, followed: Followed, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Play a script; for ever silent when there is none."""
        self.asked.append(f"watch {resource_version}")
        for step in self.watches.pop(0) if self.watches else ():
            await asyncio.sleep(0)
            if step is None:
                return
            if isinstance(step, PortError):
                raise step
            yield step
        await asyncio.Event().wait()


def room(name: str, version: int = 1, uid: str = "", **status: Any) -> Json:
    """Return a pod of workload `arena` of ours; see its uses."""
    workload = status.get("workload", "arena")
    metadata: Json = {
        "name": name,
        "namespace": workload,
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "labels": {
            labels.INSTANCE: status.get("instance", INSTANCE),
            labels.WORKLOAD: workload,
            labels.KIND: "Scheduler",
        },
        "annotations": {labels.REVISION: "1-abc"},
    }
    if status.get("deleted"):
        metadata["deletionTimestamp"] = "2026-01-02T03:05:05Z"
    ports = [{"containerPort": 1, "hostPort": port} for port in status.get("ports", ())]
    ready = "True" if status.get("ready") else "False"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": "node-1", "containers": [{"name": "game", "ports": ports}]},
        "status": {
            "phase": status.get("phase", "Running"),
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def event(type_: Any, obj: Json) -> WatchEvent:
    """Return an event."""
    return WatchEvent(type_, obj)


def bookmark(version: int) -> WatchEvent:
    """Return a bookmark."""
    return WatchEvent("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})
