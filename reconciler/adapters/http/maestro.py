"""Maestro's paths: its bodies and answers, without its defects.

A game sends proto3 JSON through grpc-gateway: names in camelCase or as in the proto, whole numbers
as numbers or text, null for nothing, and what is not known is not looked at.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from reconciler.adapters.http.ask import Answer, Ask
from reconciler.adapters.http.refusals import malformed
from reconciler.adapters.http.sight import state_headers, texted
from reconciler.adapters.http.strict_json import first_object
from reconciler.adapters.http.voices import Voices
from reconciler.model.errors import NotFound
from reconciler.model.refs import Json
from reconciler.model.rooms import Report, Said
from reconciler.room_ports import Happening

PLAYER_EVENTS = ("playerJoin", "playerLeft")
_SAID = {said.value: said for said in Said}
_SUCCESS = b'{"success":true}'
_PASSED_ON = b'{"success":true,"message":""}'
_WHOLE = re.compile(r"(-?[0-9]{1,10})(?:\.0{1,10})?")
_MOST = 2**31 - 1


class Maestro:
    """What a game written for Maestro says and asks."""

    def __init__(self, voices: Voices, now: Callable[[], float]) -> None:
        self._voices = voices
        self._now = now

    async def ping(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Take in what a room says of itself; our time counts, not its timestamp."""
        room = await self._voices.of_workload(ask, *names)
        fields = _fields(ask)
        said, matches = _status_of(fields), _whole_of(fields, "runningMatches", "running_matches")
        matches = max(0, matches)
        if said is Said.OCCUPIED:
            matches = max(1, matches)
        if said is Said.TERMINATED and matches:
            # One of the two is wrong, and a room that is over is removed.
            raise malformed(f"who has terminated runs no match, and runningMatches is {matches}")
        told: int | None = matches
        if said is Said.TERMINATING and not matches:
            # In proto3 a 0 is what was left out, and a game of one match never names a number: it
            # may say during its match that it ends after it.
            told = None
        room = await self._voices.desk.report(room, _report(said, told), ask.came)
        return Answer(200, _SUCCESS, headers=state_headers(room))

    async def status(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Pass on a status of the old API; it frees no room, as there.

        Its clients say so when players come, and ping up to half a minute later: until then
        `occupied` protects here.
        """
        room = await self._voices.of_workload(ask, *names)
        fields = _fields(ask)
        said = _status_of(fields)
        metadata = {"status": said.value, **_metadata_of(fields)}
        if said is Said.OCCUPIED:
            known = room.heard.matches if room.heard else 0
            matches = _whole_of(fields, "runningMatches", "running_matches") or known
            room = await self._voices.desk.report(room, _report(said, max(1, matches)), ask.came)
        self._voices.desk.happened(room, Happening("room", "status", metadata, self._now()))
        return Answer(200, _SUCCESS, headers=state_headers(room))

    async def room_event(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Pass on what happened in a room."""
        room = await self._voices.of_workload(ask, *names)
        fields = _fields(ask)
        happening = Happening("room", _event_of(fields), _metadata_of(fields), self._now())
        self._voices.desk.happened(room, happening)
        return Answer(200, _PASSED_ON, headers=state_headers(room))

    async def player_event(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Pass on that a player came or went."""
        room = await self._voices.of_workload(ask, *names)
        fields = _fields(ask)
        event = _event_of(fields)
        if event not in PLAYER_EVENTS:
            raise malformed(f"event is {event!r}: write one of {', '.join(PLAYER_EVENTS)}")
        happening = Happening("player", event, _metadata_of(fields), self._now())
        self._voices.desk.happened(room, happening)
        return Answer(200, _PASSED_ON, headers=state_headers(room))

    async def address(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Tell the public address of a room that has a node."""
        room = await self._voices.of_workload(ask, *names)
        if not room.address:
            raise NotFound(f"room {room.pod.name} has no address yet: it is on no node")
        ports = [
            {"name": port.name, "protocol": port.protocol, "port": port.port}
            for port in room.pod.host_ports
        ]
        body = {"host": room.address, "ports": ports, "ipv6Label": ""}
        return Answer(200, json.dumps(body).encode(), headers=state_headers(room))


@lru_cache(maxsize=1024)
def _report(said: Said, matches: int | None) -> Report:
    # Most pings say what others said: one value serves them all.
    return Report(periodic=True, said=said, matches=matches)


def _fields(ask: Ask) -> Json:
    return first_object(ask.body) if ask.body else {}


def _status_of(fields: Json) -> Said:
    status = fields.get("status")
    said = _SAID.get(status) if isinstance(status, str) else None
    if said is None:
        raise malformed(f"status is {_shown(status)}: write one of {', '.join(_SAID)}")
    return said


def _event_of(fields: Json) -> str:
    event = fields.get("event")
    if event is None:
        return ""
    if not isinstance(event, str):
        raise malformed("event is no text")
    return event


def _whole_of(fields: Json, name: str, in_proto: str) -> int:
    if name in fields and in_proto in fields:
        raise malformed(f"{name} is there twice")
    value = fields.get(name, fields.get(in_proto))
    if value is None:
        return 0
    if isinstance(value, str) and (whole := _WHOLE.fullmatch(value)):
        value = int(whole[1])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MOST:
        raise malformed(f"{name} is {_shown(value)}: write a whole number")
    return value


def _metadata_of(fields: Json) -> dict[str, str]:
    metadata = fields.get("metadata")
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise malformed("metadata is no object")
    return {key: texted(value) for key, value in metadata.items()}


def _shown(value: Any) -> str:
    return json.dumps(value)[:40]
