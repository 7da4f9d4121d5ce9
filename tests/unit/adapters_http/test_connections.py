"""How long a connection is kept and for whom: caps, deadlines, and the end of a term."""

import asyncio
import gc

import pytest

from reconciler.adapters.http import connections
from reconciler.adapters.http.arrivals import Arrivals
from reconciler.adapters.http.connections import Connection, Ledger
from reconciler.adapters.http.server import Caps
from reconciler.model.errors import Unavailable
from tests.unit.adapters_http.listening import (
    Listener,
    hasty,
    listening,
    request,
)
from tests.unit.adapters_http.office import Office


def test_a_head_has_five_seconds_and_a_request_ten() -> None:
    assert (connections.HEAD_SECONDS, connections.REQUEST_SECONDS) == (5.0, 10.0)


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


def test_who_goes_before_its_request_is_begun_takes_no_place() -> None:
    ledger = Ledger(10, 10, lambda: 0.0)
    gone = Connection.__new__(Connection)
    gone.transport = None  # it went right behind its request: nobody has looked at that yet
    ledger.serve(gone)
    ledger.done(gone)
    assert not ledger.idle()
    assert not ledger.late()


def test_the_clock_of_a_head_runs_from_its_first_byte_and_not_from_when_its_sender_came() -> None:
    clock = [0.0]
    ledger = Ledger(10, 10, lambda: clock[0])
    line = Connection.__new__(Connection)
    line.transport, line.peer, line.head_bytes, line.held = None, "192.0.2.1", 0, None
    line.arrivals = Arrivals()
    ledger.came(line)
    clock[0] = connections.HEAD_SECONDS - 0.1
    ledger.read(line, b"PUT /sch")
    clock[0] += connections.HEAD_SECONDS
    assert not ledger.late(), "who was let in and had nothing to say yet was told that it is slow"
    ledger.read(line, b"eduler")
    clock[0] += 0.1
    assert [each for each, _ in ledger.late()] == [line]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(request(), id="a ping"),
        pytest.param(request().replace(b"HTTP/1.1", b"HTTP/1.0"), id="an old client"),
        pytest.param(b"GET /running HTTP/1.1\r\nHost: a\r\n\r\n", id="a list"),
        pytest.param(b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", id="what is not there"),
        pytest.param(b"no HTTP at all\r\n\r\n", id="no HTTP"),
    ],
)
async def test_no_answer_tells_the_versions_of_what_answers(
    listener: Listener, data: bytes
) -> None:
    line = await listener.connect()
    await line.send(data)
    head = await line.reader.readuntil(b"\r\n\r\n")
    assert b"Python" not in head
    assert b"aiohttp" not in head
