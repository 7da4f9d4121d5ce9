"""The lanes of a command that looks at Git and at the cluster once, as the loop does for ever."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from reconciler.loop.head_lane import HeadLane
from reconciler.model.refs import WorkloadKey
from reconciler.settings import Settings
from reconciler.wiring.clusters import OneCluster, make_one_cluster
from reconciler.wiring.compilers import make_compiler
from reconciler.wiring.repositories import make_checkout, make_head_lane, make_mirror


@dataclass(frozen=True, slots=True)
class Lanes:
    """One cluster, and the head that it is compared with. Findings' paths are below `root`."""

    one: OneCluster
    head: HeadLane
    root: str

    async def read(self) -> None:
        """Read the cluster and the records once; nothing is written. Raises its errors."""
        await self._read(self.one.lane.store.load())

    async def begin_term(self) -> None:
        """Read the same, now that we lead: what others sent before may come yet."""
        await self._read(self.one.lane.begin_term())

    async def _read(self, records: Awaitable[None]) -> None:
        await asyncio.gather(self.one.view.read(), records)
        record = self.one.lane.store.repository
        if not self.head.url:
            # A checkout stands for what is tracked; where nothing is, for itself.
            self.head.url = record.repository or self.root
            self.head.branch = record.branch or self.head.branch

    @property
    def keys(self) -> list[WorkloadKey]:
        """Every workload that is wanted, going, or there."""
        return sorted({*self.one.lane.wanted.keys, *self.one.view.workloads()})


@asynccontextmanager
async def opened_lanes(
    settings: Settings,
    dirty: Callable[[Iterable[WorkloadKey]], None] = lambda keys: None,
    may_write: Callable[[], bool] = lambda: False,
) -> AsyncIterator[Lanes]:
    """Open the cluster, and --repo's branch or the commit checked out here; close them after.

    Nothing is written but while `may_write` says so. Raises Misconfigured, Unavailable, Denied.
    """
    compiler = make_compiler()
    try:
        one = make_one_cluster(settings, dirty, may_write=may_write)
        checkout = None if settings.repo else make_checkout(".", settings)
        repository = checkout or make_mirror(settings)
        try:
            head = make_head_lane(settings, one.lane, compiler, repository)
            head.path = await checkout.folder() if checkout else head.path
            yield Lanes(one, head, await checkout.root() if checkout else "")
        finally:
            await repository.close()
            await one.cluster.close()
    finally:
        await compiler.close()
