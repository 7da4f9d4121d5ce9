"""A whole world in a process for loop tests: sandbox, in-memory Git, virtual time, real parts.

Everything between Git and the API server is the real thing: reader and renderer, intake, plan,
settle, the record store, the client with its error mapping, the views.
"""

import json
from functools import cache
from typing import Any

import orjson
import yaml

from reconciler import assets
from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.loop import head
from reconciler.loop.approvals import approval_body
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.lane import Lane
from reconciler.loop.lost_records import ensure_namespace
from reconciler.loop.store import RecordStore
from reconciler.loop.tick import tick
from reconciler.model.errors import PortError
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.reports import Report
from reconciler.model.specs import Budgets, Permissions
from reconciler.sandbox.behaviour import Behaviour, nodes
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.requests import Request, Response
from reconciler.service.views import ClusterView
from tests.loop.compiler import InlineCompiler
from tests.loop.points import POINTS
from tests.loop.transport import SandboxTransport

START = 1_800_000_000.0
CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {}\n"


@cache
def definitions() -> Json:
    return assets.kubernetes_definitions("1.36")


class Time:
    """Virtual time; everybody in the world reads this one."""

    def __init__(self) -> None:
        self._at = START

    @property
    def at(self) -> float:
        return self.now()

    @at.setter
    def at(self, seconds: float) -> None:
        self._at = seconds

    def now(self) -> float:
        return self._at

    async def sleep(self, seconds: float) -> None:
        self._at += seconds


def spec(name: str, replicas: int, image: str = "registry.example/game:1", **more: Any) -> str:
    """The text of a Scheduler, as a user would write it."""
    container = {"name": "game", "image": image, "resources": {"requests": {"cpu": "100m"}}}
    document = {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Scheduler",
        "metadata": {"name": name},
        "spec": {
            "game": name,
            "replicas": replicas,
            "reports": "none",
            "template": {"spec": {"containers": [container]}},
            **more,
        },
    }
    return yaml.safe_dump(document, sort_keys=False)


class Process:
    """One running Gamekeeper: all of its memory, and nothing else. A crash throws it away."""

    def __init__(self, world: "World", cluster: str = "local") -> None:
        self.world = world
        self.transport = SandboxTransport(world.sandbox, world.time.now)
        self.cluster = KubernetesCluster(self.transport, "main", name=cluster)
        self.view = ClusterView(
            self.cluster,
            "main",
            world.time,
            lambda keys: None,
            elapsed=world.time.now,
            kinds=world.kinds,
        )
        self.lane = Lane(
            name=cluster,
            instance="main",
            cluster=self.cluster,
            view=self.view,
            store=RecordStore(self.cluster, "gamekeeper", "main"),
            schemas=Schemas(definitions()),
            content_kinds=(("v1", "Service"), ("v1", "ConfigMap"), ("v1", "ServiceAccount")),
            kinds=world.kinds,
            copy_from=world.copy_from,
        )
        self.heard = 0
        self.head = HeadLane(
            url="memory",
            branch="main",
            path=world.path,
            repository=MemoryRepository(world.host, path=world.path),
            compiler=InlineCompiler(),
            permissions=Permissions(kinds=world.kinds, instance="main", copy_from=world.copy_from),
            ceiling=Budgets(),
            home=self.lane,
        )

    async def start(self) -> None:
        """Read what is on record."""
        await ensure_namespace(self.cluster, "gamekeeper")
        await self.lane.begin_term()

    async def turn(self) -> Report:
        """Look at Git and at the cluster, then do one tick over everything."""
        await self.view.read()
        if self.heard != self.world.approvals:
            # What the watch of our ConfigMaps tells, which virtual time has none of.
            self.heard = self.world.approvals
            self.head.approvals_changed = True
        try:
            await head.look(self.head, self.world.time.now())
        except PortError:
            if not self.lane.wanted.commit:
                await head.resume(self.head, self.world.time.now())
        keys = {*self.lane.wanted.keys, *self.view.workloads()}
        self._check_recalled(keys)
        return await tick(self.lane, sorted(keys), self.world.time.now())

    def _check_recalled(self, keys: set[WorkloadKey]) -> None:
        """A plan that is not made again is, in any state that a test reaches, the one that is."""
        for key in keys:
            situation = self.lane.situation(key)
            known = self.lane.found.recall(situation)
            if known is not None:
                POINTS["plans that lasted"] += 1
                assert known == planning.plan(situation, self.lane.schemas, self.world.time.now())


