"""A lane over a view that is fed by hand, and every series that the service shows of it."""

import asyncio
from collections.abc import Mapping
from typing import Any

from prometheus_client import generate_latest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.kube.schemas import Schemas
from reconciler.loop.lane import Lane
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.plans import Desired
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import Ears
from reconciler.model.specs import PortRange
from reconciler.model.wanted import Wanted
from reconciler.service.metrics import Metrics
from reconciler.service.notifications.metrics import NotificationMetrics
from reconciler.service.room_census import RoomCensus
from reconciler.service.room_metrics import RoomMetrics
from reconciler.service.scaling_metrics import ScalingMetrics
from reconciler.service.views import ClusterView
from reconciler.service.watch_metrics import WatchMetrics
from tests.loop.transport import SandboxTransport
from tests.loop.world import World, definitions
from tests.unit.core.making import NEW, a_workload

PLACE = {"cluster": "local", "workload": "Scheduler/arena/arena"}
LATER = 1_800_000_000.0


class Hall:
    """A lane over a view that is fed by hand, and what its rooms said."""

    def __init__(self, kind: str = "Scheduler") -> None:
        self.world = World()
        self.key = WorkloadKey(kind, "arena", "arena")
        cluster = KubernetesCluster(
            SandboxTransport(self.world.sandbox, self.world.time.now), "main"
        )
        self.view = ClusterView(
            cluster, "main", self.world.time, lambda keys: None, elapsed=self.world.time.now
        )
        self.workload = a_workload(
            reports="required", port_range=PortRange(20000, 20009), key=self.key
        )
        self.ears = Ears(since=LATER - 1000)
        self.leads = True
        self.lane = Lane(
            name="local",
            instance="main",
            cluster=cluster,
            view=self.view,
            store=RecordStore(cluster, "gamekeeper", "main"),
            schemas=Schemas(definitions()),
            content_kinds=(),
            wanted=Wanted(effective={self.key: Desired(self.workload, (), "", {}, "")}),
            reports=self,
        )
        self.metrics = Metrics()
        self.registry = self.metrics.registry
        self.rooms = RoomMetrics(self.registry)
        self.census = RoomCensus(self.lane, lambda: self.leads, self.world.time, self.registry)
        self.scaling = ScalingMetrics(self.lane, lambda: self.leads, self.world.time, self.registry)
        NotificationMetrics(self.registry)
        WatchMetrics("local", self.view, self.registry)
        self._version = 0

    def of(self, key: WorkloadKey) -> Ears:
        return self.ears

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        return self.ears

    def put(self, n: int, *, ready: bool = True, **changes: Any) -> None:
        self._version += 1
        self.view.take_in(pod(n, self._version, ready, kind=self.key.kind, **changes))

    def sweep(self, seconds: float = 1.0) -> None:
        self.world.time.at += seconds
        asyncio.run(self.census.sweep())

    def page(self) -> str:
        """The page of metrics."""
        return generate_latest(self.registry).decode()

    def read(self, name: str, **more: str) -> float | None:
        place = {**PLACE, "workload": f"{self.key.kind}/arena/arena"}
        return self.registry.get_sample_value(f"gamekeeper_{name}", {**place, **more})


def pod(n: int, version: int, ready: bool, **changes: Any) -> Json:
    marks: Mapping[str, str] = {
        labels.INSTANCE: "main",
        labels.KIND: changes.pop("kind", "Scheduler"),
        labels.WORKLOAD: "arena",
        labels.STATE: changes.pop("mark", "idle"),
    }
    notes = {labels.REVISION: changes.pop("revision", NEW)}
    if "leaving" in changes:
        notes |= {labels.LEAVING: changes.pop("leaving"), labels.LEAVING_SINCE: "1799999000"}
    since = changes.pop("created", "2027-01-15T07:59:00Z")
    status = "True" if ready else "False"
    running = {"startedAt": since}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "uid": f"uid-{n}",
            "name": f"arena-{n}",
            "namespace": "arena",
            "resourceVersion": str(version),
            "creationTimestamp": since,
            "labels": {name: text for name, text in marks.items() if text},
            "annotations": notes,
        },
        "spec": {
            "nodeName": changes.pop("node", "node-1"),
            "containers": [{"name": "game", "ports": [{"hostPort": 20000 + n}]}],
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "Ready", "status": status, "lastTransitionTime": since},
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": since},
            ],
            "containerStatuses": [{"name": "game", "state": {"running": running}}],
        },
    }
