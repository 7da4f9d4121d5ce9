"""The rooms of a workload in numbers, and these as series of the page of metrics."""

from bisect import bisect_left, bisect_right
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.core import GaugeMetricFamily, Metric

from reconciler.core.rollup import Rollup
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import PortRange

Cell = tuple[str, ...]
"""The labels of a series, beside cluster and workload."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """The rooms of one workload, counted by (state, revision), by protection, by why they leave.

    `up` are those that are ready, with players in them or not, and stay.
    """

    desired: int
    up: int
    states: Tally[Cell]
    protected: Tally[Cell]
    leaving: Tally[Cell]
    ports: tuple[int, int] | None = None
    """How many host ports of its range somebody uses, and how many there are."""
    rollup: Rollup | None = None
    """The face of a fleet."""


class PortUse:
    """Which host ports somebody uses, in order."""

    def __init__(self, used: list[int]) -> None:
        self._used = used

    def of(self, ports: PortRange | None) -> tuple[int, int] | None:
        """Return how many of a range are in use, and how many it has; None without a range."""
        if ports is None:
            return None
        used = bisect_right(self._used, ports.end) - bisect_left(self._used, ports.start)
        return used, ports.end - ports.start + 1


def families(cluster: str, tallies: Sequence[tuple[WorkloadKey, Tallies]]) -> Iterator[Metric]:
    """Write the series of every workload that was counted."""
    for family, cells in _families():
        for key, tally in tallies:
            for cell, number in cells(tally).items():
                family.add_metric([cluster, _named(key), *cell], number)
        yield family
    yield from _count_families(cluster, tallies)
    yield from _fleet_families(cluster, tallies)


def _fleet_families(
    cluster: str, tallies: Sequence[tuple[WorkloadKey, Tallies]]
) -> Iterator[GaugeMetricFamily]:
    place = ["cluster", "workload"]
    available = GaugeMetricFamily(
        "gamekeeper_fleet_available", "Rooms of a fleet that are healthy and run", labels=place
    )
    health = GaugeMetricFamily(
        "gamekeeper_fleet_health",
        "1 for the health of a fleet: of its first room that is not Healthy",
        labels=[*place, "health"],
    )
    pods = GaugeMetricFamily(
        "gamekeeper_fleet_pods",
        "1 for the state of a fleet's pods: of its first one that is not Running",
        labels=[*place, "state"],
    )
    for key, tally in tallies:
        if tally.rollup is not None:
            name = _named(key)
            available.add_metric([cluster, name], tally.rollup.available)
            health.add_metric([cluster, name, tally.rollup.health.value], 1)
            pods.add_metric([cluster, name, tally.rollup.pods.value], 1)
    yield from (available, health, pods)


def _families() -> Iterator[tuple[GaugeMetricFamily, Callable[[Tallies], Tally[Cell]]]]:
    place = ["cluster", "workload"]
    yield (
        GaugeMetricFamily(
            "gamekeeper_rooms",
            "Rooms by state and revision (new, old): each counts once",
            labels=[*place, "state", "revision"],
        ),
        lambda tallies: tallies.states,
    )
    yield (
        GaugeMetricFamily(
            "gamekeeper_rooms_protected",
            "Rooms that may not be removed: players, unheard, ending, kept",
            labels=[*place, "reason"],
        ),
        lambda tallies: tallies.protected,
    )
    yield (
        GaugeMetricFamily(
            "gamekeeper_rooms_leaving",
            "Rooms that are to leave, by why; those with players stay to the end",
            labels=[*place, "why"],
        ),
        lambda tallies: tallies.leaving,
    )


def _count_families(
    cluster: str, tallies: Sequence[tuple[WorkloadKey, Tallies]]
) -> Iterator[GaugeMetricFamily]:
    labels = ["cluster", "workload"]
    used = GaugeMetricFamily(
        "gamekeeper_host_ports_used",
        "Host ports of a workload's range that any pod of the cluster uses",
        labels=labels,
    )
    size = GaugeMetricFamily(
        "gamekeeper_host_ports_size", "Host ports of a workload's range", labels=labels
    )
    desired = GaugeMetricFamily(
        "gamekeeper_rooms_desired", "Rooms that a workload is to have", labels=labels
    )
    up = GaugeMetricFamily(
        "gamekeeper_rooms_up",
        "Rooms of a workload that are ready, with players in them or not, and stay",
        labels=labels,
    )
    for key, tally in tallies:
        place = [cluster, _named(key)]
        desired.add_metric(place, tally.desired)
        up.add_metric(place, tally.up)
        if tally.ports is not None:
            used.add_metric(place, tally.ports[0])
            size.add_metric(place, tally.ports[1])
    yield from (desired, up, used, size)


def _named(key: WorkloadKey) -> str:
    return f"{key.kind}/{key.namespace}/{key.name}"
