"""An honest desk and door in memory, and an API in front of them whose every answer is checked.

What the real desk does to pods is not here: these tests are about what is sent and answered.
"""

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from reconciler.adapters.http.api import RoomsApi
from reconciler.adapters.http.ask import Answer, Ask
from reconciler.adapters.http.openapi import document
from reconciler.adapters.http.refusals import Refused
from reconciler.adapters.http.routes import Route, route_of
from reconciler.core.fence import Verdict
from reconciler.model.errors import Gone, NotFound, PortError
from reconciler.model.holds import Hold
from reconciler.model.live import HostPort, LivePod, Phase
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Heard, Judged, Mark, Report, RoomState, Said, Why
from reconciler.room_ports import (
    AT_ONCE,
    Came,
    Change,
    Credential,
    Fleets,
    Happening,
    NotAdmitted,
    RoomView,
    Verb,
)
from tests.canaries.places import canary

NOW = 1_760_000_000.0
CODE = canary("room code")
TOKEN = canary("room token")
ADMIN = canary("admin token")
ARENA = WorkloadKey("Scheduler", "arena", "arena")
SHOOTER = WorkloadKey("Fleet", "shooters", "shooter")


def pod_of(key: WorkloadKey, ordinal: int, **more: Any) -> LivePod:
    """Return the pod of a room that runs."""
    made = LivePod(
        uid=f"uid-{key.name}-{ordinal}",
        namespace=key.namespace,
        name=f"{key.name}-{ordinal}",
        resource_version="100",
        phase=Phase.RUNNING,
        ready=True,
        terminating=False,
        node="node-1",
        host_ip="10.0.0.1",
        pod_ip=f"10.244.0.{ordinal}",
        instance="main",
        workload=key.name,
        ordinal=ordinal,
        revision="r1",
        host_ports=(HostPort(20_001, "UDP", "game", 7777),),
        created_at=NOW - 60,
        mark=Mark.IDLE,
        running=True,
    )
    return replace(made, **more)


def room_of(key: WorkloadKey, ordinal: int, **more: Any) -> RoomView:
    """Return a ready room."""
    return RoomView(
        key=key,
        pod=pod_of(key, ordinal, **more),
        judged=Judged(RoomState.READY, "it says so", up=True),
        heard=None,
        address="203.0.113.7",
        available=True,
    )


@dataclass
class Desk:
    """Rooms in a dictionary; a room is busy when it says so."""

    known: dict[tuple[str, str], RoomView]
    shut: str = ""
    fails: PortError | None = None
    reports: list[tuple[str, Report]] = field(default_factory=list)
    left: list[tuple[str, bool, str]] = field(default_factory=list)
    told: list[tuple[str, Happening]] = field(default_factory=list)
    coming: list[Change] = field(default_factory=list)
    spoke: dict[str, float] = field(default_factory=dict)
    came: list[Came] = field(default_factory=list)
    waiting: int = 0
    missed: list[tuple[str, int]] = field(default_factory=list)

    def closed(self) -> str:
        return self.shut

    def find(self, workload: str, room: str) -> RoomView:
        found = [each for each in self.known.values() if each.pod.name == room]
        if found and found[0].key.name == workload:
            return found[0]
        return self._missing(room)

    def find_in(self, namespace: str, room: str) -> RoomView:
        return self.known.get((namespace, room)) or self._missing(room)

    def _missing(self, room: str) -> RoomView:
        if self.fails:
            raise self.fails
        # arena-0 to arena-6 were there once.
        if room.rpartition("-")[2] in [str(number) for number in range(7)]:
            raise Gone(f"room {room} is no more")
        raise NotFound("there is no such room")

    async def report(self, room: RoomView, report: Report, came: Came = AT_ONCE) -> RoomView:
        self.came.append(came)
        if self.fails:
            raise self.fails
        self.reports.append((room.pod.name, report))
        busy = report.said is Said.OCCUPIED or bool(report.matches) or bool(report.players)
        heard = replace(
            room.heard or Heard(at=NOW - 1),
            players=report.players or 0,
            matches=report.matches or 0,
        )
        state = RoomState.OCCUPIED if busy else RoomState.READY
        return self._put(replace(room, heard=heard, judged=Judged(state, "it says so")))

    def fence(self, room: RoomView) -> Verdict | None:
        stays = room.pod.leaving is Why.STAYS and room.pod.mark is not Mark.DRAINING
        return None if stays else Verdict(False, "left alone for 3.0 s more", 3.0)

    def last_seen(self, namespace: str, room: str) -> LivePod | None:
        found = self.known.get((namespace, room))
        return None if found is None else found.pod

    def turned_away(self, pod: LivePod, players: int, came: Came) -> None:
        self.missed.append((pod.name, players))

    def spoke_at(self, room: RoomView) -> float:
        return self.spoke.get(room.pod.name, 0.0)

    async def leave(self, room: RoomView, leaves: bool, by: str, *, own: bool) -> RoomView:
        self.left.append((room.pod.name, leaves, by))
        pod = replace(
            room.pod,
            leaving=Why.REQUEST if leaves else Why.STAYS,
            leaving_since=NOW if leaves else 0.0,
        )
        return self._put(replace(room, pod=pod, available=not leaves))

    def _put(self, room: RoomView) -> RoomView:
        self.known[room.pod.namespace, room.pod.name] = room
        return room

    def happened(self, room: RoomView, happening: Happening) -> None:
        self.told.append((room.pod.name, happening))

    def rooms(self, workload: WorkloadKey | None = None) -> Iterable[RoomView]:
        return [self.known[at] for at in sorted(self.known) if workload in (None, self.key(at))]

    def key(self, at: tuple[str, str]) -> WorkloadKey:
        return self.known[at].key

    def workloads(self) -> Iterable[WorkloadKey]:
        return {room.key for room in self.known.values()}

    async def changes(self, workload: WorkloadKey | None = None) -> AsyncIterator[Change]:
        for change in self.coming:
            yield change


