"""One convergence: the loop's own lane, run until everything is as wanted, or cannot be."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from reconciler.cli.lanes import Lanes
from reconciler.cli.leading import Leading
from reconciler.cli.progress import Progress
from reconciler.cli.reading import counted
from reconciler.core.ending import late_seconds
from reconciler.model.holds import Hold, is_suspended
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Outcome, Report, Settled
from reconciler.service.cluster_lane import ClusterLane
from reconciler.wiring.clock import SystemClock

TRIES = 5
"""So many failures in a row of one workload end the wait for it."""

LOOK_SECONDS = 0.1
DONE = {
    "apply": "applied",
    "create": "created",
    "delete": "deleted",
    "drain": "told to go",
    "tell": "told to go when empty",
    "undrain": "kept",
    "keep": "kept for a post-mortem",
    "mark": "marked",
    "patch": "marked",
    "forget": "forgotten",
}


@dataclass(slots=True)
class Course:
    """How far one workload has come. `done` counts steps by noun and what was done to it.

    `late` is whether its plan waits for what may be made of it yet, though it goes.
    """

    plan: Plan | None = None
    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: int = 0
    error: str = ""
    holds: tuple[Hold, ...] = ()
    gone: bool = False
    late: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be waited for."""
        return self.as_wanted or self.unheard or bool(self.holds) or self.failures >= TRIES

    @property
    def unheard(self) -> bool:
        """Whether all that is left waits for reports, which only the loop hears."""
        plan = self.plan
        if plan is None or self.error:
            return False
        return plan.idle and plan.wake_in_seconds is None and plan.counts.unheard > 0

    @property
    def as_wanted(self) -> bool:
        """Whether the workload is what it should be, as far as it may be."""
        if self.gone or self.plan is None:
            return self.gone
        counts = self.plan.counts
        if is_suspended(self.plan.holds):
            return True
        there = counts.ready == counts.desired
        if counts.unheard:
            # They run. Whether they take players they tell to the loop alone.
            there = counts.ready + counts.unready == counts.desired
        leaving = counts.leaving and self.plan.wake_in_seconds is not None
        settled = self.plan.done and not self.error and not self.holds
        return settled and there and not counts.old and not leaving and not self.late


class Convergence:
    """Runs the cluster lane until every workload's course is over; keeps `Observer`."""

    def __init__(self) -> None:
        self.courses: dict[WorkloadKey, Course] = {}
        self.timed_out = False
        self.deposed = False
        self._lane: ClusterLane | None = None

    def touched(self, keys: Iterable[WorkloadKey]) -> None:
        """Something of these workloads changed in the cluster."""
        if self._lane:
            self._lane.wakes.mark(keys)

    async def run(
        self, lanes: Lanes, leading: Leading, progress: Progress, timeout_seconds: float
    ) -> None:
        """Converge, at most for `timeout_seconds`; then finish the writes in hand."""
        self.courses = {key: Course() for key in lanes.one.lane.wanted.keys}
        self._lane = ClusterLane(lanes.one.lane, SystemClock(), self, leading=lambda: leading.leads)
        self._lane.wake_all()
        serving = [
            asyncio.create_task(lanes.one.view.run(), name="view"),
            asyncio.create_task(self._lane.run(), name="cluster"),
        ]
        try:
            await self._until_over(serving, leading, progress, timeout_seconds)
        finally:
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)

    async def _until_over(
        self,
        serving: list["asyncio.Task[None]"],
        leading: Leading,
        progress: Progress,
        timeout_seconds: float,
    ) -> None:
        deadline = time.monotonic() + timeout_seconds
        while not all(course.is_over for course in self.courses.values()):
            self.timed_out = time.monotonic() > deadline
            self.deposed = not leading.leads
            if self.timed_out or self.deposed:
                return
            progress.text = self._said()
            done, _ = await asyncio.wait(
                serving, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                await task

    def _said(self) -> str:
        plans = [course.plan for course in self.courses.values() if course.plan]
        ready = sum(min(plan.counts.ready, plan.counts.desired) for plan in plans)
        wanted = sum(plan.counts.desired for plan in plans)
        left = sum(not course.is_over for course in self.courses.values())
        return f"{ready} of {wanted} rooms ready, {counted(left, 'workload')} not there yet"

    def planned(self, cluster: str, plan: Plan) -> None:
        """A workload was planned."""
        course = self.courses.get(plan.key)
        if course and self._lane:
            lane = self._lane.lane
            at = lane.unanswered_at.get(plan.key) if plan.key in lane.wanted.deleting else None
            course.plan = plan
            course.late = bool(plan.wake_in_seconds and late_seconds(at, lane.view.elapsed()))

    def settled(self, report: Report) -> None:
        """A workload's plan was carried out: plan it again, since its records have moved on."""
        for item in report.settled:
            course = self.courses.get(item.plan.key)
            if course:
                self._note(course, item)
                moved_on = not course.gone and not item.failure and not item.holds
                if self._lane and moved_on:
                    self._lane.wakes.mark((item.plan.key,))

    def _note(self, course: Course, item: Settled) -> None:
        course.done.update(_step(outcome) for outcome in item.outcomes if outcome.done)
        course.error, course.holds = item.failure, item.holds
        course.failures = course.failures + 1 if item.failure else 0
        course.gone = item.plan.forget and not item.failure

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """Settling a workload met a defect: nothing is to be waited for."""
        if key in self.courses:
            self.courses[key].failures = TRIES
            self.courses[key].error = f"a defect of Gamekeeper: {type(error).__name__}: {error}"

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """A workload is neither wanted nor there: its course was told by its last step."""

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """All keys that were dirty have been planned."""


def _step(outcome: Outcome) -> tuple[str, str]:
    noun = "room" if outcome.what.startswith("room ") else "object"
    return ("workload" if outcome.verb == "forget" else noun), DONE.get(outcome.verb, outcome.verb)
