"""/v1/watch: every room as it is now, then what changes, as server-sent events.

A reader that was cut off begins anew: whatever Last-Event-ID it sends, all rooms come first, so
that nothing has to be remembered for anybody.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress

from reconciler.adapters.http.ask import EVENTS, Answer, Ask
from reconciler.adapters.http.lists import PIECE, rooms_of
from reconciler.adapters.http.native import workload_asked
from reconciler.adapters.http.refusals import Refused
from reconciler.adapters.http.sight import happening_json, room_json
from reconciler.adapters.http.voices import Voices
from reconciler.model.errors import PortError
from reconciler.model.refs import Json, WorkloadKey
from reconciler.room_ports import Change, RoomView

HEARTBEAT_SECONDS = 15.0
WATCHES = 256
_HEADERS = {"Cache-Control": "no-store"}
_HEARTBEAT = b": still here\n\n"


class Watching:
    """Who watches now."""

    def __init__(self, voices: Voices, now: Callable[[], float]) -> None:
        self._voices = voices
        self._now = now
        self._watching = 0

    async def watch(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Follow rooms until this process leads no more, or the reader is too slow."""
        workload = workload_asked(ask)
        await self._voices.person(ask, "read", workload)
        if self._watching >= WATCHES:
            raise Refused(503, "too many watch already", retry_after_seconds=HEARTBEAT_SECONDS)
        # Raises Unavailable here, where it can still be answered.
        events = self._events(workload, self._voices.desk.changes(workload))
        return Answer(200, content_type=EVENTS, headers=_HEADERS, stream=events, endless=True)

    async def _events(
        self, workload: WorkloadKey | None, changes: AsyncIterator[Change]
    ) -> AsyncGenerator[bytes, None]:
        self._watching += 1
        upcoming = asyncio.ensure_future(anext(changes))
        number = 0
        try:
            # Followed first, listed then: what changes in between is told twice, never missed.
            await asyncio.sleep(0)
            listed = 0
            for listed, room in enumerate(rooms_of(self._voices.desk, workload), 1):
                number += 1
                yield _event(number, "room", self._shown(room))
                if listed % PIECE == 0:
                    await asyncio.sleep(0)
            number += 1
            yield _event(number, "listed", {"rooms": listed})
            while True:
                done, _ = await asyncio.wait([upcoming], timeout=HEARTBEAT_SECONDS)
                if not done:
                    yield _HEARTBEAT
                    continue
                number += 1
                yield self._told(number, upcoming.result())
                upcoming = asyncio.ensure_future(anext(changes))
        except (StopAsyncIteration, PortError):
            yield b": over, ask again\n\n"
        finally:
            self._watching -= 1
            await _ended(upcoming, changes)

    def _told(self, number: int, change: Change) -> bytes:
        pod = change.room.pod
        if change.type == "gone":
            gone = {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
            return _event(number, "gone", gone)
        if change.type == "event" and change.happening is not None:
            where = {"namespace": pod.namespace, "room": pod.name, "uid": pod.uid}
            return _event(number, "event", where | happening_json(change.happening))
        return _event(number, "room", self._shown(change.room))

    def _shown(self, room: RoomView) -> Json:
        return room_json(room, self._voices.desk, self._now())


async def _ended(upcoming: "asyncio.Future[Change]", changes: AsyncIterator[Change]) -> None:
    """Leave nothing behind that waits for a change."""
    upcoming.cancel()
    with suppress(asyncio.CancelledError, StopAsyncIteration, PortError):
        await upcoming
    close = getattr(changes, "aclose", None)
    if close is not None:
        await close()


def _event(number: int, name: str, shown: Json) -> bytes:
    # JSON has no line break in it, so that one `data:` line holds it.
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(shown)}\n\n".encode()
