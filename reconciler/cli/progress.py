"""Progress of work that takes over a second: a line rewritten on a terminal, else one every 5 s."""

import asyncio
import time
from types import TracebackType
from typing import Self

from reconciler.cli.console import Console

QUIET_SECONDS = 1.0
REWRITE_SECONDS = 0.2
REPEAT_SECONDS = 5.0


class Progress:
    """What is being done, told on standard error while the block runs."""

    def __init__(self, console: Console, text: str) -> None:
        self.text = text
        """What is said; change it as the work goes on."""
        self._console = console
        self._started = time.monotonic()
        self._shown = False
        self._ticker: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ticker:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)
        if self._shown and self._console.err.isatty():
            self._console.err.write("\r\x1b[K")
            self._console.err.flush()

    async def _tick(self) -> None:
        await asyncio.sleep(QUIET_SECONDS)
        while True:
            self._shown = True
            line = f"{self.text} ({time.monotonic() - self._started:.0f} s)"
            if self._console.err.isatty():
                self._console.err.write(f"\r\x1b[K{line}")
                self._console.err.flush()
                await asyncio.sleep(REWRITE_SECONDS)
            else:
                self._console.note(line)
                await asyncio.sleep(REPEAT_SECONDS)
