"""The listener over real sockets: what one may send, and what is answered."""

import asyncio
import json
import time

import pytest

from reconciler.adapters.http import connections
from reconciler.adapters.http.server import serving_rooms
from reconciler.model.errors import Misconfigured, Unavailable
from reconciler.model.rooms import Report, Said
from reconciler.room_ports import RoomView
from tests.unit.adapters_http.listening import (
    PING,
    READY,
    Listener,
    hasty,
    listening,
    request,
)
from tests.unit.adapters_http.office import ADMIN, TOKEN, Desk, Office


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


@pytest.mark.parametrize(
    "body",
    [READY + "\0", READY + READY, READY + 'dy"}', '{"status":"ready","runningMatches":"0.0"}'],
)
async def test_bodies_that_gos_servers_took_are_taken(listener: Listener, body: str) -> None:
    line = await listener.connect()
    assert await line.ask(request(body=body)) == 200
    assert listener.office.desk.reports == [
        ("arena-7", Report(periodic=True, said=Said.READY, matches=0))
    ]
    own = "PUT /v1/rooms/arena/arena-7/report HTTP/1.1"
    refused = await line.ask(request(own, '{"state":"ready"}\0'))
    assert refused == 400, "a new game has no such habits"


async def test_lines_of_a_head_that_end_with_lf_alone_are_no_request(listener: Listener) -> None:
    line = await listener.connect()
    assert await line.ask(request().replace(b"\r\n", b"\n")) == 400
    assert listener.office.desk.reports == []


async def test_a_body_that_comes_late_was_begun_with_its_head(listener: Listener) -> None:
    line, now = await listener.connect(), time.monotonic
    whole = request()
    await line.send(whole[:-3])
    other = await listener.connect()
    await other.ask(request())
    before = now()
    await line.ask(whole[-3:])
    assert listener.office.desk.came[-1].begun < before


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


class Slow(Desk):
    """A desk whose cluster does not answer in time."""

    async def report(self, room: RoomView, report: object, came: object = None) -> RoomView:
        await asyncio.sleep(0.1)
        return room


@hasty("REQUEST_SECONDS")
@pytest.mark.usefixtures("impatient")
async def test_an_answer_that_takes_too_long_is_503() -> None:
    async with listening(Office(Slow)) as listener:
        line = await listener.connect()

        assert await line.ask(request()) == 503


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
