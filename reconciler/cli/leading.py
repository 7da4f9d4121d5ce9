"""The Lease of a command that writes: it has it, or says who does."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.lanes import Lanes, opened_lanes
from reconciler.cli.progress import Progress
from reconciler.loop.lost_records import ensure_namespace
from reconciler.model.refs import WorkloadKey
from reconciler.settings import Settings
from reconciler.wiring.clusters import OneCluster
from reconciler.wiring.leading import lease_ref, make_leadership

PATIENCE_SECONDS = 30.0
"""A Lease whose holder crashed is free after its duration, 15 s."""

LOOK_SECONDS = 0.05


class Leading:
    """Leads from `take` to the end of the block."""

    def __init__(self, one: OneCluster, settings: Settings, console: Console) -> None:
        self._cluster = one.cluster
        self._ref = lease_ref(settings)
        self._console = console
        self._leadership = make_leadership(settings, one.cluster, lambda: None)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def leads(self) -> bool:
        """Whether we may write now."""
        return self._leadership.leading

    def may_write(self) -> bool:
        """Whether a write may go out now; before the Lease is asked for, only its namespace is."""
        return self._task is None or self.leads

    async def take_from_others(self) -> None:
        """Take the Lease where there is one already: a person is not asked in vain.

        Where there is none, nobody leads, and nothing is written before a person agreed.
        """
        if await self._cluster.get(self._ref) is not None:
            await self.take()

    async def take(self) -> None:
        """Take the Lease. Raises Failure naming who holds it."""
        await ensure_namespace(self._cluster, self._ref.namespace)
        if self._task is None:
            self._task = asyncio.create_task(self._leadership.run(), name="lease")
        deadline = time.monotonic() + PATIENCE_SECONDS
        async with Progress(self._console, f"waiting for {self._ref}"):
            while not self.leads:
                if self._leadership.rival:
                    raise self._held_by(self._leadership.rival)
                if time.monotonic() > deadline:
                    raise Failure(f"{self._ref} could not be had in {PATIENCE_SECONDS:.0f} s")
                await asyncio.sleep(LOOK_SECONDS)

    def _held_by(self, rival: str) -> Failure:
        return Failure(
            f"{self._ref} is held by {rival}, who renews it",
            "One process decides at a time",
            "Let it act (gamekeeper reconcile --wait), or stop it first",
        )


@asynccontextmanager
async def opened_leading(
    settings: Settings,
    console: Console,
    dirty: Callable[[Iterable[WorkloadKey]], None] = lambda keys: None,
) -> AsyncIterator[tuple[Lanes, Leading]]:
    """Open lanes that write only while their Leading leads. Raises as `opened_lanes`."""
    leaders: list[Leading] = []

    def may_write() -> bool:
        return any(each.may_write() for each in leaders)

    async with (
        opened_lanes(settings, dirty, may_write) as lanes,
        Leading(lanes.one, settings, console) as leading,
    ):
        leaders.append(leading)
        yield lanes, leading
