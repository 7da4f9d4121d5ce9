"""Processes that stand still, as after `kill -STOP`, and go on amid what they were about to do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.pushes import Change, Pushed
from reconciler.model.trees import Head
from tests.loop.wires import Late, WatchedTransport


class FrozenRepository(MemoryRepository):
    """A repository of a process that can be frozen, between its last look and the host as well."""

    def __init__(self, host: MemoryHost, path: str = "") -> None:
        super().__init__(host, path=path)
        self.flows = asyncio.Event()
        """Cleared while its process stands still."""
        self.flows.set()

    async def fetch(self) -> Head:
        """Fetch, when its process goes on."""
        await self.flows.wait()
        return await super().fetch()

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push what its process decided before it was frozen, after it."""
        looked, self.may_push = self.may_push, self.may_push
        if looked():
            await self.flows.wait()
            self.may_push = lambda: True
        try:
            return await super().push(change, commit)
        finally:
            self.may_push = looked


def freezable(transport: WatchedTransport, flows: asyncio.Event) -> None:
    """Let nothing be sent, nor anything be heard of watches, while the event is not set.

    Behind the look whether it may write: what it decided before it was frozen is sent after.
    """
    opened = transport.stream

    async def flowing() -> None:
        await flows.wait()

    @asynccontextmanager
    async def stream(call: Call) -> AsyncIterator[Any]:
        async with opened(call) as wire:
            yield Late(wire, flows)

    transport.pause = flowing
    setattr(transport, stream.__name__, stream)
