"""A door before a sandbox in virtual time: rooms, their tokens, and the requests that were made."""

import json
from collections.abc import Callable

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.model.live import LivePod
from reconciler.model.refs import Json
from reconciler.room_ports import Credential, NotAdmitted
from reconciler.sandbox.access import ADMIN, User
from reconciler.sandbox.behaviour import nodes
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.requests import Request, Response
from reconciler.service.doors.admins import Admins
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.door import RoomDoor, Rules, open_door
from reconciler.service.doors.networks import Silent
from reconciler.service.views import ClusterView
from tests.canaries.places import canary
from tests.loop.transport import SandboxTransport
from tests.loop.world import definitions

START = 1_800_000_000.0
AUDIENCE = "gamekeeper.dev/main"
PEER = "10.244.9.9"
ADMINS_TOKEN = canary("admin token")
AS_ADMIN = {"authorization": f"Bearer {ADMINS_TOKEN}"}


class Time:
    """One time for everybody: `now` is Unix seconds, `elapsed` counts from 0."""

    def __init__(self) -> None:
        self.passed = 0.0

    def now(self) -> float:
        return START + self.passed

    def elapsed(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        self.passed += seconds


class AdminsTransport(SandboxTransport):
    """Shows the administrator's token with each request."""

    def deliver(self, call: Call) -> Response:
        body = b"" if call.body is None else json.dumps(call.body).encode()
        headers = {"content-type": call.content_type, "accept": call.accept, **AS_ADMIN}
        answer = self.sandbox.handle(Request.of(call.method, call.path, body, headers), self.now())
        assert isinstance(answer, Response), call
        return answer


class Gate:
    """The world of one test."""

    def __init__(
        self,
        silent: str = "refuse",
        *,
        list_needs_code: bool = False,
        admins: str = "",
        users: dict[str, User] | None = None,
    ) -> None:
        self.time = Time()
        known = {ADMINS_TOKEN: ADMIN, **(users or {})}
        self.sandbox = Sandbox(definitions(), seed=3, nodes=nodes(2), tokens=known, now=START)
        self.transport = AdminsTransport(self.sandbox, self.time.now)
        self.cluster = KubernetesCluster(self.transport, "main", name="local")
        self.view = ClusterView(self.cluster, "main", self.time, lambda keys: None)
        self.codes = RoomCodes(self.cluster, "gamekeeper", self.time.elapsed)
        self.rules = Rules("main", Silent.read(silent), list_needs_code)
        self.admins = admins
        self.make("/api/v1/namespaces", {"metadata": {"name": "gamekeeper"}})
        self.make("/api/v1/namespaces", {"metadata": {"name": "arena"}})
        self.door = self.another_door()

    def another_door(self) -> RoomDoor:
        """A door that remembers nothing yet."""
        admins = Admins(self.admins)
        return open_door(
            self.cluster,
            self.view,
            self.time,
            self.time.elapsed,
            self.rules,
            self.codes,
            admins,
        )

    def ask(self, method: str, path: str, body: Json | None = None) -> Json:
        """Ask the sandbox, as kubectl would."""
        data = json.dumps(body).encode() if body is not None else b""
        request = Request.of(method, path, data, {"content-type": "application/json", **AS_ADMIN})
        answer = self.sandbox.handle(request, self.time.now())
        assert isinstance(answer, Response)
        content: Json = json.loads(answer.body)
        assert answer.status < 300, content
        return content

    def make(self, path: str, body: Json) -> Json:
        """Make an object."""
        return self.ask("POST", path, body)

    async def room(self, name: str, **spec: object) -> LivePod:
        """Make a room, let it start, and return it as the view sees it."""
        accounts = "/api/v1/namespaces/arena/serviceaccounts"
        if "arena" not in [each["metadata"]["name"] for each in self.ask("GET", accounts)["items"]]:
            self.make(accounts, {"metadata": {"name": "arena"}})
        marks = {labels.INSTANCE: "main", labels.WORKLOAD: "arena", labels.KIND: "Scheduler"}
        container = {"name": "game", "image": "game:1"}
        body: Json = {"metadata": {"name": name, "labels": marks}}
        body["spec"] = {"serviceAccountName": "arena", "containers": [container], **spec}
        self.make("/api/v1/namespaces/arena/pods", body)
        self.pass_time(30.0)
        await self.view.read()
        return self.live(name)

    def live(self, name: str) -> LivePod:
        """The room as the view sees it."""
        found = self.view.room("arena", name)
        assert found is not None
        return found[1]

    def pass_time(self, seconds: float) -> None:
        """Let the cluster live for a while."""
        until = self.time.passed + seconds
        while self.time.passed < until:
            due = self.sandbox.step(self.time.now())
            next_at = until if due is None else max(due - START, self.time.passed + 0.001)
            self.time.passed = min(until, next_at)

    def token(self, name: str, audience: str = AUDIENCE, seconds: int = 3600) -> str:
        """The token that a kubelet puts into this room."""
        uid = self.ask("GET", f"/api/v1/namespaces/arena/pods/{name}")["metadata"]["uid"]
        bound = {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": uid}
        spec = {"audiences": [audience], "expirationSeconds": seconds, "boundObjectRef": bound}
        path = "/api/v1/namespaces/arena/serviceaccounts/arena/token"
        token: str = self.make(path, {"spec": spec})["status"]["token"]
        return token

    def asked(self) -> list[str]:
        """What was asked of the API server until now."""
        return [call.what for call in self.transport.calls]

    def fails(self, fragment: str, error: Callable[[], PortError]) -> None:
        """From now on requests for such a path end in an error."""

        def before(number: int, call: Call) -> None:
            if fragment in call.path:
                raise error()

        self.transport.before = before


def bearer(token: str) -> Credential:
    return Credential("bearer", token)


def code(text: str) -> Credential:
    return Credential("code", text)


NOTHING = Credential("none")


async def refusal(
    door: RoomDoor, pod: LivePod | None, shown: Credential, name: str = "arena-1", peer: str = PEER
) -> tuple[int, str]:
    """Knock as room `name` and return status and text of the refusal, 200 where it is let in."""
    try:
        await door.admit_room("arena", name, pod, shown, peer)
    except NotAdmitted as error:
        return error.status, str(error)
    return 200, ""
