"""What rooms and strangers send by HTTP: it is taken or refused in words, and never a defect."""

import asyncio
import json
import random
from urllib.parse import quote

from reconciler.adapters.http.ask import BODY_LIMIT_BYTES, MOST_PARAMETERS
from reconciler.adapters.http.refusals import Refused
from reconciler.adapters.http.routes import ROUTES
from reconciler.adapters.http.strict_json import MOST_DEPTH, parsed
from reconciler.core.hearing import MOST_PLAYERS
from reconciler.model.refs import Json
from tests.fuzz.forging import Forge, altered, written
from tests.fuzz.playing import Target, search
from tests.unit.adapters_http.office import ADMIN, CODE, TOKEN, Office, whole

BODIES: dict[str, Json] = {
    "Ping": {"status": "occupied", "runningMatches": "1", "timestamp": 1, "metadata": {"a": 1}},
    "MaestroEvent": {"event": "score", "timestamp": "1", "metadata": {"eventType": "x"}},
    "PlayerEvent": {"event": "playerJoin", "metadata": {"playerId": "p1"}},
    "ServerPlayers": {"serverName": "arena-7", "namespace": "arena", "playerCount": 3},
    "ServerState": {"serverName": "arena-7", "namespace": "arena", "state": "Running"},
    "ServerHealth": {"serverName": "arena-7", "namespace": "arena", "health": "Healthy"},
    "ServerMarked": {"serverName": "arena-7", "namespace": "arena", "markedForDeletion": "true"},
    "Collection": {"metadata": {"name": "shooter"}, "spec": {"replicas": 1, "template": {}}},
    "Report": {"state": "occupied", "matches": 1, "players": 4},
    "RoomEvent": {"name": "score", "kind": "player", "metadata": {"points": 3}},
    "": {},
}
OTHERS = (
    "ready",
    "terminated",
    "terminating",
    "playerLeft",
    "arena-7",
    "arena",
    1e400,
    "1",
    MOST_PLAYERS,
)
NAMES = {"scheduler": "arena", "room": "arena-7", "namespace": "arena", "name": "arena-7"}
QUERIES: tuple[str, ...] = (
    "",
    "code=" + CODE,
    "code=x",
    "workload=Scheduler/arena/arena",
    "state=ready,occupied",
)
QUERIES += ("available=true", "name=shooter", "name=shooter&code=" + ADMIN)
HEADERS = ("", f"authorization: Bearer {TOKEN}", f"authorization: Bearer {ADMIN}", "origin: x")
ENDLESS = "/v1/watch"
WORDS = (b"%00", b"%ff", b"%2f", b"&code=", b"?", b"&", b"PUT ", b"GET ", b"authorization: ")
TEXTS = Forge(
    [json.dumps(body).encode() for body in BODIES.values()], (b"1e400", b'"a":', b"\\ud83d")
)


def request(chance: random.Random) -> bytes:
    """Return a request as it goes over the line, most of it as it should be."""
    route = chance.choice(ROUTES)
    path = route.path
    for name, usual in NAMES.items():
        odd = chance.random() < 0.2
        value = quote(Forge([usual.encode()], WORDS, 300)(chance)) if odd else usual
        path = path.replace(f"{{{name}}}", value)
    lines = [f"{route.method} {path}?{chance.choice(QUERIES)}", chance.choice(HEADERS), "", ""]
    head = "\n".join(lines).encode()
    if chance.random() < 0.3:
        head = Forge([head], WORDS, 20_000)(chance)
    body = BODIES[route.body]
    sent = altered(body, chance, OTHERS) if chance.random() < 0.9 else body
    return head + written(sent, chance)


async def asked(data: bytes) -> None:
    """Ask a fresh office, which holds each answer to the document of the API, and allows no 500."""
    head, _, body = data.partition(b"\n\n")
    first, *rest = head.decode("utf-8", "surrogateescape").split("\n")
    method, _, target = first.partition(" ")
    pairs = (line.partition(": ") for line in rest)
    headers = {name.lower(): value for name, _, value in pairs if name}
    # What the listener says to any path, too much of a query, the document has not for all.
    if target.startswith(ENDLESS) or target.count("&") >= MOST_PARAMETERS:
        return
    office = Office()
    if method not in ("PUT", "POST"):
        # The document has no 413 where no body is wanted; the listener still says it.
        body = body[:BODY_LIMIT_BYTES]
    answer = await office.ask(method, target, body, headers=headers)
    if answer.stream is not None:
        (await whole(answer)).encode()
    for name, value in answer.headers.items():
        assert f"{name}{value}".isprintable()
    for room, report in office.desk.reports:
        assert room == "arena-7", "only the room that shows its own credential is heard"
        counts = [each for each in (report.matches, report.players) if each is not None]
        assert all(type(each) is int and 0 <= each <= MOST_PLAYERS for each in counts)


def strictly(data: bytes) -> None:
    """What is taken for JSON is what every parser takes for the same, and can be sent on."""
    try:
        value = parsed(data)
    except Refused as no:
        str(no).encode("utf-8", "surrogatepass")
        return
    assert json.loads(data, object_pairs_hook=unique) == value
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    assert depth_of(value) <= MOST_DEPTH


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def depth_of(value: object) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (1 + max(map(depth_of, inside), default=0)) if isinstance(value, dict | list) else 0


def test_no_request_is_too_much_for_the_api_of_rooms() -> None:
    with asyncio.Runner() as runner:
        search(Target("request", 105_000, request, lambda data: runner.run(asked(data))))


def test_no_body_is_read_as_what_it_is_not() -> None:
    search(Target("json", 840_000, TEXTS, strictly))
