"""The clock that is not virtual."""

import asyncio
import time


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Unix seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
