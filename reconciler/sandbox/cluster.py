"""The sandbox itself: one pure `handle`, and a `step` that lets the cluster live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reconciler.kube.schemas import Schemas
from reconciler.sandbox import bootstrap, discovery, openapi, openid, refusals, routes
from reconciler.sandbox.access import Access, User
from reconciler.sandbox.behaviour import Behaviour, NodeShape
from reconciler.sandbox.controllers import Controllers
from reconciler.sandbox.faults import NONE, Fault, Faults
from reconciler.sandbox.ids import Ids
from reconciler.sandbox.refusals import Refused, encode
from reconciler.sandbox.requests import Answer, Json, Request, Response
from reconciler.sandbox.runtime import Runtime
from reconciler.sandbox.shapes import Shapes
from reconciler.sandbox.store import Store
from reconciler.sandbox.verbs.dispatch import perform
from reconciler.sandbox.verbs.versions import Blocked
from reconciler.sandbox.world import Call, World

VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3",
    "gitCommit": "sandbox",
    "gitTreeState": "clean",
    "platform": "sandbox/python",
}
_HEALTH = ("/healthz", "/livez", "/readyz")


class Sandbox:
    """A cluster in a process. It reads no clock: every call says what time it is.

    The cluster is founded at `now` (Unix seconds), or by the first call when that is not given.
    """

    def __init__(
        self,
        definitions: Json,
        *,
        seed: int = 0,
        nodes: Sequence[NodeShape] = (),
        behaviour: Behaviour | None = None,
        tokens: Mapping[str, User] | None = None,
        now: float | None = None,
    ) -> None:
        behaviour = behaviour or Behaviour()
        self.world = World(
            store=Store(behaviour.history),
            ids=Ids(seed),
            schemas=Schemas(definitions),
            shapes=Shapes(definitions),
            behaviour=behaviour,
            access=Access(dict(tokens or {})),
            faults=Faults(),
        )
        self._controllers = Controllers(self.world)
        self._founding_nodes: Sequence[NodeShape] | None = nodes
        if now is not None:
            self._found(now)

    def _found(self, now: float) -> None:
        nodes, self._founding_nodes = self._founding_nodes, None
        bootstrap.found(self.world, nodes or (), now)
        self._controllers.step(now)
        self.expire_history()

    @property
    def faults(self) -> Faults:
        """Give the planted faults."""
        return self.world.faults

    def run_with(self, runtime: Runtime) -> None:
        """Let this run what is in the containers of pods, from now on."""
        self.world.runtime = runtime

    def notice(self, namespace: str, name: str) -> None:
        """Look at a pod at the next step: what runs in it has ended by itself."""
        self._controllers.notice(f"{namespace}/{name}")

    def add_nodes(self, nodes: Sequence[NodeShape], now: float) -> None:
        """Let a cloud bring more nodes."""
        bootstrap.add_nodes(self.world, nodes, now)

    def silence(self, node: str) -> None:
        """Let a node be lost to the cluster: its kubelet reports nothing and ends no pod."""
        self._controllers.silence(node)

    def wake(self, node: str) -> None:
        """Let a lost node come back."""
        self._controllers.wake(node)

    def expire_history(self) -> None:
        """Forget every past revision, as a compaction does."""
        for shelf in self.world.store.shelves.values():
            shelf.forget(len(shelf.log))
            shelf.forgotten = self.world.store.revision

    def step(self, now: float) -> float | None:
        """Let controllers act; tells when something is due again (Unix seconds)."""
        if self._founding_nodes is not None:
            self._found(now)
        return self._controllers.step(now)

    def handle(self, request: Request, now: float) -> Answer:
        """Answer one request."""
        if self._founding_nodes is not None:
            self._found(now)
        fault = self.world.faults.take(request) if self.world.faults.planted else NONE
        answer = self._answer(request, now, fault)
        if fault.delay_seconds and isinstance(answer, Response):
            return replace(answer, delay_seconds=answer.delay_seconds + fault.delay_seconds)
        if fault.delay_seconds and not isinstance(answer, Response):
            answer.delay_seconds = fault.delay_seconds
        return answer

    def _answer(self, request: Request, now: float, fault: Fault) -> Answer:
        spoiled = bool(fault.status or fault.dropped)
        try:
            if spoiled and not fault.executed:
                return _spoil(fault)
            answer = self._route(request, now, fault)
        except Refused as refused:
            answer = refused.response()
        except routes.Unrouted:
            answer = Response(404, b"404 page not found\n", "text/plain; charset=utf-8")
        except Blocked as blocked:
            late = blocked.refused.response()
            answer = replace(late, delay_seconds=blocked.delay_seconds)
        if not spoiled:
            return answer
        if not isinstance(answer, Response):
            answer.close()
        return _spoil(fault)

    def _route(self, request: Request, now: float, fault: Fault) -> Answer:
        if request.path in _HEALTH or request.path.startswith(tuple(f"{one}/" for one in _HEALTH)):
            return Response(200, b"ok", "text/plain; charset=utf-8")
        user = self.world.access.user(request)
        if request.path == "/version":
            return Response(200, encode(VERSION))
        known = (
            discovery.discover(request)
            or openapi.describe(request)
            or openid.describe(request, self.world.ids.seed)
        )
        if known is not None:
            self.world.access.check_path(user, request)
            if request.method != "GET":
                raise refusals.method_not_allowed()
            return known
        target = routes.route(request.path)
        self.world.access.check(user, request, target)
        return perform(Call(self.world, request, target, user, now), fault)


def _spoil(fault: Fault) -> Response:
    return fault.silence() if fault.dropped else fault.refusal().response()
