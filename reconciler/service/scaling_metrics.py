"""What Prometheus reads of scaling and write-back: plain numbers until the page is read."""

from collections import Counter as Tally
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import get_args

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from reconciler.core.compile import config_from_json
from reconciler.loop.landing import Landed
from reconciler.loop.lane import Lane
from reconciler.model.decisions import GIVEN_UP, Decision
from reconciler.model.errors import PortError
from reconciler.model.pauses import Pause, PauseReason
from reconciler.model.refs import WorkloadKey
from reconciler.ports import Clock
from reconciler.service.reactions import Stage
from reconciler.service.room_metrics import Spread

SWEEP_SECONDS = 1.0
ERRORS = (
    *("Unavailable", "Unanswered", "Conflict", "RecordChanged"),
    *("Denied", "Misconfigured", "Unreadable"),
)
REACTION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
WAYS = ("up", "down", "given-up")


@lru_cache(maxsize=1)
def _writes_git(config_json: str) -> bool:
    return not config_json or config_from_json(config_json).write_back.mode != "off"


class ScalingMetrics:
    """Counts decisions and commits, and what waits; a collector of the page of metrics.

    What waits is looked up in the records of `lane` while `leading`: another process' are not
    this one's to show.
    """

    def __init__(
        self, lane: Lane, leading: Callable[[], bool], clock: Clock, registry: CollectorRegistry
    ) -> None:
        self._lane = lane
        self._leading = leading
        self._clock = clock
        self._decisions: Tally[str] = Tally()
        self._failures: Tally[str] = Tally()
        self._pauses: Tally[str] = Tally()
        self._reactions = {stage: Spread(REACTION_BUCKETS) for stage in get_args(Stage)}
        self._refused: dict[WorkloadKey, str] = {}
        self._refusals = self._commits = self._races = self._unrecorded = self._waiting = 0
        self._oldest_seconds = 0.0
        registry.register(self)

    async def run(self) -> None:
        """Look at the records for ever."""
        while True:
            await self._clock.sleep(SWEEP_SECONDS)
            self.sweep()

    def sweep(self) -> None:
        """Look at the records once: what is decided and not in Git, and which policies pause."""
        leads = self._leading()
        store = self._lane.store
        # Where Git is not written nothing is on its way there.
        states = store.states() if leads and _writes_git(store.repository.config_json) else {}
        found = [record.scaling.intent for record in states.values()]
        since = [each.waits_since for each in found if each is not None and each.moves_git]
        self._waiting = len(since)
        self._oldest_seconds = max(0.0, self._clock.now() - min(since)) if since else 0.0
        told = self._lane.pauses.values() if leads else ()
        self._pauses = Tally(pause.reason for pause in told if pause is not None)

    def decided(self, key: WorkloadKey, decision: Decision) -> None:
        """Count a decision by its direction."""
        way = "given-up" if decision.reason == GIVEN_UP else decision.past.went or "up"
        self._decisions[way] += 1

    def undecided(self, key: WorkloadKey, error: PortError) -> None:
        """Nothing was decided."""

    def paused(self, key: WorkloadKey, pause: Pause | None) -> None:
        """The sweep counts those that stand still."""

    def reacted(self, stage: Stage, seconds: float) -> None:
        """Observe how soon a count has come so far."""
        self._reactions[stage].observe(seconds)

    def landed(self, landed: Landed) -> None:
        """Count a commit, and each edit that was refused, once for each reason."""
        self._commits += bool(landed.commit)
        refused = {each.edit.where: each.reason for each in landed.refused}
        self._refusals += sum(self._refused.get(key) != why for key, why in refused.items())
        self._refused = refused

    def raced(self) -> None:
        """Count a race that was lost."""
        self._races += 1

    def unrecorded(self, error: PortError) -> None:
        """Count a note that a record of ours did not take."""
        self._unrecorded += 1

    def unlanded(self, error: PortError) -> None:
        """Count a commit that the host did not take."""
        self._failures[type(error).__name__] += 1

    def collect(self) -> Iterator[Metric]:
        """Write the series; each label has a few values, and every one is there from the start."""
        yield GaugeMetricFamily(
            "gamekeeper_intents", "Counts that act and do not stand in Git yet", self._waiting
        )
        yield GaugeMetricFamily(
            "gamekeeper_intent_age_seconds",
            "For how long the oldest of them waits, 0 where none does",
            self._oldest_seconds,
        )
        yield CounterMetricFamily(
            "gamekeeper_commits", "Commits of ours that reached the branch", self._commits
        )
        yield CounterMetricFamily(
            "gamekeeper_commit_races", "Commits that came after somebody else's", self._races
        )
        yield CounterMetricFamily(
            "gamekeeper_commits_unrecorded",
            "Notes of commits of ours that our own records did not take",
            self._unrecorded,
        )
        yield CounterMetricFamily(
            "gamekeeper_edits_refused", "Counts that no edit could write exactly", self._refusals
        )
        yield _counter(
            "gamekeeper_commit_failures",
            "Commits that the host did not take, by why",
            ("reason", ERRORS),
            self._failures,
        )
        yield _counter(
            "gamekeeper_decisions",
            "Counts that a policy moved, by direction; given-up is back to what Git says",
            ("direction", WAYS),
            self._decisions,
        )
        yield self._reaction_times()
        paused = GaugeMetricFamily(
            "gamekeeper_policies_paused",
            "Policies that change nothing for a while, by why",
            labels=["reason"],
        )
        for reason in get_args(PauseReason):
            paused.add_metric([reason], self._pauses[reason])
        yield paused

    def _reaction_times(self) -> Metric:
        family = HistogramMetricFamily(
            "gamekeeper_decision_seconds",
            "Time from what woke a workload until its count moved: decided by the policy, "
            "recorded (from there it acts), requested (the first request about a room is sent)",
            labels=["stage"],
        )
        for stage, spread in self._reactions.items():
            spread.add_to(family, [stage])
        return family


def _counter(
    name: str, what: str, label: tuple[str, tuple[str, ...]], counts: Tally[str]
) -> CounterMetricFamily:
    named, values = label
    family = CounterMetricFamily(name, what, labels=[named])
    for value in dict.fromkeys((*values, *list(counts))):
        family.add_metric([value], counts[value])
    return family
