"""Which bytes a request begins with, and so when it was sent, whoever waits for no answer."""

import asyncio
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.adapters.http import pulse
from reconciler.adapters.http.arrivals import MOST, Arrivals
from reconciler.adapters.http.connections import Connection, Ledger
from reconciler.room_ports import Came
from tests.unit.adapters_http.listening import READY, Listener, listening, request
from tests.unit.adapters_http.office import Office
from tests.unit.adapters_http.test_pulse import Held

PING = request()
HALF = len(PING) // 2
BODY_BYTES = len(READY)


class Socket(asyncio.Transport):
    """A socket that may be read, or not."""

    reads = True

    def is_reading(self) -> bool:
        return self.reads


class Open(Connection):
    """A connection without a socket: its ledger is told what it would be told."""

    def __init__(self) -> None:
        self.peer, self.held, self.head_bytes, self.answering = "", None, 0, False
        self.arrivals, self.transport = Arrivals(), Socket()


class Pipeline:
    """One connection whose client waits for no answer; its clock is set by hand."""

    def __init__(self) -> None:
        self.at = 0.0
        self.ledger, self.connection = Ledger(10, 10, lambda: self.at), Open()
        self.ledger.came(self.connection)

    def read(self, at: float, data: bytes) -> None:
        while self.at < at:  # nobody stands still
            self.at = min(at, self.at + pulse.BEAT_SECONDS)
            self.ledger.pulse.beat(self.at)
        self.ledger.read(self.connection, data)

    def serve(self, body_bytes: int = BODY_BYTES) -> Came:
        """Serve a request that was read whole."""
        self.ledger.serve(self.connection)
        self.ledger.whole(self.connection, body_bytes, in_chunks=False)
        return self.connection.came

    def done(self) -> None:
        self.ledger.done(self.connection)


def test_a_request_is_no_younger_than_its_first_half_which_came_before_another_was_answered() -> (
    None
):
    it = Pipeline()
    it.read(0.0, PING + PING[:HALF])
    it.serve()
    it.done()
    it.read(9.0, PING[HALF:])
    assert it.serve().sent == 0.0


def test_a_request_of_which_a_single_byte_came_before_is_no_younger_than_that() -> None:
    it = Pipeline()
    it.read(0.0, PING)
    it.serve()
    it.read(1.0, PING[:1])
    it.done()
    it.read(9.0, PING[1:])
    assert it.serve().sent == 1.0


def test_who_waits_for_each_answer_is_heard_when_it_speaks() -> None:
    it = Pipeline()
    for at in (0.0, 9.0, 18.0):
        it.read(at, PING)
        assert it.serve().sent == at
        it.done()


def test_who_sends_head_and_body_apart_is_heard_when_its_head_came() -> None:
    it = Pipeline()
    end = PING.index(b"\r\n\r\n") + 4
    for at in (0.0, 9.0):
        it.read(at, PING[: end - 1])
        it.read(at + 1, PING[end - 1 : end])
        it.read(at + 2, PING[end:])
        assert it.serve().sent == at
        it.done()


def test_a_third_request_is_no_younger_than_its_first_bytes_which_came_behind_the_second() -> None:
    it = Pipeline()
    it.read(0.0, PING)
    it.serve()
    it.read(1.0, PING + PING[:HALF])
    it.done()
    assert it.serve().sent == 1.0
    it.done()
    it.read(10.0, PING[HALF:])
    assert it.serve().sent == 1.0


def test_a_request_that_came_with_others_makes_those_behind_it_no_older() -> None:
    it = Pipeline()
    it.read(0.0, 2 * PING)
    it.serve()
    it.read(9.0, PING)
    it.done()
    assert it.serve().sent == 0.0
    it.done()
    assert it.serve().sent == 9.0


def test_what_waits_while_a_connection_is_not_read_was_sent_since_then() -> None:
    it = Pipeline()
    it.read(0.0, PING)
    it.serve()
    socket = it.connection.transport
    assert isinstance(socket, Socket)
    socket.reads = False
    it.ledger.look(it.connection)
    it.read(9.0, PING + b"x" * 2**18)  # not all that waits is read at once
    it.done()
    assert it.serve().sent == 0.0
    assert it.connection.held == Came(0.0, 0.0), "and more may wait"
    it.read(9.1, b"the last of it")
    assert it.connection.held is None


