"""One cluster's lane: takes dirty keys, plans them, and settles each without waiting for others.

A key whose writes are in flight is held back alone: woken meanwhile, it is planned again when
they are done. Planning stays under 10 ms on the event loop; a key too big for that is planned in
a thread, over the same immutable snapshots.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from reconciler.core import conditions
from reconciler.core import plan as planning
from reconciler.loop.lane import Lane
from reconciler.loop.settle import settle
from reconciler.model.plans import Plan, Situation
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report
from reconciler.ports import Clock
from reconciler.service.retries import Retries
from reconciler.service.wakes import COALESCE_SECONDS, Wakes

BIG_KEY_PODS = 1000
SLICE_SECONDS = 0.005
REST_SECONDS_A_ROOM = 6e-6
LONGEST_REST_SECONDS = 0.1


def rest_seconds(planned_rooms: int) -> float:
    """Return for how long keys may join after a pass that planned so many rooms.

    Some times as long as it took: where a crowd comes in everywhere at once, its rooms are
    written down rather than planned over and over. By count, not by the clock, so that a run in
    virtual time can be repeated.
    """
    rest = min(planned_rooms * REST_SECONDS_A_ROOM, LONGEST_REST_SECONDS)
    return max(COALESCE_SECONDS, rest)


FINISH_SECONDS = 20.0
"""Less than a pod's usual grace: what is cut off is made good by whoever comes next."""
NOT_LEADING_SECONDS = 1.0
"""Keys that were woken while we do not lead are kept: we may lead again in a moment."""


class Observer(Protocol):
    """Who hears what a lane did: logs, metrics, Kubernetes Events."""

    def planned(self, cluster: str, plan: Plan) -> None:
        """A workload was planned."""

    def settled(self, report: Report) -> None:
        """A workload's plan was carried out."""

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """Settling a workload met a defect."""

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """A workload is neither wanted nor there any more."""

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """All keys that were dirty have been planned."""


