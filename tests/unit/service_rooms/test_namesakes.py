"""Two workloads of one name: each room is known by what it shows, and no match ends for another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from reconciler.adapters.http.api import RoomsApi
from reconciler.adapters.http.ask import Ask
from reconciler.model import labels
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.wanted import Wanted
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.door import Rules, open_door
from reconciler.service.doors.networks import Silent
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import Stage, stage

TWIN = WorkloadKey("Fleet", "elsewhere", "arena")
PATH = "/scheduler/arena/rooms/{}/ping"
STRANGER = "192.0.2.9"


class Twins:
    """A scheduler and, elsewhere, a fleet of the same name: both have a room arena-0."""

    def __init__(self, made: Stage, silent: str) -> None:
        self.stage = made
        codes = RoomCodes(made.cluster, "gamekeeper", elapsed)
        rules = Rules("main", Silent.read(silent))
        self.codes = codes
        self.api = RoomsApi(
            made.desk,
            open_door(made.cluster, made.view, made.clock, elapsed, rules, codes),
            made.clock.now,
        )

    async def say(self, room: str = "arena-0", **shown: str) -> int:
        """Ping as occupied and return the status of the answer."""
        token = shown.get("token", "")
        ask = Ask(
            "PUT",
            PATH.format(room),
            f"code={shown['code']}" if "code" in shown else "",
            {"authorization": f"Bearer {token}"} if token else {},
            b'{"status":"occupied"}',
            shown.get("peer", STRANGER),
        )
        return (await self.api.answer(ask)).status

    def token(self, namespace: str) -> str:
        """The token that a kubelet puts into arena-0 there."""
        pod = self.stage.world.ask(f"/api/v1/namespaces/{namespace}/pods/arena-0")
        bound = {"kind": "Pod", "apiVersion": "v1", "name": "arena-0"}
        bound["uid"] = pod["metadata"]["uid"]
        spec = {"audiences": ["gamekeeper.dev/main"], "expirationSeconds": 3600}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
        asked = {"spec": {**spec, "boundObjectRef": bound}}
        return str(self.stage.world.create(path, asked)["status"]["token"])

    def ip(self, namespace: str) -> str:
        """The address of the pod arena-0 there."""
        found = self.stage.view.room(namespace, "arena-0")
        assert found is not None
        return found[1].pod_ip

    def marks(self) -> tuple[str, str]:
        """The state labels of arena-0 here and elsewhere."""
        names = ("arena", "elsewhere")
        pods = [self.stage.world.ask(f"/api/v1/namespaces/{each}/pods/arena-0") for each in names]
        here, there = (pod["metadata"]["labels"].get(labels.STATE, "") for pod in pods)
        return str(here), str(there)


@asynccontextmanager
async def twins(silent: str = "refuse") -> AsyncIterator[Twins]:
    """Open a stage with both."""
    async with stage(rooms=2) as it:
        it.world.create("/api/v1/namespaces", {"metadata": {"name": "gamekeeper"}})
        it.world.create("/api/v1/namespaces", {"metadata": {"name": TWIN.namespace}})
        accounts = f"/api/v1/namespaces/{TWIN.namespace}/serviceaccounts"
        it.world.create(accounts, {"metadata": {"name": "default"}})
        await it.others().create(twin_pod())
        effective = {**it.lane.wanted.effective}
        twin = replace(it.workload, key=TWIN)
        effective[TWIN] = replace(effective[a_key()], workload=twin)
        it.lane.wanted = Wanted(effective=effective)
        await asyncio.sleep(30.0)
        yield Twins(it, silent)


def twin_pod() -> Json:
    marks = {labels.INSTANCE: "main", labels.WORKLOAD: "arena", labels.KIND: "Fleet"}
    metadata = {"name": "arena-0", "namespace": TWIN.namespace, "labels": marks}
    metadata["annotations"] = {labels.REVISION: "1-new"}
    spec = {"containers": [{"name": "game", "image": "game:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("home", ["arena", "elsewhere"])
@pytest.mark.parametrize(
    ("silent", "shows"),
    [
        pytest.param("refuse", "token", id="its token"),
        pytest.param("refuse", "code", id="its code"),
        pytest.param("pod-address", "address", id="its address"),
        pytest.param("10.0.0.0/8", "address", id="its address in a network that is believed"),
    ],
)
def test_a_room_of_a_name_that_is_there_twice_is_known_by(
    silent: str, shows: str, home: str
) -> None:
    async def main() -> None:
        async with twins(silent) as it:
            shown = {
                "token": lambda: {"token": it.token(home)},
                "address": lambda: {"peer": it.ip(home)},
            }
            code = {"code": await it.codes.of(home, "arena-0")}
            assert await it.say(**(code if shows == "code" else shown[shows]())) == 200
            assert it.marks() == (("busy", "") if home == "arena" else ("", "busy"))

    in_virtual_time(main())


@pytest.mark.parametrize(
    ("silent", "shown", "status"),
    [
        pytest.param("refuse", {}, 401, id="nothing"),
        pytest.param("refuse", {"code": "a-guess"}, 401, id="a wrong code"),
        pytest.param("refuse", {"token": "a-guess"}, 401, id="a wrong token"),
        pytest.param("pod-address", {}, 401, id="the address of no room"),
        pytest.param("192.0.2.0/24", {}, 404, id="nothing, in a network that is believed"),
    ],
)
def test_where_nothing_tells_which_of_both_is_meant(
    silent: str, shown: dict[str, str], status: int
) -> None:
    async def main() -> None:
        async with twins(silent) as it:
            assert await it.say(**shown) == status
            assert it.marks() == ("", "")

    in_virtual_time(main())


def test_a_room_speaks_for_no_namesake_and_for_no_neighbour() -> None:
    async def main() -> None:
        async with twins() as it:
            assert await it.say("arena-1", token=it.token("elsewhere")) == 403
            assert await it.say("arena-1", token=it.token("arena")) == 403
            code = await it.codes.of("elsewhere", "arena-0")
            assert await it.say("arena-1", code=code) == 401
            assert it.stage.label("arena-1") == ""

    in_virtual_time(main())


def test_a_room_that_is_gone_hears_410_though_its_namesake_lives() -> None:
    async def main() -> None:
        async with twins() as it:
            code, token = await it.codes.of("elsewhere", "arena-0"), it.token("elsewhere")
            it.stage.world.delete("/api/v1/namespaces/elsewhere/pods/arena-0")
            await asyncio.sleep(60.0)
            assert it.stage.view.room("elsewhere", "arena-0") is None
            assert await it.say(code=code) == 410
            assert await it.say(token=token) == 410
            assert await it.say(token=it.token("arena")) == 200

    in_virtual_time(main())
