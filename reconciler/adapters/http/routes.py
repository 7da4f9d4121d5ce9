"""The table of all paths: what is served, by whom, and how it is described.

The router and the OpenAPI document are both made from it, so that neither can say something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.adapters.http.ask import EVENTS, HTML, JSON, TEXT, decoded
from reconciler.adapters.http.refusals import Refused, Way


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path. `path` names its parameters in braces.

    `answer` names the schema of what is said when all is well, `body` that of what is sent, ""
    where there is none that is JSON. `always` is whether a process that does not lead answers it
    too; `reports` whether a room says something by it.
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
    status: int = 200
    always: bool = False
    reports: bool = False


_ROOM = "/scheduler/{scheduler}/rooms/{room}"
_V1_ROOM = "/v1/rooms/{namespace}/{name}"
_WORKLOAD = ("workload",)


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
        query=("code",),
        content_type=TEXT,
        reports=True,
    )


def _page(
    method: str, path: str, operation: str, summary: str, content_type: str, status: int = 200
) -> Route:
    answer = "Servers" if content_type == JSON else ""
    always = path in ("/create", "/delete", "/healthz")
    return Route(
        method,
        path,
        operation,
        "collections",
        summary,
        answer=answer,
        content_type=content_type,
        status=status,
        always=always,
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
    _page("POST", "/create", "create", "refused: Git is the way", TEXT, 403),
    _page("GET", "/delete", "delete", "refused: Git is the way", TEXT, 403),
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


Known = tuple[Route, tuple[tuple[int, str], ...], tuple[int, ...]]
"""A route, which segments of its path must be what, and where its parameters stand."""


@dataclass(frozen=True, slots=True)
class Router:
    """Finds the route of a request."""

    _known: Mapping[tuple[int, str], Sequence[Known]] = field(
        default_factory=lambda: _sorted(ROUTES)
    )

    def find(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the route and the values of its parameters. Raises Refused (404, 405)."""
        parts = path.split("/")
        others = []
        for route, fixed, named in self._known.get((len(parts), parts[min(1, len(parts) - 1)]), ()):
            for place, text in fixed:
                if parts[place] != text:
                    break
            else:
                values = tuple([decoded(parts[place]) for place in named])
                if not all(values):
                    continue
                if route.method == method:
                    return route, values
                others.append(route.method)
        if others:
            no = Refused(405, f"this path takes {' or '.join(sorted(set(others)))}")
            no.allow = ", ".join(sorted(set(others)))
            raise no
        raise Refused(404, "there is no such path", "GET /v1/openapi.json lists all paths")


def way_of(path: str) -> Way:
    """Return whose paths a path that is not served looks like: how to word the refusal."""
    if path.startswith("/scheduler/"):
        return "maestro"
    return "v1" if path.startswith("/v1/") else "collections"


def _sorted(routes: Sequence[Route]) -> Mapping[tuple[int, str], Sequence[Known]]:
    found: dict[tuple[int, str], list[Known]] = {}
    for route in routes:
        parts = route.path.split("/")
        # The last word tells most routes apart.
        fixed = [(place, part) for place, part in enumerate(parts) if part[:1] != "{"][::-1]
        named = [place for place, part in enumerate(parts) if part[:1] == "{"]
        known = (route, tuple(fixed), tuple(named))
        found.setdefault((len(parts), parts[1]), []).append(known)
    return found
