"""The rooms' API: one request in, one answer out, and never a trace of what went wrong inside."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from reconciler.adapters.http.ask import BODY_LIMIT_BYTES, MOST_PARAMETERS, Answer, Ask
from reconciler.adapters.http.collections import Collections
from reconciler.adapters.http.lists import Lists
from reconciler.adapters.http.maestro import Maestro
from reconciler.adapters.http.native import Asked, Native
from reconciler.adapters.http.openapi import document
from reconciler.adapters.http.refusals import Refused, malformed, refused, taken_as, told
from reconciler.adapters.http.routes import Route, check_query, route_of, way_of
from reconciler.adapters.http.voices import Voices
from reconciler.adapters.http.watching import Watching
from reconciler.model.errors import PortError
from reconciler.model.holds import Hold
from reconciler.model.refs import WorkloadKey
from reconciler.room_ports import Desk, Door, Fleets, NotAdmitted, Taken, Unmade, Way

log = logging.getLogger(__name__)

WRITTEN = frozenset({"/delete"})
"""Paths that change something when they are read, as in the original: a HEAD must not."""

Spoken = Callable[[Ask, tuple[str, ...]], Awaitable[Answer]]


def uncounted(_way: Way, _result: Taken) -> None:
    """Count nothing."""


def unasked(_key: WorkloadKey) -> tuple[int, tuple[Hold, ...]]:
    """Ask for nothing, and hold nothing."""
    return 0, ()


class RoomsApi:
    """Answers rooms, matchmakers and people.

    `now` is Unix seconds. `reported` counts what became of each report; `asked` says how many rooms
    a workload is to have, and what is held of it; `fleets` has some made and removed, where there
    is one.
    """

    def __init__(
        self,
        desk: Desk,
        door: Door,
        now: Callable[[], float],
        reported: Callable[[Way, Taken], None] = uncounted,
        asked: Asked = unasked,
        fleets: Fleets | None = None,
    ) -> None:
        self._desk = desk
        self._reported = reported
        voices = Voices(desk, door)
        collections = Collections(voices, fleets)
        self._spoken = _spoken(voices, collections, now, asked)
        self._told_once = {"setActivePlayers": collections.turned_away}
        """What a game may say once only: where nothing is taken in it is noted all the same."""

    async def answer(self, ask: Ask) -> Answer:
        """Answer a request; raises nothing but what ends its task.

        HEAD is answered as GET is: the listener leaves out the body.
        """
        if ask.method == "HEAD" and ask.path not in WRITTEN:
            ask = replace(ask, method="GET")
        route: Route | None = None
        try:
            route, names = route_of(ask.method, ask.path)
            closed = "" if route.always or route.told_by_all else self._desk.closed()
            if closed:
                await self._turn_away(ask, route)
                raise Refused(503, closed)
            self._check(ask, route)
            answer = await self._spoken[route.operation](ask, names)
        except (Refused, NotAdmitted, Unmade, PortError) as error:
            answer = self._no(error, ask, route)
        except Exception as error:
            # One request that cannot be borne must not cost the others their server. Its path
            # names a room; its query may hold a code.
            log.exception("no answer to %s %s", ask.method, ask.path[:200])
            answer = self._no(error, ask, route)
        if route is not None and route.reports:
            self._reported(route.way, taken_as(answer.status))
        if answer.status == 503 and self.closed():
            # A connection stays with its process whatever the rooms' Service selects by now.
            return replace(answer, closes=True)
        return answer

    def closed(self) -> str:
        """Why nothing is answered now, "" when it is."""
        return self._desk.closed()

    def _check(self, ask: Ask, route: Route) -> None:
        """Raises Refused for what is no request to be answered."""
        if ask.method != "GET" and "origin" in ask.headers:
            # No game sends one. Where rooms need no token, any web page could speak for them.
            raise Refused(403, "a page in a browser may not speak for a room")
        if len(ask.body) > BODY_LIMIT_BYTES:
            raise Refused(413, f"the body is larger than {BODY_LIMIT_BYTES} bytes")
        if ask.query.count("&") >= MOST_PARAMETERS:
            raise malformed("the query has too many parameters")
        check_query(route, ask.query)

    async def _turn_away(self, ask: Ask, route: Route) -> None:
        """Note what a game may say no more, that is turned away now."""
        note = self._told_once.get(route.operation)
        if note is not None:
            with suppress(Refused):
                self._check(ask, route)
                await note(ask)

    def _no(self, error: Exception, ask: Ask, route: Route | None) -> Answer:
        no = refused(error)
        if no.status == 503 and isinstance(error, PortError):
            log.debug("%s %s: %s", ask.method, ask.path[:200], error)
        return told(no, route.way if route is not None else way_of(ask.path))


def _spoken(
    voices: Voices, collections: Collections, now: Callable[[], float], asked: Asked
) -> Mapping[str, Spoken]:
    """Return what serves each operation of the table."""
    lists = Lists(voices)
    maestro, watching = Maestro(voices, now), Watching(voices, now)
    native = Native(voices, lists, now, asked)
    openapi = json.dumps(document()).encode()

    async def describe(_ask: Ask, _: tuple[str, ...]) -> Answer:
        return Answer(200, openapi)

    return {
        "ping": maestro.ping,
        "status": maestro.status,
        "roomEvent": maestro.room_event,
        "playerEvent": maestro.player_event,
        "address": maestro.address,
        "setActivePlayers": collections.players,
        "setServerState": collections.state,
        "setServerStateOld": collections.state,
        "setServerHealth": collections.health,
        "markServer": collections.marked_for_deletion,
        "running": lists.running,
        "page": lists.page,
        "alive": collections.alive,
        "create": collections.create,
        "delete": collections.delete,
        "listRooms": native.rooms,
        "getRoom": native.room,
        "report": native.report,
        "tellEvent": native.events,
        "drain": native.drain,
        "undrain": native.undrain,
        "listWorkloads": native.workloads,
        "watch": watching.watch,
        "openApi": describe,
    }
