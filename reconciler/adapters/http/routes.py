"""The table of all paths: what is served, by whom, and how it is described.

The router and the OpenAPI document are both made from it, so that neither can say something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl

from reconciler.adapters.http.ask import EVENTS, HTML, JSON, TEXT, decoded
from reconciler.adapters.http.refusals import Refused, malformed, quoted
from reconciler.room_ports import Way


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path. `path` names its parameters in braces.

    `answer` names the schema of what is said when all is well, `body` that of what is sent, ""
    where there is none that is JSON. `always` is whether a process that does not lead answers it
    too, `told_by_all` whether it does so to who shows nothing, and `reports` whether a room says
    something by it.
    """

    method: str
    path: str
    operation: str
    way: Way
    summary: str
    body: str = ""
    answer: str = ""
    query: tuple[str, ...] = ()
    content_type: str = JSON
    always: bool = False
    told_by_all: bool = False
    reports: bool = False

    @property
    def minds_query(self) -> bool:
        """Whether it refuses parameters that it does not know: one of ours that chooses rooms."""
        return self.way == "v1" and bool(self.query)


_ROOM = "/scheduler/{scheduler}/rooms/{room}"
_V1_ROOM = "/v1/rooms/{namespace}/{name}"
_WORKLOAD = ("workload",)
CODE = "code"
"""The credential that every path takes in its query."""


def _maestro(method: str, last: str, operation: str, summary: str, *shape: str) -> Route:
    body, answer = shape
    reports = method != "GET"
    return Route(
        method, f"{_ROOM}/{last}", operation, "maestro", summary, body, answer, reports=reports
    )


def _collections(path: str, operation: str, summary: str, body: str) -> Route:
    return Route(
        "POST",
        path,
        operation,
        "collections",
        summary,
        body,
        query=(CODE,),
        content_type=TEXT,
        reports=True,
    )


def _page(method: str, path: str, operation: str, summary: str, content_type: str) -> Route:
    answer = "Servers" if content_type == JSON else ""
    always = path == "/healthz"
    return Route(
        method,
        path,
        operation,
        "collections",
        summary,
        answer=answer,
        content_type=content_type,
        always=always,
    )


def _written(method: str, path: str, operation: str, summary: str, body: str = "") -> Route:
    """Who shows nothing is told of Git by any process; only one that leads commits."""
    query = (CODE,) if body else ("name", CODE)
    return Route(
        method,
        path,
        operation,
        "collections",
        summary,
        body,
        query=query,
        content_type=TEXT,
        told_by_all=True,
    )


ROUTES: tuple[Route, ...] = (
    _maestro("PUT", "ping", "ping", "say how the room is", "Ping", "Success"),
    _maestro("PUT", "status", "status", "pass a status on (old)", "Ping", "Success"),
    _maestro("POST", "roomevent", "roomEvent", "pass an event on", "MaestroEvent", "Passed"),
    _maestro(
        "POST", "playerevent", "playerEvent", "pass on who comes and goes", "PlayerEvent", "Passed"
    ),
    _maestro("GET", "address", "address", "the public address of the room", "", "Address"),
    _collections("/setactiveplayers", "setActivePlayers", "say how many play", "ServerPlayers"),
    _collections("/setdgsstate", "setServerState", "say the game's state", "ServerState"),
    _collections("/setsdgsstate", "setServerStateOld", "the same, as samples do", "ServerState"),
    _collections("/setsdgshealth", "setServerHealth", "say the health", "ServerHealth"),
    _collections(
        "/setdgsmarkedfordeletion", "markServer", "leave when empty, or stay", "ServerMarked"
    ),
    _page("GET", "/running", "running", "servers for a matchmaker", JSON),
    _page("GET", "/", "page", "the same for people", HTML),
    _page("GET", "/healthz", "alive", "whether the server answers", TEXT),
    _written("POST", "/create", "create", "have a Fleet written into Git", "Collection"),
    _written("GET", "/delete", "delete", "have a Fleet taken out of Git"),
    Route(
        "GET",
        "/v1/rooms",
        "listRooms",
        "v1",
        "rooms, all or some",
        answer="Rooms",
        query=("workload", "state", "available"),
    ),
    Route("GET", _V1_ROOM, "getRoom", "v1", "one room", answer="Room"),
    Route(
        "PUT",
        f"{_V1_ROOM}/report",
        "report",
        "v1",
        "say how the room is",
        "Report",
        "Standing",
        reports=True,
    ),
    Route(
        "POST",
        f"{_V1_ROOM}/events",
        "tellEvent",
        "v1",
        "pass an event on",
        "RoomEvent",
        "Standing",
        reports=True,
    ),
    Route("POST", f"{_V1_ROOM}/drain", "drain", "v1", "let it leave when empty", answer="Standing"),
    Route("DELETE", f"{_V1_ROOM}/drain", "undrain", "v1", "let it stay", answer="Standing"),
    Route(
        "GET",
        "/v1/workloads",
        "listWorkloads",
        "v1",
        "counts",
        answer="Workloads",
        query=_WORKLOAD,
    ),
    Route(
        "GET",
        "/v1/watch",
        "watch",
        "v1",
        "all rooms, then what changes",
        query=_WORKLOAD,
        content_type=EVENTS,
    ),
    Route(
        "GET",
        "/v1/openapi.json",
        "openApi",
        "v1",
        "this document",
        answer="Any",
        always=True,
    ),
)


