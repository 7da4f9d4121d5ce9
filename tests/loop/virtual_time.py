"""An event loop in which nobody waits: when all sleep, time goes to when the first one wakes."""

import asyncio
import selectors
from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar

from tests.loop.world import START, Time

T = TypeVar("T")
Work = Generator[Any, None, T] | Coroutine[Any, Any, T]


class _Skipping(selectors.DefaultSelector):
    """A selector that waits by adding to a number."""

    elapsed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout is None:
            raise RuntimeError("everybody waits, and for nothing")
        if not found:
            self.elapsed += max(0.0, timeout or 0.0)
        return found


class _Numbered(asyncio.Task[T]):
    """A task whose hash is its number.

    asyncio keeps tasks in sets and cancels a group in their order, which otherwise follows from
    addresses in memory: in the same process, the same run would be another one the next time.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Work[T],
        context: Context | None,
        number: int,
    ) -> None:
        self._number = number
        super().__init__(work, loop=loop, context=context)

    def __hash__(self) -> int:
        return self._number


class VirtualLoop(asyncio.SelectorEventLoop):
    """The event loop; its time begins at 0 seconds, its tasks are numbered as they are made."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)
        self._tasks_made = 0
        self.set_task_factory(self._numbered)

    def _numbered(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Work[T],
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        self._tasks_made += 1
        return _Numbered(loop, work, context, self._tasks_made)

    def time(self) -> float:
        """Seconds of virtual time."""
        return self._skipping.elapsed


class LoopTime(Time):
    """The time of a virtual loop as the clocks of a machine.

    `ahead` is what its wall clock jumped, `rate` how many of its seconds pass in a true one: to be
    set before anybody looks. What waits in the loop waits true seconds all the same.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0.0
        self.rate = 1.0
        self._stands_at: float | None = None
        self._stood_seconds = 0.0

    def now(self) -> float:
        """Unix seconds."""
        return START + elapsed() * self.rate + self.ahead

    def elapsed(self) -> float:
        """Seconds of its clock that is never set."""
        true = elapsed() if self._stands_at is None else self._stands_at
        return (true - self._stood_seconds) * self.rate

    def stand(self) -> None:
        """Let the clock that is never set stand, as that of a virtual machine that is moved."""
        self._stands_at = elapsed()

    def go_on(self) -> None:
        """Let it go on where it stood."""
        if self._stands_at is not None:
            self._stood_seconds += elapsed() - self._stands_at
            self._stands_at = None

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds / self.rate)


def elapsed() -> float:
    """Seconds since the loop began: a clock that never jumps."""
    return asyncio.get_running_loop().time()


def in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end; tasks that are left over are cancelled."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
