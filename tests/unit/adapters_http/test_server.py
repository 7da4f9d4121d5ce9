"""The listener over real sockets: what one may send, how slowly, and from how many connections."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reconciler.adapters.http import connections, server
from reconciler.adapters.http.connections import Connection, Ledger
from reconciler.adapters.http.server import Caps, serving_rooms
from reconciler.model.errors import Misconfigured, Unavailable
from reconciler.room_ports import RoomView
from tests.unit.adapters_http.office import ADMIN, TOKEN, Desk, Office

PING = "PUT /scheduler/arena/rooms/arena-7/ping HTTP/1.1"
READY = '{"status":"ready"}'
CAPS = Caps()


def request(line: str = PING, body: str = READY, **headers: str) -> bytes:
    named = {"Host": "rooms", "Authorization": f"Bearer {TOKEN}"} | headers
    named |= {"Content-Length": str(len(body))} if "Content_Length" not in headers else {}
    lines = [line, *(f"{name.replace('_', '-')}: {text}" for name, text in named.items())]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *rest = head.strip().split("\r\n")
        headers = {name.lower(): text for name, text in (one.split(": ", 1) for one in rest)}
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(first.split(" ")[1]), headers, body

    async def ask(self, data: bytes) -> int:
        await self.send(data)
        return (await self.answer())[0]

    async def is_over(self) -> bool:
        """Wait until the other end has hung up."""
        try:
            while await self.reader.read(65_536):
                pass
        except ConnectionError:
            return True
        return True


class Listener:
    def __init__(self, office: Office, host: str, port: int) -> None:
        self.office, self.host, self.port = office, host, port
        self._lines: list[Line] = []

    async def connect(self) -> Line:
        line = Line(*await asyncio.open_connection(self.host, self.port))
        self._lines.append(line)
        return line

    def close(self) -> None:
        for line in self._lines:
            line.writer.close()


@asynccontextmanager
async def listening(office: Office, caps: Caps = CAPS) -> AsyncIterator[Listener]:
    async with asyncio.timeout(30), serving_rooms(office.api, "127.0.0.1", 0, caps) as address:
        listener = Listener(office, *address)
        try:
            yield listener
        finally:
            listener.close()


@pytest.fixture
async def listener(office: Office) -> AsyncIterator[Listener]:
    async with listening(office) as made:
        yield made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Make the sweep come often, and the deadline that the test names pass at once."""
    monkeypatch.setattr(server, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(connections, request.param, 0.0)


def hasty(deadline: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("impatient", [deadline], indirect=True)


async def test_one_connection_carries_many_pings(listener: Listener) -> None:
    line = await listener.connect()
    for _ in range(3):
        await line.send(request())
        status, headers, body = await line.answer()
        assert (status, body) == (200, b'{"success":true}')
        assert headers["x-gamekeeper-state"] == "ready"
        assert headers["content-type"] == "application/json"

    assert len(listener.office.desk.reports) == 3


async def test_requests_sent_one_behind_the_other_are_all_answered(listener: Listener) -> None:
    line = await listener.connect()
    await line.send(request() * 5)

    assert [(await line.answer())[0] for _ in range(5)] == [200] * 5


async def test_a_body_that_comes_late_was_begun_with_its_head(listener: Listener) -> None:
    line, now = await listener.connect(), asyncio.get_running_loop().time
    whole = request()
    await line.send(whole[:-3])
    other = await listener.connect()
    await other.ask(request())
    before = now()
    await line.ask(whole[-3:])
    assert listener.office.desk.begun[-1] < before


async def test_head_and_body_may_come_in_pieces(listener: Listener) -> None:
    line = await listener.connect()
    for byte in request():
        await line.send(bytes([byte]))

    assert (await line.answer())[0] == 200


async def test_a_client_of_http_1_0_hears_its_answer_and_nothing_before(
    listener: Listener,
) -> None:
    line = await listener.connect()
    old = PING.replace("HTTP/1.1", "HTTP/1.0")
    assert await line.ask(request(old, Expect="100-continue")) == 200


async def test_a_path_may_be_written_as_a_whole_address(listener: Listener) -> None:
    line = await listener.connect()
    for path in ("http://rooms:8090/healthz", "https://rooms/healthz?code=x", "http://rooms"):
        assert await line.ask(request(f"GET {path} HTTP/1.1", "")) == 200
    line = await listener.connect()
    assert await line.ask(request(PING.replace("PUT /", "PUT http://rooms/"))) == 200


async def test_a_client_that_asks_whether_to_go_on_is_told_so(listener: Listener) -> None:
    line = await listener.connect()
    head, _, body = request(Expect="100-continue").partition(b"\r\n\r\n")
    await line.send(head + b"\r\n\r\n")
    assert await line.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    await line.send(body)

    assert (await line.answer())[0] == 200


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (request(body=" " * 16_385), 413),
        (request(body="", Content_Length="99999999999"), 413),
        (request("PUT /" + "a" * 9_000 + " HTTP/1.1"), 400),
        (request(X_Long="a" * 9_000), 400),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\n"
            + b"".join(b"X-%d: a\r\n" % n for n in range(100))
            + b"\r\n",
            400,
        ),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\n"
            + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 4_000) for n in range(5))
            + b"\r\n",
            431,
        ),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
        (
            PING.encode()
            + b"\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
            400,
        ),
        (PING.encode() + b"\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400),
    ],
    ids=[
        "a body that is too large",
        "a body that says it is too large",
        "a path that is too long",
        "a header that is too long",
        "too many headers",
        "headers that are too large together",
        "encrypted bytes",
        "a length that is no number",
        "a length and chunks",
        "a chunk without a length",
    ],
)
async def test_what_is_too_large_or_no_http_is_4xx_and_the_end(
    listener: Listener, data: bytes, status: int
) -> None:
    line = await listener.connect()
    await line.send(data)

    assert (await line.answer())[0] == status
    assert await line.is_over()
    assert listener.office.desk.reports == []