class ClusterLane:
    """Serves one lane for as long as it runs; acts only while `leading` says so."""

    def __init__(
        self,
        lane: Lane,
        clock: Clock,
        observer: Observer,
        leading: Callable[[], bool],
        doubted: Callable[[], None] = lambda: None,
    ) -> None:
        """Serve `lane`; `doubted` is called when what is wanted must be judged anew."""
        self.lane = lane
        self.wakes: Wakes[WorkloadKey] = Wakes()
        self._clock = clock
        self._observer = observer
        self._leading = leading
        self._doubted = doubted
        self._in_flight: dict[WorkloadKey, asyncio.Task[None]] = {}
        self._again: set[WorkloadKey] = set()
        self._retries: dict[WorkloadKey, Retries] = {}
        self._served: set[WorkloadKey] = set()
        self._planned_rooms = 0
        """How many rooms the last pass planned anew."""

    def wake_all(self) -> None:
        """Mark everything that is wanted, going, or there, and what was until now."""
        self.wakes.mark({*self.lane.wanted.keys, *self.lane.view.workloads(), *self._served})
        self.wakes.nudge()

    async def run(self) -> None:
        """Serve until cancelled; then finish the writes in hand."""
        try:
            while True:
                await self._pass(await self.wakes.take(rest_seconds(self._planned_rooms)))
        finally:
            await self.finish()

    async def finish(self) -> None:
        """Wait for the writes in hand, but not for a server that does not answer."""
        if not self._in_flight:
            return
        _, hanging = await asyncio.wait(self._in_flight.values(), timeout=FINISH_SECONDS)
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    async def _pass(self, keys: set[WorkloadKey]) -> None:
        if not self._leading():
            self.wakes.mark_later(keys, NOT_LEADING_SECONDS)
            return
        started = time.monotonic()
        slice_started = started
        self._planned_rooms = 0
        for key in keys:
            if key in self._in_flight:
                self._again.add(key)
                continue
            try:
                await self._serve(key)
            except Exception as error:
                self._crashed(key, error)
            if time.monotonic() - slice_started > SLICE_SECONDS:
                await asyncio.sleep(0)
                slice_started = time.monotonic()
        self._observer.passed(self.lane.name, len(keys), time.monotonic() - started)

    async def _serve(self, key: WorkloadKey) -> None:
        situation = self.lane.situation(key)
        if situation.gone:
            self._forget(key)
            return
        self._served.add(key)
        plan = await self._plan(situation)
        self._observer.planned(self.lane.name, plan)
        if self._is_due(plan):
            self.lane.reserve(plan)
            self._start(plan)

    def _forget(self, key: WorkloadKey) -> None:
        """Keep no memory of a workload that is neither wanted nor there."""
        self.lane.forget(key)
        self._retries.pop(key, None)
        self._served.discard(key)
        self.wakes.forget(key)
        self._observer.gone(self.lane.name, key)

    def _crashed(self, key: WorkloadKey, error: Exception) -> None:
        """Tell a defect of ours: in one workload it must not stop the others, nor stay silent."""
        self._observer.crashed(self.lane.name, key, error)
        retries = self._retries.setdefault(key, Retries())
        self.wakes.mark_later((key,), retries.failed())

    def abandon(self) -> None:
        """Give up the plans in hand: somebody else leads, and makes their own."""
        for task in self._in_flight.values():
            task.cancel()

    async def _plan(self, situation: Situation) -> Plan:
        known = self.lane.recall(situation)
        if known is not None:
            return known
        self._planned_rooms += len(situation.live.pods)
        now = self._clock.now()
        wanted = situation.desired.workload.replicas if situation.desired else 0
        if max(len(situation.live.pods), wanted) < BIG_KEY_PODS:
            plan = planning.plan(situation, self.lane.schemas, now)
        else:
            plan = await asyncio.to_thread(planning.plan, situation, self.lane.schemas, now)
        self.lane.remember(plan, situation)
        return plan

    def _is_due(self, plan: Plan) -> bool:
        """Whether a plan has anything to write, be it only a condition."""
        if plan.wake_in_seconds is not None:
            self.wakes.mark_later((plan.key,), max(0.05, plan.wake_in_seconds))
        if not plan.idle:
            return True
        if plan.key not in self.lane.wanted.keys:
            return False
        before = self.lane.store.state(plan.key).conditions
        after = conditions.conditions_of(plan, "", before, self._clock.now())
        return before != after or self.lane.store.is_doubtful(plan.key)

    def _start(self, plan: Plan) -> None:
        task = asyncio.create_task(self._settle(plan), name=f"settle {plan.key}")
        self._in_flight[plan.key] = task
        # Not in `_settle` itself: one that is given up before its first step never runs.
        task.add_done_callback(lambda _: self._landed(plan))

    def _landed(self, plan: Plan) -> None:
        """Let the next plan of a workload follow, whatever became of this one."""
        self.lane.release(plan)
        del self._in_flight[plan.key]
        if plan.key in self._again:
            self._again.discard(plan.key)
            self.wakes.mark((plan.key,))

    async def _settle(self, plan: Plan) -> None:
        key = plan.key
        try:
            settled = await settle(self.lane, plan, self._clock.now())
            commit = self.lane.wanted.commit
            report = Report(self.lane.name, commit, (settled,))
            self._observer.settled(report)
            if self.lane.doubted:
                self._doubted()
            if settled.failure or settled.holds:
                retries = self._retries.setdefault(key, Retries())
                asked = max((o.retry_after_seconds for o in settled.outcomes), default=0.0)
                self.wakes.mark_later((key,), retries.failed(asked))
            else:
                self._retries.pop(key, None)
            if plan.forget and not settled.failure:
                self._again.add(key)  # the last look finds it gone
        except Exception as error:
            self._crashed(key, error)