class World:
    """A Git host and a cluster, and as many processes as a test starts.

    `kinds` are those of additional objects that their operator allows, `path` is the folder of
    the repository that processes read; `copy_from` is what it may have copied.
    """

    def __init__(
        self, seed: int = 1, kinds: tuple[str, ...] = (), path: str = "", **behaviour: Any
    ) -> None:
        self.kinds, self.path = kinds, path
        self.copy_from: tuple[str, ...] = ()
        self.time = Time()
        self.host = MemoryHost()
        self.approvals = 0
        shape = Behaviour(**behaviour)
        self.sandbox = Sandbox(
            definitions(), seed=seed, nodes=nodes(4), behaviour=shape, now=self.time.at
        )
        self.commit({"gamekeeper.yaml": CONFIG})

    def commit(self, files: dict[str, str | None]) -> str:
        """Commit files to the main branch."""
        return self.host.commit(files, now=self.time.at)

    def pass_time(self, seconds: float) -> None:
        """Let the cluster live for a while."""
        until = self.time.at + seconds
        while self.time.at < until:
            due = self.sandbox.step(self.time.at)
            self.time.at = until if due is None else min(until, max(due, self.time.at + 0.001))
        self.sandbox.step(self.time.at)

    async def process(self) -> Process:
        """Start a process."""
        process = Process(self)
        await process.start()
        return process

    async def settle(self, process: Process, turns: int = 40) -> list[Report]:
        """Turn until nothing is written any more and every room is as wanted."""
        reports = []
        for _ in range(turns):
            reports.append(await process.turn())
            self.pass_time(2.0)
            if not reports[-1].changed and self.is_calm(reports[-1]):
                return reports
        raise AssertionError(f"not settled after {turns} turns: {reports[-1]}")

    def is_calm(self, report: Report) -> bool:
        """Whether every workload has the rooms that it should have."""
        return all(
            item.plan.counts.ready == item.plan.counts.desired
            and not item.plan.counts.old
            and not item.plan.counts.terminating
            and not item.plan.counts.leaving
            and not item.plan.waiting
            for item in report.settled
        )

    def ask(self, path: str) -> Json:
        """Read from the cluster, as kubectl would."""
        return self._send(Request.of("GET", path))

    def objects(self, path: str) -> list[Json]:
        """List from the cluster."""
        items: list[Json] = self.ask(path)["items"]
        return items

    def pods(self, namespace: str) -> list[Json]:
        """The pods of a namespace that are not on their way out."""
        items = self.objects(f"/api/v1/namespaces/{namespace}/pods")
        return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]

    def names(self, namespace: str) -> list[str]:
        """Their names."""
        return sorted(pod["metadata"]["name"] for pod in self.pods(namespace))

    def namespaces(self) -> set[str]:
        """The namespaces that there are."""
        return {item["metadata"]["name"] for item in self.objects("/api/v1/namespaces")}

    def delete(self, path: str) -> None:
        """Delete something by hand."""
        self._send(Request.of("DELETE", path))

    def create(self, path: str, body: Json) -> Json:
        """Create something by hand."""
        headers = {"content-type": "application/json"}
        return self._send(Request.of("POST", path, json.dumps(body).encode(), headers))

    def patch(self, path: str, body: Json) -> None:
        """Change something by hand, by a merge patch."""
        headers = {"content-type": "application/merge-patch+json"}
        self._send(Request.of("PATCH", path, json.dumps(body).encode(), headers))

    def touch(self, path: str) -> None:
        """Write something by hand, without changing what it says."""
        body = self.ask(path)
        body["metadata"].setdefault("annotations", {})["touched"] = str(self.time.at)
        headers = {"content-type": "application/json"}
        self._send(Request.of("PUT", path, json.dumps(body).encode(), headers))

    def approve(self, change_hash: str) -> None:
        """Approve a change, as `gamekeeper approve` does."""
        body = approval_body("gamekeeper", "main", change_hash, "anna")
        self.create("/api/v1/namespaces/gamekeeper/configmaps", body)
        self.approvals += 1

    def _send(self, request: Request) -> Json:
        answer = self.sandbox.handle(request, self.time.at)
        assert isinstance(answer, Response)
        content: Json = orjson.loads(answer.body)  # by what our client reads it with
        assert answer.status < 300, content
        return content


async def turn_as_served(world: World, process: Process) -> None:
    """One turn; a cluster's error makes what is wanted be judged again, as the service has it."""
    try:
        await process.turn()
    except PortError:
        process.lane.store.doubted = True
    world.pass_time(2.0)
