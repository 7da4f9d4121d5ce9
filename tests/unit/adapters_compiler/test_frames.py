import asyncio
import io
import struct

import pytest

from reconciler.adapters.compiler.frames import (
    MAX_FRAME_BYTES,
    Garbled,
    packed,
    receive,
    receive_from,
)


def reader_of(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


async def test_frames_come_back_in_order_and_then_the_end() -> None:
    data = packed({"a": "é\ud800"}) + packed([1, None])
    stream, reader = io.BytesIO(data), reader_of(data)
    assert [receive(stream) for _ in range(3)] == [{"a": "é\ud800"}, [1, None], None]
    assert [await receive_from(reader) for _ in range(3)] == [{"a": "é\ud800"}, [1, None], None]


async def test_a_frame_that_is_cut_off_is_the_end() -> None:
    assert await receive_from(reader_of(packed("abc")[:-1])) is None
    assert await receive_from(reader_of(b"\0\0")) is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(struct.pack(">I", MAX_FRAME_BYTES + 1), id="longer than is taken"),
        pytest.param(b"\0\0\0\1{", id="no JSON"),
        pytest.param(b"\0\0\0\1\xff", id="no text"),
        pytest.param(struct.pack(">I", 100_000) + b"[" * 100_000, id="deeper than Python goes"),
    ],
)
async def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(Garbled):
        await receive_from(reader_of(data))


def test_a_number_that_json_does_not_have_is_not_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        packed(float("nan"))
