"""Lists of rooms, written piece by piece: ten thousand rooms must not hold up the loop."""

import asyncio
import html
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from dataclasses import dataclass

from reconciler.adapters.http.ask import HTML, Answer, Ask
from reconciler.adapters.http.refusals import Refused
from reconciler.adapters.http.sight import is_running, server_json
from reconciler.adapters.http.voices import Voices
from reconciler.model.refs import Json, WorkloadKey
from reconciler.room_ports import Desk, RoomView

PIECE = 50
"""Rooms between two pauses: about a millisecond."""
LISTS_AT_ONCE = 8
COLUMNS = (
    *("name", "node", "address", "players", "ports", "fleet", "marked for deletion", "pod"),
    *("health", "state"),
)

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Rooms</title><style>
body{font:14px/1.5 sans-serif;margin:2em}table{border-collapse:collapse}
th,td{padding:.2em .8em;text-align:left;border-bottom:1px solid #ccc}
</style></head><body><h1>Rooms</h1>
<table><thead><tr>%s</tr></thead><tbody>
"""
_END = "</tbody></table><p>Healthy, running and not about to leave.</p></body></html>\n"


@dataclass(slots=True)
class _Turns:
    """How many lists are being written to one kind of readers."""

    taken: int = 0


class Lists:
    """What is written of many rooms; at most a few at once, since each is work.

    Who shows nothing has turns of their own: strangers who read slowly keep nobody who is known
    from a list.
    """

    def __init__(self, voices: Voices) -> None:
        self._voices = voices
        self._open, self._known = _Turns(), _Turns()

    async def running(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """List the servers that run and stay, full ones too, as the collections do."""
        turns = await self._turns(ask)
        pieces = self._pieces(turns, None, is_running, _json_of(server_json), ",")
        return Answer(200, stream=_written(turns, "[", pieces, "]"))

    async def page(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Show the same list to people."""
        turns = await self._turns(ask)
        head = _PAGE % "".join(f"<th>{name}</th>" for name in COLUMNS)
        rows = self._pieces(turns, None, is_running, _row, "")
        return Answer(200, content_type=HTML, stream=_written(turns, head, rows, _END))

    async def _turns(self, ask: Ask) -> _Turns:
        """Let somebody in who reads what is open; return whose turn it takes."""
        return self._known if await self._voices.reader(ask) else self._open

    def answer(
        self,
        workload: WorkloadKey | None,
        wanted: Callable[[RoomView], bool],
        shown: Callable[[RoomView], Json],
        around: tuple[str, str] = ("[", "]"),
    ) -> Answer:
        """Return a JSON list of the rooms that are wanted, for somebody who was let in.

        Raises Refused (503) when too busy.
        """
        pieces = self._pieces(self._known, workload, wanted, _json_of(shown), ",")
        return Answer(200, stream=_written(self._known, around[0], pieces, around[1]))

    def _pieces(
        self,
        turns: _Turns,
        workload: WorkloadKey | None,
        wanted: Callable[[RoomView], bool],
        text: Callable[[RoomView], str],
        between: str,
    ) -> Iterator[str]:
        """Write rooms fifty at a time; "" is a pause without any to show."""
        if turns.taken >= LISTS_AT_ONCE:
            raise Refused(503, "too many lists are being written", retry_after_seconds=1.0)
        return _pieces(rooms_of(self._voices.desk, workload), wanted, text, between)


async def _written(
    turns: _Turns, head: str, pieces: Iterator[str], end: str
) -> AsyncGenerator[bytes, None]:
    turns.taken += 1
    try:
        yield head.encode()
        for piece in pieces:
            await asyncio.sleep(0)
            if piece:
                yield piece.encode()
        yield end.encode()
    finally:
        turns.taken -= 1


def _json_of(shown: Callable[[RoomView], Json]) -> Callable[[RoomView], str]:
    return lambda room: json.dumps(shown(room))


def rooms_of(desk: Desk, workload: WorkloadKey | None) -> Iterator[RoomView]:
    """Go through the rooms of one workload, or workload by workload; each is judged when its
    turn comes, so who takes them may pause.
    """
    keys = [workload] if workload else sorted(desk.workloads())
    for key in keys:
        yield from desk.rooms(key)


def _pieces(
    rooms: Iterable[RoomView],
    wanted: Callable[[RoomView], bool],
    text: Callable[[RoomView], str],
    between: str,
) -> Iterator[str]:
    piece: list[str] = []
    begun = False
    for number, room in enumerate(rooms, 1):
        if wanted(room):
            piece.append(text(room))
        if number % PIECE == 0:
            yield (between if begun and piece else "") + between.join(piece)
            begun, piece = begun or bool(piece), []
    yield (between if begun and piece else "") + between.join(piece)


def _row(room: RoomView) -> str:
    status = server_json(room)["status"]
    ports = ", ".join(f"{port.port}/{port.protocol}" for port in room.pod.host_ports)
    cells = (
        room.pod.name,
        room.pod.node,
        room.address,
        str(status["activePlayers"]),
        ports,
        room.key.name,
        "yes" if status["markedForDeletion"] else "no",
        status["podPhase"],
        status["health"],
        status["dgsState"],
    )
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>\n"