Found = tuple[Route, tuple[str, ...]]
"""A route and the values of its parameters."""

SHORT_CHARACTERS = 256
PATHS_KEPT = 16_384
"""So many short paths are found without a search: rooms ask the same few again and again."""


def route_of(method: str, path: str) -> Found:
    """Return the route of a request. Raises Refused (404, 405)."""
    return _known(method, path) if len(path) <= SHORT_CHARACTERS else _found(method, path)


def _found(method: str, path: str) -> Found:
    parts = path.split("/")
    others = []
    for route, fixed, named in _TABLE.get((len(parts), parts[min(1, len(parts) - 1)]), ()):
        if any(parts[place] != text for place, text in fixed):
            continue
        values = tuple([decoded(parts[place]) for place in named])
        if not all(values):
            continue
        if route.method == method:
            return route, values
        others.append(route.method)
    if others:
        # What is read may be asked for without its body, too.
        allowed = sorted({*others, *(["HEAD"] if "GET" in others else [])})
        no = Refused(405, f"this path takes {' or '.join(allowed)}")
        no.allow = ", ".join(allowed)
        raise no
    raise Refused(404, "there is no such path", "GET /v1/openapi.json lists all paths")


_known = lru_cache(maxsize=PATHS_KEPT)(_found)
"""What is refused is not kept: strangers could ask for anything."""


def check_query(route: Route, query: str) -> None:
    """Refuse what is not known, or comes twice: a misspelled filter must not pass for none.

    Raises Refused (400).
    """
    if not query or not route.minds_query:
        return
    known, seen = (*route.query, CODE), set[str]()
    for name, _ in parse_qsl(query, keep_blank_values=True):
        if name not in known:
            raise malformed(
                f"there is no query parameter {quoted(name)} here; there are {', '.join(known)}"
            )
        if name in seen:
            raise malformed(f"the query parameter {name!r} comes twice: write it once")
        seen.add(name)


def way_of(path: str) -> Way:
    """Return whose paths a path that is not served looks like: how to word the refusal."""
    if path.startswith("/scheduler/"):
        return "maestro"
    return "v1" if path.startswith("/v1/") else "collections"


_Entry = tuple[Route, tuple[tuple[int, str], ...], tuple[int, ...]]
"""A route, which segments of its path must be what, and where its parameters stand."""


def _sorted(routes: Sequence[Route]) -> Mapping[tuple[int, str], Sequence[_Entry]]:
    found: dict[tuple[int, str], list[_Entry]] = {}
    for route in routes:
        parts = route.path.split("/")
        # The last word tells most routes apart.
        fixed = [(place, part) for place, part in enumerate(parts) if part[:1] != "{"][::-1]
        named = [place for place, part in enumerate(parts) if part[:1] == "{"]
        entry = (route, tuple(fixed), tuple(named))
        found.setdefault((len(parts), parts[1]), []).append(entry)
    return found


_TABLE = _sorted(ROUTES)
