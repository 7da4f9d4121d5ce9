"""What Prometheus reads of rooms and their reports; who counts them calls plain methods.

Numbers are kept as numbers and made into series when the page is read: a report costs one entry
of a dictionary, and no label grows beyond what Git holds.
"""

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterator
from typing import Literal, Protocol

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from reconciler.model.rooms import Mark
from reconciler.room_ports import Taken, Way

Flipped = Literal["done", "dropped", "failed", "contested"]
"""What became of a flip: written; not needed any more; the cluster did not take it; somebody set
it back again and again, which is counted once for as long as they do."""

FLIP_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class RoomObserver(Protocol):
    """Who counts what rooms say and what becomes of it. Nothing here may raise, or wait."""

    def reported(self, way: Way, result: Taken) -> None:
        """A room said something of itself, or somebody tried to."""

    def flipped(self, to: Mark, result: Flipped, seconds: float) -> None:
        """A room's mark was to be `to`; `seconds` is from the report until the server's answer."""

    def swept(self, oldest_report_seconds: float) -> None:
        """The sweep over all rooms came round: how long the quietest pinging room is silent."""


class Unobserved:
    """Counts nothing."""

    def reported(self, way: Way, result: Taken) -> None:
        """Count nothing."""

    def flipped(self, to: Mark, result: Flipped, seconds: float) -> None:
        """Count nothing."""

    def swept(self, oldest_report_seconds: float) -> None:
        """Count nothing."""


class Spread:
    """A histogram of seconds, counted without a lock: one thread observes."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def add_to(self, family: HistogramMetricFamily, labels: list[str]) -> None:
        """Write it as a series of a family."""
        buckets, total = [], 0
        names = [*(str(bound) for bound in self._bounds), "+Inf"]
        for name, count in zip(names, self._counts, strict=True):
            total += count
            buckets.append((name, total))
        family.add_metric(labels, buckets, self._sum)


class RoomMetrics:
    """Counts reports and flips; a collector of the page of metrics."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reports: Tally[tuple[Way, Taken]] = Tally()
        self._flips: Tally[tuple[Mark, Flipped]] = Tally()
        self._flip_seconds = Spread(FLIP_BUCKETS)
        self._oldest_report_seconds = 0.0
        registry.register(self)

    def reported(self, way: Way, result: Taken) -> None:
        """Count a report."""
        self._reports[way, result] += 1

    def flipped(self, to: Mark, result: Flipped, seconds: float) -> None:
        """Count a flip; one that was written, with its time."""
        self._flips[to, result] += 1
        if result == "done":
            self._flip_seconds.observe(seconds)

    def swept(self, oldest_report_seconds: float) -> None:
        """Show the age of the oldest last report."""
        self._oldest_report_seconds = oldest_report_seconds

    def collect(self) -> Iterator[Metric]:
        """Write the series."""
        reports = CounterMetricFamily(
            "gamekeeper_room_reports",
            "Reports of rooms, by whose paths they came on and what became of them",
            labels=["path", "result"],
        )
        for (way, taken), count in list(self._reports.items()):
            reports.add_metric([way, taken], count)
        yield reports
        flips = CounterMetricFamily(
            "gamekeeper_room_flips",
            "State labels of rooms that were to change: done, dropped (unsaid meanwhile), failed, "
            "contested (somebody sets them back)",
            labels=["to", "result"],
        )
        for (mark, flipped), count in list(self._flips.items()):
            flips.add_metric([mark.value or "none", flipped], count)
        yield flips
        seconds = HistogramMetricFamily(
            "gamekeeper_room_flip_seconds",
            "Time from the report that changes a room's state to the server's answer",
        )
        self._flip_seconds.add_to(seconds, [])
        yield seconds
        yield GaugeMetricFamily(
            "gamekeeper_room_report_age_seconds",
            "How long ago the quietest room that reports periodically was last heard",
            value=self._oldest_report_seconds,
        )
