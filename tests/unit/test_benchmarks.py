"""Measurements run apart: one that breaks or hangs is told, and loses nothing but itself."""

import asyncio
import json
import re

import pytest

from benchmarks.__main__ import KNOWN, groups, main
from benchmarks.apart import measure_apart, summary
from benchmarks.rooms_load import FLIPS_A_SECOND, PING_EVERY_SECONDS, Play
from benchmarks.rooms_voices import SAYS_BUSY, Voice, connect, hang_up
from tests.listening import listening


@pytest.mark.long
def test_a_measurement_that_breaks_is_told_from_one_that_misses() -> None:
    ended = measure_apart(["nobody-measures-this"], 60.0)

    assert not ended.passed
    assert ended.word == "**FAILED** (code 2)"


def test_who_asks_for_help_is_told_each_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    assert ended.value.code == 0
    said = re.sub(r"-\n\s+", "-", capsys.readouterr().out)
    assert set(KNOWN) <= set(re.findall(r"[a-z-]+", said))


def test_a_measurement_that_hangs_is_ended_at_its_deadline() -> None:
    ended = measure_apart(["hostile"], 0.05)

    assert ended.word.startswith("**HUNG**")
    assert ended.seconds < 30.0
    assert "| hostile | **HUNG**" in summary([ended])


def test_what_needs_the_same_ten_thousand_rooms_shares_a_process() -> None:
    names = ["room-load", "hostile", "idle", "idle-reporting", "reactions"]

    assert groups(names) == [["hostile"], ["idle", "reactions"], ["room-load", "idle-reporting"]]


def test_a_fleet_in_play_flips_as_often_as_it_is_said_to() -> None:
    play, rooms, seconds = Play(), 10_000, 120
    said = [False] * rooms
    flips = 0
    for number in range(int(seconds * rooms / PING_EVERY_SECONDS)):
        room = number % rooms
        busy = play.says(room, number * PING_EVERY_SECONDS / rooms) == SAYS_BUSY
        # Each stands for longer than a room must be empty: the next ping is 10 s away.
        flips += busy is not said[room]
        said[room] = busy

    # The first matches end after 20 s only.
    assert flips >= 0.95 * FLIPS_A_SECOND * (seconds - 10)
    assert flips <= FLIPS_A_SECOND * seconds


def test_a_voice_says_on_the_path_of_its_room_what_its_clients_would() -> None:
    ping = Voice("arena", "arena-3", "uid-3", "secret").ping(SAYS_BUSY)
    head, _, body = ping.partition(b"\r\n\r\n")

    assert head.startswith(b"PUT /scheduler/arena/rooms/arena-3/ping HTTP/1.1\r\n")
    assert b"Authorization: Bearer secret\r\n" in head
    assert f"Content-Length: {len(body)}".encode() in head
    assert json.loads(body)["status"] == "occupied"
    assert json.loads(body)["runningMatches"] == 1


def test_an_answer_that_comes_in_pieces_ends_one_ping_and_a_refusal_is_told() -> None:
    asyncio.run(_answer_in_pieces())


async def _answer_in_pieces() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(b"first"))
        for piece in (b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 2\r\n\r\n{", b"}"):
            writer.write(piece)
            await asyncio.sleep(0.01)
        await reader.readexactly(len(b"second"))
        writer.write(b"HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone")
        await reader.read()

    late: list[float] = []
    async with listening(serve) as port:
        line = await connect(f"127.0.0.1:{port}", 0, late)
        try:
            await line.say(b"first")
            assert len(late) == 1
            with pytest.raises(RuntimeError, match="410 Gone"):
                await line.say(b"second")
        finally:
            await hang_up([line])