@dataclass
class Keeper:
    """One room has a code and a token; one person may do all; `free` needs nobody to show any."""

    free: bool = False
    lists_need_code: bool = False
    guesses: int = 0
    asked_for: list[str] = field(default_factory=list)
    looked_at: list[WorkloadKey | None] = field(default_factory=list)

    async def admit_room(
        self, namespace: str, name: str, pod: LivePod | None, shown: Credential, peer: str
    ) -> None:
        self.asked_for.append(f"{namespace}/{name}")
        own = {"bearer": TOKEN, "code": CODE, "none": ""}[shown.kind]
        if self.free and shown.kind == "none":
            return
        if shown.kind == "none":
            raise NotAdmitted(401, "nobody is let in without a credential")
        if pod is None and own == shown.secret:
            raise Gone("the pod of this credential is no more")
        if pod is None or shown.secret != own or pod.name != "arena-7":
            self.guesses += 1
            if self.guesses > 10:
                raise NotAdmitted(429, "too many wrong credentials", 42.0)
            raise NotAdmitted(403, "this credential is not the room's")

    async def whose(
        self, namespaces: Sequence[str], name: str, shown: Credential, peer: str
    ) -> str:
        return ""

    async def admit_reader(self, shown: Credential, peer: str) -> bool:
        if self.lists_need_code and shown.kind == "none":
            raise NotAdmitted(401, "show a code")
        return shown.secret == ADMIN

    async def admit_person(
        self, shown: Credential, peer: str, verb: Verb, workload: WorkloadKey | None
    ) -> str:
        self.looked_at.append(workload)
        if shown.kind == "bearer" and shown.secret == ADMIN:
            return "ada"
        raise NotAdmitted(401, "nobody of that token is known")


class Office:
    """The API, whose answers are held to its own OpenAPI document."""

    def __init__(self, desk: type[Desk] = Desk, fleets: Fleets | None = None) -> None:
        rooms = [room_of(ARENA, 7), room_of(ARENA, 8), room_of(SHOOTER, 7)]
        self.desk = desk({(room.pod.namespace, room.pod.name): room for room in rooms})
        self.keeper = Keeper()
        self.held: dict[WorkloadKey, list[Hold]] = {}
        self.wanted: dict[WorkloadKey, int] = {}
        self.counted: list[tuple[str, str]] = []
        self.api = RoomsApi(
            self.desk,
            self.keeper,
            lambda: NOW,
            lambda *each: self.counted.append(each),
            lambda key: (self.wanted.get(key, 0), self.held.get(key, [])),
            fleets,
        )

    def change(self, name: str, **pod: Any) -> RoomView:
        """Change the pod of a room."""
        at = next(at for at in self.desk.known if at[1] == name)
        room = self.desk.known[at]
        self.desk.known[at] = replace(room, pod=replace(room.pod, **pod))
        return self.desk.known[at]

    async def ask(
        self,
        method: str,
        target: str,
        body: Any = b"",
        token: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Ask, and hold the answer to the document."""
        path, _, query = target.partition("?")
        named = dict(headers or {}) | ({"authorization": f"Bearer {token}"} if token else {})
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = await self.api.answer(Ask(method, path, query, named, sent, "192.0.2.1"))
        await self._hold(method, path, answer)
        return answer

    async def _hold(self, method: str, path: str, answer: Answer) -> None:
        assert answer.status != 500
        try:
            route, _ = route_of(method, path)
        except Refused:
            return
        assert str(answer.status) in responses(route), (answer.status, path)
        content = responses(route)[str(answer.status)]["content"]
        assert list(content) == [answer.content_type.partition(";")[0]]
        if answer.content_type == "application/json" and answer.stream is None:
            validator(route, answer.status).validate(json.loads(answer.body))

    async def listed(self, target: str, token: str = "") -> Any:
        """Ask for a list and return it whole, held to the document."""
        answer = await self.ask("GET", target, token=token)
        text = await whole(answer)
        route, _ = route_of("GET", target.partition("?")[0])
        value = json.loads(text)
        validator(route, answer.status).validate(value)
        return value


async def whole(answer: Answer) -> str:
    """Return the text of a stream that ends."""
    assert answer.stream is not None
    return b"".join([piece async for piece in answer.stream]).decode()


def responses(route: Route) -> Any:
    """Return what the document says of the answers of a route."""
    return described()["paths"][route.path][route.method.lower()]["responses"]


@cache
def validator(route: Route, status: int) -> Draft202012Validator:
    """Return what holds an answer to the document."""
    schema = responses(route)[str(status)]["content"]["application/json"]["schema"]
    return Draft202012Validator(schema | {"components": described()["components"]})


@cache
def described() -> Any:
    """Return the document."""
    return document()