async def test_a_body_in_chunks_beyond_the_limit_is_413(listener: Listener) -> None:
    line = await listener.connect()
    await line.send(PING.encode() + b"\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    await line.send(
        b"4000\r\n" + b" " * 0x4000 + b"\r\n" + b"10\r\n" + b" " * 16 + b"\r\n0\r\n\r\n"
    )

    assert (await line.answer())[0] == 413


async def test_a_packed_body_is_not_unpacked(listener: Listener) -> None:
    line = await listener.connect()
    # What gzip makes of a thousand spaces: small here, large there.
    await line.send(request(body="\x1f\x08", Content_Encoding="gzip"))

    assert (await line.answer())[0] == 400


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("impatient", "sent"),
    [
        ("HEAD_SECONDS", b""),
        ("HEAD_SECONDS", b"PUT /sch"),
        ("REQUEST_SECONDS", request()[:-3]),
    ],
    ids=["nothing", "half a head", "half a body"],
    indirect=["impatient"],
)
async def test_who_sends_too_slowly_is_hung_up_on(listener: Listener, sent: bytes) -> None:
    line = await listener.connect()
    if sent:
        await line.send(sent)

    assert await line.is_over()
    assert listener.office.desk.reports == []


@hasty("IDLE_SECONDS")
@pytest.mark.usefixtures("impatient")
async def test_a_connection_that_is_idle_is_closed(listener: Listener) -> None:
    line = await listener.connect()

    assert await line.ask(request()) == 200
    assert await line.is_over()


class Slow(Desk):
    """A desk whose cluster does not answer in time."""

    async def report(self, room: RoomView, report: object, begun: float = 0.0) -> RoomView:
        await asyncio.sleep(0.1)
        return room


@hasty("REQUEST_SECONDS")
@pytest.mark.usefixtures("impatient")
async def test_an_answer_that_takes_too_long_is_503() -> None:
    async with listening(Office(Slow)) as listener:
        line = await listener.connect()

        assert await line.ask(request()) == 503


