"""Whatever somebody sends, the real desk behind the real door answers it, and not with a 500."""

import random

from reconciler.adapters.http.api import RoomsApi
from reconciler.adapters.http.ask import Ask
from reconciler.adapters.http.routes import ROUTES
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.door import Rules, open_door
from reconciler.service.doors.networks import Silent
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.service_rooms.stage import Stage, stage

NAMES = ["arena", "arena-0", "arena-1", "arena-99", "arena-" + "7" * 6000, "arena-%D9%A1", "%00"]
NAMES += [
    "a" * 6000,
    "arena-0%2Farena-0",
    "..",
    "%F0%9F%8E%B2",
    "arena--1",
    "arena-1e3",
    "%ED%A0%80",
]
VALUES = ["0", "1", "-1", "true", "null", "1e400", "9" * 25, '"ready"', '"occupied"', '"\\ud800"']
VALUES += ["[]", "{}", '"Healthy"', '"Failed"', '"Running"', '"playerJoin"', '"' + "x" * 9000 + '"']
FIELDS = ["status", "runningMatches", "metadata", "event", "serverName", "namespace", "playerCount"]
FIELDS += ["health", "state", "markedForDeletion", "matches", "players", "name", "kind"]
SHOWN = [
    "",
    "Bearer ",
    "Bearer x.y.z",
    "Bearer " + "e" * 9000,
    "Basic eDp4",
    "Bearer é",
    "Bearer \0",
]
SHOWN += ["Bearer eyJhbGciOiJub25lIn0.eyJhdWQiOltdfQ.", "Bearer eyJraWQiOjF9.e30.x"]
QUERIES = [
    "",
    "code=x",
    "code=%ff%00",
    "code=&code=y",
    "workload=a/b/c",
    "workload=%2F%2F",
    "state=x",
]
QUERIES += ["available=true", "state=ready,,active", "workload=Scheduler/arena/arena", "&" * 99]
PEERS = ["127.0.0.1", "10.0.0.9", "", "fe80::1%eth0", "::ffff:1.2.3.4", "no address"]


def body_of(chance: random.Random) -> bytes:
    """Return a body that is nearly right, or nothing like it."""
    names = ["serverName", "namespace", *chance.choices(FIELDS, k=chance.randrange(4))]
    room = ['"arena-0"', '"arena"'] if chance.random() < 0.5 else chance.choices(VALUES, k=2)
    said = dict(zip(names, [*room, *chance.choices(VALUES, k=4)], strict=False))
    text = "{" + ",".join(f'"{name}":{value}' for name, value in said.items()) + "}"
    return text.encode()[: chance.choice([20, 20_000])]


def ask_of(chance: random.Random) -> Ask:
    """Return a request that somebody may send."""
    route = chance.choice([each for each in ROUTES if each.operation != "watch"])
    path = route.path
    for name in ("{scheduler}", "{room}", "{namespace}", "{name}"):
        path = path.replace(name, chance.choice(NAMES))
    shown = {"authorization": chance.choice(SHOWN)}
    query, peer = chance.choice(QUERIES), chance.choice(PEERS)
    return Ask(route.method, path, query, shown, body_of(chance), peer)


def api_of(it: Stage) -> RoomsApi:
    """Return the API of a stage; who comes from this machine needs to show nothing."""
    rules = Rules("main", Silent.read("127.0.0.0/8"))
    codes = RoomCodes(it.others(), "gamekeeper", elapsed)
    door = open_door(it.others(), it.view, it.clock, elapsed, rules, codes)
    return RoomsApi(it.desk, door, it.clock.now)


def test_two_thousand_hostile_requests_meet_no_defect_of_desk_or_door() -> None:
    async def main() -> None:
        chance, seen = random.Random(4), set()
        async with stage(rooms=2) as it:
            api = api_of(it)
            for number in range(2_000):
                ask = ask_of(chance)
                answer = await api.answer(ask)
                if answer.stream is not None:
                    async for _ in answer.stream:
                        pass
                seen.add(answer.status)
                assert answer.status != 500, (number, ask)
                assert b"Traceback" not in answer.body

        assert {200, 400, 401, 404, 429} <= seen

    in_virtual_time(main())
