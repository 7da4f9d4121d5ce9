"""The API server's clock, as its answers tell it in their `Date`.

What was written on an object long ago has an age, and this machine may have started with a clock
that is an hour off. The server that all replicas and kubelets follow is the better judge.
"""

import asyncio
import time
from email.utils import parsedate_to_datetime

READ_EVERY_SECONDS = 10.0
_ROUNDED_SECONDS = 0.5
"""A `Date` is cut off to whole seconds."""


class ServerClock:
    """The port `Clock`: the server's time since its first answer, before it this machine's."""

    def __init__(self) -> None:
        self._ahead: float | None = None
        """How far the server's Unix seconds are ahead of the clock that never jumps."""
        self._read_at = 0.0

    def heard(self, date: str) -> None:
        """Take in the `Date` of an answer that has just come; one that is none tells nothing."""
        elapsed = time.monotonic()
        if self._ahead is not None and elapsed - self._read_at < READ_EVERY_SECONDS:
            return
        try:
            told = parsedate_to_datetime(date).timestamp()
        except (ValueError, OverflowError):
            return
        self._read_at = elapsed
        self._ahead = told + _ROUNDED_SECONDS - elapsed

    def now(self) -> float:
        """Unix seconds; it does not jump with the clock of this machine."""
        return time.time() if self._ahead is None else self._ahead + time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