def test_more_ahead_than_is_told_apart_is_dated_roughly_and_never_later() -> None:
    it = Arrivals()
    for at in range(10 * MOST):
        it.read(PING, Came(at, at))
    for at in range(10 * MOST):
        assert it.came.sent <= min(at, MOST)
        it.end(BODY_BYTES, in_chunks=False)


class Sent(NamedTuple):
    """A request: its bytes, how long its body is, and whether that is sent in chunks."""

    data: bytes
    body_bytes: int
    in_chunks: bool

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it looks like the end of another head."""
        return not (self.in_chunks and self.data.count(b"\n\r\n") + self.data.count(b"\n\n") > 2)


@st.composite
def _sent(draw: st.DrawFn) -> Sent:
    head = draw(st.sampled_from((b"GET / HTTP/1.1", b"PUT /ping HTTP/1.1\r\nX:", b"P / H\r\na: b")))
    body = draw(st.text("ab\r\n", max_size=12)).encode()
    if not draw(st.booleans()):
        return Sent(head + b"\r\n\r\n" + body, len(body), False)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    last = draw(st.sampled_from((b"0\r\n\r\n", b"0\r\nSum: 1\r\n\r\n")))
    return Sent(head + b"\r\n\r\n" + chunks + last, len(body), True)


@given(
    st.lists(st.tuples(st.sampled_from((b"", b"", b"\r\n", b"\r\n\r\n")), _sent()), max_size=9),
    st.data(),
)
def test_no_request_is_dated_later_than_its_first_byte_however_its_bytes_come(
    requests: list[tuple[bytes, Sent]], data: st.DataObject
) -> None:
    stream = b"".join(gap + each.data for gap, each in requests)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(stream) - 1)), max_size=12)))
    cuts = [cut for cut in cuts if cut < len(stream)] + [len(stream)]
    it, read, moments, at = Arrivals(), 0, list[int](), 0
    exact = True
    for gap, each in requests:
        begins, at = at + len(gap), at + len(gap) + len(each.data)
        while read < at or (read < len(stream) and data.draw(st.booleans())):
            cut = cuts[len(moments)]
            it.read(stream[read:cut], Came(len(moments), len(moments)))
            moments.append(cut)
            read = cut
        came = next(number for number, cut in enumerate(moments) if cut > begins)
        exact = exact and not gap
        assert it.came.sent == came if exact else it.came.sent <= came
        exact = exact and each.is_plain
        it.end(each.body_bytes, each.in_chunks)


@pytest.mark.parametrize("ahead", [0, 3, 300])
async def test_half_a_request_behind_others_is_dated_by_that_half(ahead: int) -> None:
    async with listening(Office(Held)) as listener:
        desk = listener.office.desk
        assert isinstance(desk, Held)
        line, other = await listener.connect(), await listener.connect()
        await line.send(PING + ahead * PING + PING[:HALF])
        await desk.asked.wait()
        assert await other.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") == 200
        sent = asyncio.get_running_loop().time()
        await asyncio.sleep(4 * pulse.BEAT_SECONDS)
        desk.may.set()
        for _ in range(1 + ahead):
            assert (await line.answer())[0] == 200
        assert await line.ask(PING[HALF:]) == 200
    assert [came for came in desk.came if came.sent > sent] == []


async def test_a_body_in_chunks_makes_the_next_request_no_older(listener: Listener) -> None:
    line = await listener.connect()
    head = PING.partition(b"\r\n\r\n")[0].replace(
        b"Content-Length: 18", b"Transfer-Encoding: chunked"
    )
    data = head + b'\r\n\r\n12\r\n{"status":"ready"}\r\n0\r\n\r\n'
    for _ in range(3):
        before = asyncio.get_running_loop().time()
        await asyncio.sleep(pulse.BEAT_SECONDS)
        assert await line.ask(data) == 200
    assert listener.office.desk.came[-1].sent > before
