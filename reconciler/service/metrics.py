"""What Prometheus reads. Labels are bounded by what Git holds; a workload's go when it goes."""

from collections import Counter as Tally
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import Metric

from reconciler.model.errors import PortError
from reconciler.model.findings import Severity
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Plan
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report
from reconciler.model.wanted import Wanted

LAG_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
TIME_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_Place = tuple[str, str]
"""Workload and kind of a hold."""


class OfLeader:
    """The part of the page that tells what is: of two that tell it, one is out of date.

    What counts what happened stays on the page of whoever did it. A collector; its metrics stand
    in a registry of their own, and are shown where this process leads when the page is read.
    """

    def __init__(self, page: CollectorRegistry) -> None:
        self.registry = CollectorRegistry()
        self.leading: Callable[[], bool] = lambda: True
        page.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield what is known now, nothing where another process leads."""
        if self.leading():
            yield from self.registry.collect()


class Metrics:
    """A voice that counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._of_leader = OfLeader(self.registry)
        self._held: dict[WorkloadKey | None, set[_Place]] = {}
        self._loop_metrics()
        self._work_metrics()
        self._leader_metrics()
        self._outside_metrics()

    def text(self) -> bytes:
        """Return the page."""
        return generate_latest(self.registry)

    def planned(self, cluster: str, plan: Plan) -> None:
        """Count what a workload's plan would do, and show what is held."""
        self.plans.labels(cluster, _kind_of(plan)).inc()
        self._show_holds(plan.key, plan.holds)

    def settled(self, report: Report) -> None:
        """Count steps."""
        for item in report.settled:
            steps = Tally((outcome.verb, outcome.done) for outcome in item.outcomes)
            for (verb, done), count in steps.items():
                self.steps.labels(report.cluster, verb, "done" if done else "failed").inc(count)
            done_steps = {outcome.what for outcome in item.outcomes if outcome.done}
            for removal in item.plan.removals:
                if removal.what in done_steps:
                    self.removals.labels(report.cluster, removal.cause).inc()

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """Leave no series of a workload that is gone."""
        self._show_holds(key, ())
        self._held.pop(key, None)

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """Count a defect of ours."""
        self.defects.labels(cluster).inc()

    def stumbled(self, error: Exception) -> None:
        """Count a defect of ours in taking a head in."""
        self.look_failures.labels("Defect").inc()

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """Observe a pass over the keys that were dirty."""
        self.pass_seconds.labels(cluster).observe(seconds)

    def looked(self, wanted: Wanted, reading: Reading | None, seconds: float) -> None:
        """Observe a look at Git, and show what it found and what is held."""
        self.look_seconds.observe(seconds)
        self.last_look.set_to_current_time()
        for severity in Severity:
            found = reading.findings if reading else ()
            self.findings.labels(severity).set(sum(item.severity is severity for item in found))
        self._show_holds(None, wanted.holds)
        self.refused.set(sum(hold.kind is HoldKind.OVER_BUDGET for hold in wanted.holds))

    def blind(self, error: PortError) -> None:
        """Count a look that failed."""
        self.look_failures.labels(type(error).__name__).inc()

    def requests_to(self, cluster: str) -> Callable[[str, str, int, float], None]:
        """Return what counts a request to a cluster: (verb, kind, code, seconds)."""

        def requested(verb: str, kind: str, code: int, seconds: float) -> None:
            self.requests.labels(cluster, verb, kind, str(code)).inc()
            self.request_seconds.labels(cluster, verb).observe(seconds)

        return requested

    def lagged(self, seconds: float) -> None:
        """Observe how late the event loop woke up."""
        self.loop_lag.observe(seconds)

    def follow_leader(self, leading: Callable[[], bool]) -> None:
        """Show whether this process decides, asked whenever the page is read.

        While it does not, it shows nothing of what only looks at Git and plans could tell.
        """
        self.leader.set_function(lambda: float(leading()))
        self._of_leader.leading = leading

    def leadership_changed(self) -> None:
        """Show nothing of an earlier term: what was held then may be gone since."""
        self._held.clear()
        self.holds.clear()
        self.findings.clear()
        self.refused.set(0)
        self.last_look.set(0)

    def _show_holds(self, source: WorkloadKey | None, holds: tuple[Hold, ...]) -> None:
        """Show the holds of one plan, or (None) of the repository."""
        before = self._held.get(source, set())
        held = {(_name(hold.key), str(hold.kind)) for hold in holds}
        if held == before:
            return
        self._held[source] = held
        elsewhere = set().union(*self._held.values())
        for gone in before - elsewhere:
            self.holds.remove(*gone)
        for place in held - before:
            self.holds.labels(*place).set(1)

    def _loop_metrics(self) -> None:
        registry = self.registry
        self.loop_lag = Histogram(
            "gamekeeper_loop_lag_seconds",
            "How late the event loop woke up",
            buckets=LAG_BUCKETS,
            registry=registry,
        )
        self.pass_seconds = Histogram(
            "gamekeeper_pass_seconds",
            "Time to plan every workload that was dirty",
            ["cluster"],
            buckets=TIME_BUCKETS,
            registry=registry,
        )
        self.leader = Gauge("gamekeeper_leader", "1 where this process decides", registry=registry)
        self.defects = Counter(
            "gamekeeper_defects",
            "Errors that are defects of Gamekeeper",
            ["cluster"],
            registry=registry,
        )

    def _work_metrics(self) -> None:
        registry = self.registry
        self.plans = Counter(
            "gamekeeper_plans",
            "Plans of a workload: idle, writes, removes (writes and removes), holds",
            ["cluster", "kind"],
            registry=registry,
        )
        self.steps = Counter(
            "gamekeeper_steps",
            "Steps of plans: done or failed",
            ["cluster", "verb", "result"],
            registry=registry,
        )
        self.removals = Counter(
            "gamekeeper_room_removals",
            "Rooms that were deleted, by why: deadline is a drain deadline, players or not",
            ["cluster", "cause"],
            registry=registry,
        )

    def _leader_metrics(self) -> None:
        registry = self._of_leader.registry
        self.holds = Gauge(
            "gamekeeper_held", "1 for each hold", ["workload", "kind"], registry=registry
        )
        self.refused = Gauge(
            "gamekeeper_refused", "Changes over budget that wait for an approval", registry=registry
        )
        self.findings = Gauge(
            "gamekeeper_findings", "Findings of the newest commit", ["severity"], registry=registry
        )
        self.last_look = Gauge(
            "gamekeeper_last_success_timestamp_seconds",
            "When Git was last taken in, in Unix seconds",
            registry=registry,
        )

    def _outside_metrics(self) -> None:
        registry = self.registry
        self.requests = Counter(
            "gamekeeper_api_requests",
            "Requests to the API server; code 0 is no answer",
            ["cluster", "verb", "kind", "code"],
            registry=registry,
        )
        self.request_seconds = Histogram(
            "gamekeeper_api_request_seconds",
            "Time of a request to the API server",
            ["cluster", "verb"],
            buckets=TIME_BUCKETS,
            registry=registry,
        )
        self.look_seconds = Histogram(
            "gamekeeper_git_look_seconds",
            "Time from asking Git to what is wanted",
            buckets=TIME_BUCKETS,
            registry=registry,
        )
        self.look_failures = Counter(
            "gamekeeper_git_failures", "Looks at Git that failed", ["reason"], registry=registry
        )


def _kind_of(plan: Plan) -> str:
    if plan.removals or plan.prunes:
        return "removes"
    if not plan.idle:
        return "writes"
    return "holds" if plan.holds else "idle"


def _name(key: WorkloadKey | None) -> str:
    return f"{key.kind}/{key.namespace}/{key.name}" if key else ""
