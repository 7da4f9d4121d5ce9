"""The whole service: views, lanes, lease and faces, started together and ended in order."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from reconciler.loop.config import config_in_force
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.landing import Terms
from reconciler.loop.lane import Lane
from reconciler.model.errors import PortError
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.wanted import Wanted
from reconciler.ports import Clock, WritableRepository
from reconciler.service.cluster_lane import ClusterLane, Observer
from reconciler.service.committer import CommitObserver, Committer
from reconciler.service.fleets import FleetCommits
from reconciler.service.head_lane import HeadObserver, HeadService
from reconciler.service.leader_label import LeaderLabel
from reconciler.service.publishing import Publishing
from reconciler.service.retries import Retries
from reconciler.service.rooms.desk import RoomDesk
from reconciler.service.scalers import Scalers
from reconciler.service.term import Term
from reconciler.service.views import ClusterView

REFOUND_SECONDS = 15.0


class Leadership(Protocol):
    """Whether this process may write: a Lease, or a promise that it is alone."""

    @property
    def leading(self) -> bool:
        """Whether it may write now."""

    @property
    def rival(self) -> str:
        """Who else was seen to hold it lately, "" when nobody was."""

    async def run(self) -> None:
        """Hold it, or wait for it, until cancelled."""

    async def look(self) -> None:
        """See now who holds it."""


class Voice(Observer, HeadObserver, Protocol):
    """Who hears what the service does: logs, metrics, Kubernetes Events, health."""


@dataclass(frozen=True, slots=True)
class Committing:
    """What the committer needs: without it nothing is ever written into Git."""

    repository: WritableRepository
    terms: Callable[[], Terms | None]
    observer: CommitObserver


@dataclass(slots=True)
class Parts:
    """What the service is made of. `wakers` yield when Git may have moved (a file watch).

    `found` makes our own namespace, whoever leads: the lease stands in it. `pass_on` asks whoever
    leads to look at Git. `desk` keeps what rooms report, None where nobody listens; `label` leads
    rooms to this process, None where we run in no pod.
    `poll_seconds` and `resync_seconds` 0 leave the intervals to the repository's own Config.
    """

    lane: Lane
    head: HeadLane
    view: ClusterView
    clock: Clock
    voice: Voice
    found: Callable[[], Coroutine[Any, Any, None]]
    pass_on: Callable[[], Coroutine[Any, Any, None]]
    poll_seconds: float = 0.0
    resync_seconds: float = 0.0
    wakers: Sequence[Callable[[], AsyncIterator[None]]] = ()
    desk: RoomDesk | None = None
    label: LeaderLabel | None = None
    scalers: Scalers | None = None
    committing: Committing | None = None


class App:
    """Runs one instance over one cluster."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._leadership: Leadership | None = None
        shared = parts.clock, parts.voice, self.may_act
        self.cluster_lane = ClusterLane(
            parts.lane, *shared, lambda: self.head_service.wake(), parts.scalers
        )
        self.head_service = HeadService(parts.head, *shared, self._published, parts.poll_seconds)
        self._publishing = Publishing(self.cluster_lane)
        self._term = Term(
            parts.lane,
            parts.clock,
            parts.label,
            lambda: self.leading,
            parts.voice.blind,
            self._begun,
        )
        back = parts.committing
        self._committer = self._made_committer(back) if back is not None else None

    @property
    def leading(self) -> bool:
        """Whether this process decides."""
        return self._leadership is not None and self._leadership.leading

    def not_ready(self) -> str:
        """Say why this process cannot answer yet, "" when it can; who leads does not matter."""
        return "" if self._parts.view.complete else "the cluster was not read completely yet"

    def leadership_changed(self) -> None:
        """Forget what was remembered: whoever led before wrote since.

        Plans in hand are given up too, and the head is judged anew before anything is planned.
        """
        self._term.end()
        self.cluster_lane.abandon()
        self._judge_anew()
        if self._parts.desk is not None:
            self._parts.desk.forget()
        if self._committer is not None:
            self._committer.leadership_changed()

    def touched(self, keys: Iterable[WorkloadKey]) -> None:
        """Something of these workloads changed in the cluster."""
        self.cluster_lane.wakes.mark(keys)

    def record_changed(self, ref: ObjectRef, gone: bool) -> None:
        """A record of ours changed in the cluster."""
        self.head_service.record_changed(ref, gone)

    async def look_soon(self) -> None:
        """Have Git looked at soon, by whoever leads. Raises the cluster's errors."""
        if self.leading:
            self.head_service.wake()
        else:
            await self._parts.pass_on()

    async def run(
        self, leadership: Leadership, faces: Sequence[Callable[[], Coroutine[Any, Any, None]]] = ()
    ) -> None:
        """Serve until cancelled; then finish the writes in hand, and give the lease back last."""
        await self._found()
        self._leadership = leadership
        self._term.end()
        leading = asyncio.create_task(leadership.run(), name="lease")
        try:
            async with asyncio.TaskGroup() as group:
                for face in faces:
                    group.create_task(face(), name="face")
                group.create_task(self._parts.view.run(), name="view")
                group.create_task(self._term.run(), name="records")
                group.create_task(self._refound(), name="namespace")
                if self._parts.desk is not None:
                    group.create_task(self._parts.desk.run(), name="rooms")
                if self._parts.label is not None:
                    group.create_task(self._parts.label.run(), name="label")
                group.create_task(self._serve(), name="lanes")
                # A lease that is kept up no more ends everything: nobody would notice otherwise.
                group.create_task(_until_over(leading), name="lease watch")
        finally:
            leading.cancel()
            await asyncio.gather(leading, return_exceptions=True)
            await self._term.step_down()

    async def _found(self) -> None:
        """Make our own namespace first: the lease and every record stand in it."""
        retries = Retries(longest_seconds=30.0)
        while True:
            try:
                await self._parts.found()
            except PortError as error:
                self._parts.voice.blind(error)
                await self._parts.clock.sleep(retries.failed())
            else:
                return

    async def _refound(self) -> None:
        """Make our namespace again where somebody deleted it: no lease can be had without."""
        while True:
            await self._parts.clock.sleep(REFOUND_SECONDS)
            if not self.leading:
                with suppress(PortError):
                    await self._parts.found()

    async def _serve(self) -> None:
        """Run the lanes once the cluster was read: before that, nothing may be planned."""
        await self._parts.view.synced()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.head_service.run(), name="head")
            group.create_task(self.cluster_lane.run(), name="cluster")
            group.create_task(self._resync(), name="resync")
            if self._committer is not None:
                group.create_task(self._committer.run(), name="committer")
            if self._parts.scalers is not None:
                asking = self._parts.scalers.ask(self.may_act, self.cluster_lane.wakes.mark)
                group.create_task(asking, name="signals")
            for waker in self._parts.wakers:
                group.create_task(self._wake_on(waker), name="waker")

    def fleets(self) -> FleetCommits | None:
        """Return what makes and removes Fleets for people, None where nothing is committed."""
        parts, back = self._parts, self._parts.committing
        if back is None:
            return None
        wake = self.head_service.wake
        return FleetCommits(parts.head, back.repository, parts.clock, back.terms, wake)

    def _made_committer(self, back: Committing) -> Committer:
        return Committer(
            self._parts.head,
            back.repository,
            self._parts.clock,
            back.observer,
            self.may_act,
            self.head_service.wake,
            back.terms,
        )

    def _begun(self) -> None:
        self._judge_anew()  # a look of an earlier term may have ended meanwhile
        self.head_service.wake()

    def _judge_anew(self) -> None:
        """Take nothing for known: whoever was planned while nothing was wanted is woken, too."""
        self._publishing.forget()
        self.head_service.forget()

    async def _resync(self) -> None:
        """Pass over everything now and then: a wake that was lost is made good."""
        while True:
            await self._parts.clock.sleep(self.resync_seconds())
            self.cluster_lane.wake_all()

    def resync_seconds(self) -> float:
        """Seconds between full passes."""
        if self._parts.resync_seconds:
            return self._parts.resync_seconds
        head = self._parts.head
        return float(config_in_force(head.reading, head.home.store.repository).resync_seconds)

    async def _wake_on(self, waker: Callable[[], AsyncIterator[None]]) -> None:
        async for _ in waker():
            self.head_service.wake()

    def may_write(self) -> bool:
        """Whether a write may go out now."""
        return self.leading

    async def look_who_leads(self) -> None:
        """See now who leads: another process may since a while."""
        if self._leadership is not None:
            await self._leadership.look()

    def may_act(self) -> bool:
        """Whether this process decides, and knows what is on record."""
        return self._term.known and self.leading

    def _published(self, wanted: Wanted) -> None:
        self._publishing.wake()
        if self._committer is not None:
            self._committer.head_taken_in()


async def _until_over(task: "asyncio.Task[None]") -> None:
    await asyncio.shield(task)
    raise RuntimeError("the lease is kept up no more")