async def test_beyond_the_cap_the_one_that_is_idle_for_longest_goes(office: Office) -> None:
    async with listening(office, Caps(connections=3)) as listener:
        lines = [await listener.connect() for _ in range(3)]
        for line in (lines[1], lines[0], lines[2]):
            assert await line.ask(request()) == 200
        newest = await listener.connect()

        assert await newest.ask(request()) == 200
        assert await lines[1].is_over()
        assert await lines[0].ask(request()) == 200
        assert await lines[2].ask(request()) == 200


async def test_where_none_is_idle_it_is_the_new_one_that_goes(office: Office) -> None:
    async with listening(office, Caps(connections=2)) as listener:
        lines = [await listener.connect() for _ in range(2)]
        for line in lines:
            await line.send(request()[:10])
        await asyncio.sleep(0.05)
        newest = await listener.connect()

        assert await newest.is_over()
        for line in lines:
            assert await line.ask(request()[10:]) == 200


async def test_one_address_has_a_cap_of_its_own(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "is_this_machine", lambda peer: False)
    async with listening(office, Caps(of_peer=2)) as listener:
        lines = [await listener.connect() for _ in range(2)]
        for line in lines:
            assert await line.ask(request()) == 200
        newest = await listener.connect()

        assert await newest.ask(request()) == 200
        assert await lines[0].is_over()
        assert await lines[1].ask(request()) == 200


async def test_rooms_on_this_machine_share_one_address_and_have_no_cap(office: Office) -> None:
    async with listening(office, Caps(of_peer=2)) as listener:
        lines = [await listener.connect() for _ in range(5)]

        assert [await line.ask(request()) for line in lines] == [200] * 5
        assert [await line.ask(request()) for line in lines] == [200] * 5


async def test_a_watch_is_written_as_it_comes_and_lives_on(listener: Listener) -> None:
    line = await listener.connect()
    head = f"GET /v1/watch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN}\r\n\r\n"
    await line.send(head.encode())
    text = (await line.reader.readuntil(b"event: listed")).decode()

    assert "text/event-stream" in text
    assert text.count("event: room") == 3
    assert (await line.reader.readuntil(b"0\r\n\r\n")).endswith(b"0\r\n\r\n")


class Lost(Desk):
    """A desk that leads no more in the middle of a list."""

    def rooms(self, workload: object = None) -> list[RoomView]:
        raise Unavailable("another process leads")


async def test_half_a_list_does_not_pass_for_a_whole_one() -> None:
    async with listening(Office(Lost)) as listener:
        line = await listener.connect()
        await line.send(b"GET /running HTTP/1.1\r\nHost: a\r\n\r\n")
        seen = b""
        try:
            while piece := await line.reader.read(4096):
                seen += piece
        except ConnectionError:
            pass

        assert b"0\r\n\r\n" not in seen


async def test_a_list_is_written_over_http_1_0_too(listener: Listener) -> None:
    line = await listener.connect()
    await line.send(b"GET /running HTTP/1.0\r\n\r\n")
    _, _, body = (await line.reader.read()).partition(b"\r\n\r\n")

    assert len(json.loads(body)) == 3


async def test_an_address_that_is_taken_is_told_with_its_setting(listener: Listener) -> None:
    with pytest.raises(Misconfigured, match="--rooms-listen"):
        async with serving_rooms(listener.office.api, listener.host, listener.port):
            pass


