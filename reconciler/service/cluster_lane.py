"""One cluster's lane: takes dirty keys, plans them, and settles each without waiting for others.

A key whose writes are in flight is held back alone: woken meanwhile, it is planned again when
they are done. Planning stays under 10 ms on the event loop; a key too big for that is planned in
a thread, over the same immutable snapshots.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from reconciler.core import conditions
from reconciler.core import plan as planning
from reconciler.core.deciding import Decided
from reconciler.core.rooms import SortedOnce
from reconciler.loop.lane import Lane
from reconciler.loop.settle import settle
from reconciler.model.plans import Plan, Situation
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report
from reconciler.ports import Clock
from reconciler.service.reactions import Reactions
from reconciler.service.retries import Retries
from reconciler.service.scalers import LOOK_SECONDS, Scalers
from reconciler.service.wakes import COALESCE_SECONDS, Wakes

BIG_KEY_PODS = 1000
SLICE_SECONDS = 0.005
REST_SECONDS_A_ROOM = 15e-6
LONGEST_REST_SECONDS = 0.15


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
        scalers: Scalers | None = None,
    ) -> None:
        """Serve `lane`; `doubted` is called when what is wanted must be judged anew.

        Without `scalers` every count is what Git says.
        """
        self.lane = lane
        self.wakes: Wakes[WorkloadKey] = Wakes()
        self._now = lane.server_now or clock.now  # by which clock the cluster's objects are dated
        self._observer = observer
        self._leading = leading
        self._doubted = doubted
        self._scalers = scalers
        self._in_flight: dict[WorkloadKey, asyncio.Task[None]] = {}
        self._again: dict[WorkloadKey, float] = {}
        """Who is planned again when its writes are done, with when that was asked for first."""
        self._reactions = scalers.reactions if scalers else Reactions(lambda stage, seconds: None)
        self._retries: dict[WorkloadKey, Retries] = {}
        self._served: set[WorkloadKey] = set()
        self._unkept: set[WorkloadKey] = set()
        """Whose count was not put on record: planned by the one that acts, then tried again."""
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
        """Wait for the writes in hand, but not for a server that does not answer.

        What was seen of the demand is written too: whoever leads next goes on from there.
        """
        if self._scalers is not None and self._leading():
            for key in self._scalers.unwritten() - self._in_flight.keys():
                self._begin(key, self._remember(self._scalers, key), lambda: None)
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
                self._again.setdefault(key, self.wakes.since[key])
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
        once = SortedOnce(situation, situation.desired.workload) if situation.desired else None
        if self._scale(situation, once):
            return  # planned once the count is on record
        since = self._reactions.planned(key)
        plan = await self._plan(situation, once)
        self._observer.planned(self.lane.name, plan)
        if self._is_due(plan):
            self.lane.reserve(plan)
            work = self._settle(plan, since)
            self._begin(key, work, lambda: self.lane.release(plan))

    def _scale(self, situation: Situation, once: SortedOnce | None) -> bool:
        """Ask the workload's policy; whether something of it goes on record now."""
        if situation.key in self._unkept:
            self._unkept.discard(situation.key)
            retries = self._retries.setdefault(situation.key, Retries())
            self.wakes.mark_later((situation.key,), retries.failed())
            return False
        decided = self._scalers.look(situation, once) if self._scalers else None
        if self._scalers is None or decided is None or situation.desired is None:
            return False
        again = decided.decision.again_in_seconds
        self.wakes.mark_later((situation.key,), min(LOOK_SECONDS, again or LOOK_SECONDS))
        if decided.moves(situation.desired.workload.replicas):
            self._reactions.decided(situation.key, self.wakes.since[situation.key])
            work = self._keep(self._scalers, situation.key, decided)
        elif self._scalers.is_due(situation.key):
            work = self._remember(self._scalers, situation.key)
        else:
            return False
        self._begin(situation.key, work, lambda: None)
        return True

    async def _remember(self, scalers: Scalers, key: WorkloadKey) -> None:
        """Put what was seen on record, and plan on whatever comes of it."""
        self._serve_again(key)
        try:
            await scalers.remember(key)
        except Exception as error:
            self._crashed(key, error)

    async def _keep(self, scalers: Scalers, key: WorkloadKey, decided: Decided) -> None:
        """Put a count on record, from where it acts."""
        try:
            self._serve_again(key)
            if await scalers.keep(key, decided):
                self._reactions.recorded(key)
            else:
                self._unkept.add(key)
        except Exception as error:
            self._crashed(key, error)

    def _forget(self, key: WorkloadKey) -> None:
        """Keep no memory of a workload that is neither wanted nor there."""
        self.lane.forget(key)
        self._retries.pop(key, None)
        self._unkept.discard(key)
        self._served.discard(key)
        if self._scalers is not None:
            self._scalers.forget(key)
        self.wakes.forget(key)
        self._observer.gone(self.lane.name, key)

    def _crashed(self, key: WorkloadKey, error: Exception) -> None:
        """Tell a defect of ours: in one workload it must not stop the others, nor stay silent."""
        self._observer.crashed(self.lane.name, key, error)
        retries = self._retries.setdefault(key, Retries())
        self.wakes.mark_later((key,), retries.failed())

    def abandon(self) -> None:
        """Give up the plans in hand: somebody else leads, and makes their own."""
        if self._scalers is not None:
            self._scalers.forget()
        for task in self._in_flight.values():
            task.cancel()

    async def _plan(self, situation: Situation, once: SortedOnce | None) -> Plan:
        known = self.lane.found.recall(situation)
        if known is not None:
            return known
        self._planned_rooms += len(situation.live.pods)
        now, there = self._now(), once.sorted if once else None
        wanted = situation.desired.workload.replicas if situation.desired else 0
        if max(len(situation.live.pods), wanted) < BIG_KEY_PODS:
            plan = planning.plan(situation, self.lane.schemas, now, there)
        else:
            plan = await asyncio.to_thread(planning.plan, situation, self.lane.schemas, now, there)
        self.lane.found.remember(plan, situation)
        return plan

    def _is_due(self, plan: Plan) -> bool:
        """Whether a plan has anything to write, be it only a condition."""
        for seconds in (plan.wake_in_seconds, plan.look_in_seconds):
            if seconds is not None:
                self.wakes.mark_later((plan.key,), max(0.05, seconds))
        if plan.due:
            return True
        if plan.key not in self.lane.wanted.keys:
            return False
        before = self.lane.store.state(plan.key).conditions
        told, paused = self.lane.refused.told(plan), self.lane.paused(plan.key)
        after = conditions.conditions_of(plan, told, before, self._now(), paused)
        return before != after or self.lane.store.is_doubtful(plan.key)

    def _begin(
        self, key: WorkloadKey, work: Coroutine[Any, Any, None], ended: Callable[[], None]
    ) -> None:
        task = asyncio.create_task(work, name=f"settle {key}")
        self._in_flight[key] = task
        # Not in the work itself: one that is given up before its first step never runs.
        task.add_done_callback(lambda _: self._landed(key, ended))

    def _landed(self, key: WorkloadKey, ended: Callable[[], None]) -> None:
        """Let the next plan of a workload follow, whatever became of this one."""
        ended()
        del self._in_flight[key]
        if self.lane.store.doubt_began():
            self._doubted()
        if key in self._again:
            self.wakes.mark((key,), self._again.pop(key))

    def _serve_again(self, key: WorkloadKey) -> None:
        self._again.setdefault(key, asyncio.get_running_loop().time())

    async def _settle(self, plan: Plan, since: float | None) -> None:
        key = plan.key
        try:
            settled = await settle(self.lane, plan, self._now())
            commit = self.lane.wanted.commit
            report = Report(self.lane.name, commit, (settled,))
            self._reactions.requested(since, settled.first_request_at)
            self._observer.settled(report)
            if settled.failure or settled.holds:
                retries = self._retries.setdefault(key, Retries())
                asked = max((o.retry_after_seconds for o in settled.outcomes), default=0.0)
                self.wakes.mark_later((key,), retries.failed(asked))
            else:
                self._retries.pop(key, None)
            # Planned anew: other names for rooms that are short, the last look at what is gone.
            if settled.short or (plan.forget and not settled.failure):
                self._serve_again(key)
        except Exception as error:
            self._crashed(key, error)
