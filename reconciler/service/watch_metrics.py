"""What Prometheus reads of the watches: a stall of one leaves no other trace on the page.

Its request was answered when it was opened, and what was known then goes on being known.
"""

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from reconciler.service.views import ClusterView


class WatchMetrics:
    """Tells of each kind when the server last said something, and how often its watch failed.

    A collector of the page of metrics.
    """

    def __init__(self, cluster: str, view: ClusterView, registry: CollectorRegistry) -> None:
        self._cluster = cluster
        self._view = view
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield what is known now."""
        age = GaugeMetricFamily(
            "gamekeeper_watch_age_seconds",
            "Since the API server last told something of a kind: a list, an event, a bookmark",
            labels=["cluster", "kind"],
        )
        failures = CounterMetricFamily(
            "gamekeeper_watch_failures",
            "Watches and lists of a kind that failed, or said nothing for 75 s",
            labels=["cluster", "kind", "reason"],
        )
        silent, failed = dict[str, float](), Counter[tuple[str, str]]()
        for each in self._view.followed:
            kind = each.followed.kind  # of ConfigMaps, records and those beside rooms are apart
            if not each.unserved:
                silent[kind] = max(silent.get(kind, 0.0), each.silent_seconds)
            failed.update({(kind, reason): count for reason, count in each.failures.items()})
        for kind, seconds in silent.items():
            age.add_metric([self._cluster, kind], seconds)
        for place, count in failed.items():
            failures.add_metric([self._cluster, *place], count)
        yield from (age, failures)