@pytest.mark.parametrize(
    ("peername", "peer"),
    [
        (("10.0.0.7", 5), "10.0.0.7"),
        (("::ffff:10.0.0.7", 5, 0, 0), "10.0.0.7"),
        (("fd00::7", 5, 0, 0), "fd00::7"),
        (None, ""),
        ("", ""),
    ],
)
def test_the_other_end_is_named_by_its_address(peername: object, peer: str) -> None:
    class Wire(asyncio.BaseTransport):
        def get_extra_info(self, name: str, default: object = None) -> object:
            return {"peername": peername}.get(name, default)

    assert connections.peer_of(Wire()) == peer


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_an_answer_in_one_piece_says_what_the_general_way_says(
    listener: Listener, version: str
) -> None:
    line = await listener.connect()
    head = f"GET /scheduler/arena/rooms/arena-7/address HTTP/{version}\r\nHost: a\r\n"
    await line.send(f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
    status, headers, body = await line.answer()

    assert status == 200
    assert json.loads(body)["host"] == "203.0.113.7"
    assert headers["content-type"] == "application/json"
    assert headers["x-gamekeeper-state"] == "ready"
    assert headers["date"].endswith("GMT")


async def test_who_asks_to_close_is_closed_on(listener: Listener) -> None:
    line = await listener.connect()

    assert await line.ask(request(Connection="close")) == 200
    assert await line.is_over()


async def test_who_reads_no_answers_does_not_fill_our_memory(listener: Listener) -> None:
    line = await listener.connect()
    ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
    peer = line.writer.get_extra_info("sockname")[1]
    line.writer.write(ask * 2000)  # 40 MB of answers, and none is read
    await asyncio.sleep(0.3)
    transports = [
        handler.transport
        for handler in gc.get_objects()
        if isinstance(handler, connections.Connection) and handler.transport is not None
    ]
    [transport] = [one for one in transports if one.get_extra_info("peername")[1] == peer]

    assert transport.get_write_buffer_size() < 1024 * 1024
    assert (await line.answer())[0] == 200


async def test_who_asks_a_process_that_does_not_lead_is_hung_up_on_after_its_503(
    listener: Listener,
) -> None:
    listener.office.desk.shut = "this process does not lead"
    line = await listener.connect()
    await line.send(request())
    status, headers, _ = await line.answer()

    assert (status, headers["connection"], headers["retry-after"]) == (503, "close", "2")
    assert await line.is_over()


async def test_a_503_of_a_process_that_leads_keeps_the_connection(listener: Listener) -> None:
    listener.office.desk.fails = Unavailable("the cluster is away")
    line = await listener.connect()

    assert await line.ask(request()) == 503
    assert await line.ask(request()) == 503


async def test_a_process_that_leads_no_more_lets_go_of_the_connections_that_it_kept(
    listener: Listener,
) -> None:
    lines = [await listener.connect() for _ in range(3)]
    for line in lines:
        assert await line.ask(request()) == 200
    listener.office.desk.shut = "this process does not lead"

    for line in lines:
        assert await line.is_over()


async def test_a_list_that_ends_with_the_term_ends_its_connection_too(
    listener: Listener,
) -> None:
    line = await listener.connect()
    await line.send(b"GET /running HTTP/1.1\r\nHost: a\r\n\r\n")
    await line.reader.readuntil(b"0\r\n\r\n")
    listener.office.desk.shut = "this process does not lead"

    assert await line.is_over()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/v1/openapi.json", id="a body"),
        pytest.param("/scheduler/arena/rooms/arena-7/address", id="a room's address"),
        pytest.param("/running", id="a list, written piece by piece"),
        pytest.param("/v1/watch", id="a watch, which would not end"),
        pytest.param("/nowhere", id="a path that is not served"),
    ],
)
async def test_head_is_answered_as_get_without_the_body(listener: Listener, path: str) -> None:
    line = await listener.connect()
    token = TOKEN if path.startswith("/scheduler") else ADMIN
    heads = []
    for method in ("HEAD", "HEAD", "GET"):  # a body would stand before the next answer
        await line.send(request(f"{method} {path} HTTP/1.1", "", Authorization=f"Bearer {token}"))
        heads.append((await line.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n"))

    assert heads[0][0] == heads[2][0]
    length = [each for each in heads[2] if each.startswith("Content-Length")]
    assert [each for each in heads[0] if each.startswith("Content-Length")] == length


def test_who_goes_before_its_request_is_begun_takes_no_place() -> None:
    ledger = Ledger(10, 10, lambda: 0.0)
    gone = Connection.__new__(Connection)
    gone.transport = None  # it went right behind its request: nobody has looked at that yet
    ledger.serve(gone)
    ledger.done(gone)
    assert not ledger.idle()
    assert not ledger.late()
