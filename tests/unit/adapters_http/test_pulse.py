"""When what is read was sent: a process that was stopped reads late what came meanwhile."""

import asyncio
import socket
import time
from dataclasses import dataclass, field

import pytest

from reconciler.adapters.http import pulse
from reconciler.adapters.http.pulse import Pulse
from reconciler.model.rooms import Report
from reconciler.room_ports import AT_ONCE, Came, RoomView
from tests.unit.adapters_http.listening import Listener, listening, request
from tests.unit.adapters_http.office import Desk, Office


class Timed:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.at = 100.0
        self.pulse = Pulse(lambda: self.at)

    def read(self, at: float) -> Came:
        self.at = at
        return self.pulse.came()

    def beat(self, at: float) -> None:
        self.at = at
        self.pulse.beat(at)


def test_what_is_read_while_we_look_all_the_time_was_sent_then() -> None:
    it = Timed()
    for at in (100.0, 100.1, 100.2, 100.4):
        assert it.read(at) == Came(at, at)
        it.beat(at)


def test_what_is_read_after_a_pause_may_have_been_sent_since_it_began() -> None:
    it = Timed()
    it.beat(100.1)
    assert it.read(105.0) == Came(105.0, 100.1)
    assert it.read(105.2) == Came(105.0, 100.1), "nobody knows which of the two was sent first"


def test_who_waited_to_be_let_in_through_the_pause_is_read_a_moment_after_it() -> None:
    it = Timed()
    for at in (100.1, 105.0, 105.2, 105.4):
        it.beat(at)
    assert it.read(105.5) == Came(105.5, 100.1)
    for at in (105.6, 105.8, 106.0):
        it.beat(at)
    assert it.read(106.1) == Came(106.1, 106.1)


def test_a_second_pause_begins_where_the_first_has_ended() -> None:
    it = Timed()
    it.beat(100.1)
    it.beat(105.0)
    assert it.read(109.0) == Came(109.0, 105.0)


def stop(seconds: float) -> None:
    """Let nothing of this process run."""
    time.sleep(seconds)


async def stand_still(listener: Listener, raw: socket.socket) -> float:
    """Send a request that waits until this process goes on; return when it was sent."""
    await asyncio.sleep(4 * pulse.BEAT_SECONDS)
    sent = time.monotonic()
    raw.sendall(request())
    stop(2 * pulse.UNSEEN_SECONDS)
    await answered(raw)
    return sent


async def answered(raw: socket.socket) -> None:
    """Wait until a request was answered."""
    raw.setblocking(False)
    answer = await asyncio.get_running_loop().sock_recv(raw, 4096)
    raw.setblocking(True)
    assert answer.startswith(b"HTTP/1.1 200")


async def test_what_waited_in_a_socket_while_the_process_stood_still_was_sent_before(
    listener: Listener,
) -> None:
    with socket.create_connection((listener.host, listener.port)) as raw:
        raw.sendall(request())
        await answered(raw)
        sent = await stand_still(listener, raw)
    came = listener.office.desk.came[-1]
    assert came.sent <= sent
    assert came.begun >= sent + 2 * pulse.UNSEEN_SECONDS


async def test_a_connection_that_waited_to_be_let_in_was_sent_to_before_it_was(
    listener: Listener,
) -> None:
    with socket.create_connection((listener.host, listener.port)) as raw:
        sent = await stand_still(listener, raw)
    assert listener.office.desk.came[-1].sent <= sent


async def test_a_connection_that_was_open_for_a_while_speaks_when_it_speaks(
    listener: Listener,
) -> None:
    """An older one must not put its report before that of another connection."""
    early, other = await listener.connect(), await listener.connect()
    assert await other.ask(request()) == 200
    assert await early.ask(request()) == 200
    first, second = listener.office.desk.came
    assert first.begun < second.begun
    assert second.sent < first.begun, "nobody knows how long it waited to be let in"


async def test_who_had_an_answer_sends_the_next_request_after_it_though_we_stood_still(
    listener: Listener,
) -> None:
    with socket.create_connection((listener.host, listener.port)) as raw:
        raw.sendall(request())
        stop(2 * pulse.UNSEEN_SECONDS)
        await answered(raw)
        raw.sendall(request())
        await answered(raw)
    first, second = listener.office.desk.came
    assert first.begun < second.begun


@dataclass
class Held(Desk):
    """A desk that answers once it may."""

    may: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def report(self, room: RoomView, report: Report, came: Came = AT_ONCE) -> RoomView:
        self.asked.set()
        await self.may.wait()
        return await super().report(room, report, came)


@pytest.mark.parametrize("together", [True, False])
async def test_a_request_behind_another_came_while_that_was_answered(together: bool) -> None:
    async with listening(Office(Held)) as listener:
        desk = listener.office.desk
        assert isinstance(desk, Held)
        line = await listener.connect()
        await line.send(request() * 2 if together else request())
        await desk.asked.wait()
        if not together:
            other = await listener.connect()
            await line.send(request()[:20])
            assert await other.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") == 200
        came = time.monotonic()
        desk.may.set()
        assert (await line.answer())[0] == 200
        if not together:
            await line.send(request()[20:])
        assert (await line.answer())[0] == 200
    first, second = desk.came
    assert first.begun <= second.begun < came
