"""What the loop did, as far as people are told of it: a voice that keeps the last of each."""

import asyncio
from collections.abc import Iterator, Mapping

from reconciler.core import news
from reconciler.model.errors import PortError
from reconciler.model.holds import Hold
from reconciler.model.notifications import News
from reconciler.model.plans import Desired, Plan
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report
from reconciler.model.wanted import Wanted

_STRETCH = 50


class Seen:
    """Keeps what is wanted, what plans hold, and which spec each workload has been as."""

    def __init__(self) -> None:
        self.wanted = Wanted()
        self.changes = 0
        """Rises whenever there may be something to tell."""
        self._plan_holds: dict[WorkloadKey, tuple[Hold, ...]] = {}
        self._been_as: dict[WorkloadKey, str] = {}
        """The spec that a workload was as, whatever its count became since."""
        self._marks: dict[WorkloadKey, tuple[str, str]] = {}

    def forget(self) -> None:
        """Start anew: what another process saw meanwhile is not known."""
        self.wanted = Wanted()
        self.changes += 1
        self._plan_holds.clear()
        self._been_as.clear()

    @property
    def commit(self) -> str:
        """The newest commit that was judged, "" before the first."""
        return self.wanted.commit

    async def refresh(self) -> None:
        """Name the specs that are wanted now; in stretches, for there may be a thousand."""
        wanted = self.wanted
        for number, (key, desired) in enumerate(wanted.effective.items()):
            if number % _STRETCH == 0:
                await asyncio.sleep(0)
            self._mark(key, desired)
        for key in self._marks.keys() - wanted.effective.keys():
            del self._marks[key]

    def told_of(self) -> Iterator[News]:
        """Yield what is held now, of the commit and of what runs."""
        return news.told_of(self.wanted.holds, self.plan_holds())

    def plan_holds(self) -> Iterator[Hold]:
        """Yield what plans hold."""
        for holds in self._plan_holds.values():
            yield from holds

    def applied(self) -> Mapping[WorkloadKey, str] | None:
        """Return what each workload is as, None while not all of them are as Git says."""
        held = any(news.topic_of(hold.kind) is not None for hold in self.wanted.holds)
        if not self.commit or held or self.wanted.deleting:
            return None
        marks: dict[WorkloadKey, str] = {}
        for key, desired in self.wanted.effective.items():
            marks[key] = self._mark(key, desired)
            if not desired.workload.suspend and self._been_as.get(key) != marks[key]:
                return None
        return marks

    def looked(self, wanted: Wanted, reading: Reading | None, seconds: float) -> None:
        """A head was taken in."""
        if wanted is not self.wanted:
            self.wanted = wanted
            self.changes += 1

    def planned(self, cluster: str, plan: Plan) -> None:
        """A workload was planned."""
        key = plan.key
        if self._plan_holds.get(key, ()) != plan.holds:
            self._hold(key, plan.holds)
        desired = self.wanted.effective.get(key)
        if desired is None or plan.made_for != desired.wish or not plan.done:
            return
        if not plan.counts.old and plan.counts.ready == plan.counts.desired:
            mark = self._mark(key, desired)
            if self._been_as.get(key) != mark:
                self._been_as[key] = mark
                self.changes += 1

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """A workload is neither wanted nor there any more."""
        self._hold(key, ())
        self._been_as.pop(key, None)

    def _hold(self, key: WorkloadKey, holds: tuple[Hold, ...]) -> None:
        if holds:
            self._plan_holds[key] = holds
        else:
            self._plan_holds.pop(key, None)
        self.changes += 1

    def settled(self, report: Report) -> None:
        """The next plan tells."""

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """Logs and metrics tell."""

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """Nothing that people are told of."""

    def blind(self, error: PortError) -> None:
        """What was wanted stays wanted."""

    def stumbled(self, error: Exception) -> None:
        """Logs and metrics tell."""

    def _mark(self, key: WorkloadKey, desired: Desired) -> str:
        spec_json = desired.workload.spec_json
        known = self._marks.get(key)
        if known is None or known[0] != spec_json:
            known = self._marks[key] = spec_json, news.mark_of(desired.workload)
        return known[1]
