"""What servers say in a header of when it is and when to come back: a number, or nothing."""

import random
import time

from reconciler.adapters.kubernetes.server_clock import ServerClock
from reconciler.adapters.outside.exchange import Answer, Exchange, Question
from reconciler.adapters.outside.posting import MOST_RETRY_SECONDS, post
from reconciler.model.errors import Misconfigured, Unavailable
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search

ASKED = Question("the chat", "https://chat.example.com", {})
DATES = Forge(
    [
        b"Wed, 21 Oct 2026 07:28:00 GMT",
        b"Wed, 21 Oct 2026 07:28:00 -0000",
        b"Wednesday, 21-Oct-26 07:28:00 GMT",
        b"Wed Oct 21 07:28:00 2026",
        b"21 Oct 2026 07:28 +0130",
        b"Fri, 31 Dec 2049 23:59:59 GMT",
        b"120",
    ],
    (b"GMT", b"+2359", b"-9999", b"+99999999999", b"31 Feb", b"0001", b"9999", b"24:00:60", b" ,"),
    8_000,
)
"""A header is of at most 8 KiB; no line break stands in it."""
LAST_SECONDS = 253_402_300_800.0


class Far(Exchange):
    """Somebody who answers always the same."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    async def ask(self, question: Question) -> Answer:
        return self.answer


def header_of(chance: random.Random) -> bytes:
    """Return the text of a header."""
    return DATES(chance).replace(b"\r", b" ").replace(b"\n", b" ")


def text_of(data: bytes) -> str:
    """Return a header as aiohttp reads it."""
    return data.decode("utf-8", "surrogateescape").strip()


def told_to_wait(data: bytes) -> None:
    """Whoever asks us to come back later is believed for an hour at most."""
    for status in (404, 503):
        far = Far(Answer(status, b"", text_of(data)))
        try:
            _posted(far)
        except Unavailable as error:
            wait_seconds = error.retry_after_seconds
            assert wait_seconds is None or 0.0 <= wait_seconds <= MOST_RETRY_SECONDS
            assert status == 503 or wait_seconds is not None
        except Misconfigured:
            assert status == 404


def _posted(far: Far) -> None:
    """Post to somebody: nothing of it waits, so no loop is needed."""
    try:
        post(far, ASKED).send(None)
    except StopIteration:
        return
    raise AssertionError("it waits")


def heard(data: bytes) -> None:
    """A `Date` is a time that this machine can write, or the clock is as it was."""
    clock = ServerClock()
    clock.heard(text_of(data))
    assert -62_135_596_800.0 - 86_400 <= clock.now() <= LAST_SECONDS + 86_400
    before = time.time()
    again = ServerClock()
    again.heard("no date")
    assert again.now() >= before


def test_no_word_of_when_to_come_back_is_too_much() -> None:
    search(Target("retry-after", 84_000, header_of, told_to_wait))


def test_no_clock_of_a_server_is_too_much() -> None:
    search(Target("clock", 84_000, header_of, heard))
