"""What Prometheus reads of notifications; labels are kinds of targets, never their names."""

from collections.abc import Callable
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge

from reconciler.core.code_hosts import Host
from reconciler.model.notifications import Form
from reconciler.service.notifications.line import Result


class NotificationMetrics:
    """Counts deliveries, and shows how many targets are not reached."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._delivered = Counter(
            "gamekeeper_notifications",
            "Messages sent, given up or left out, and attempts that failed, by kind of target",
            ["kind", "result"],
            registry=registry,
        )
        for kind in (*Form, *Host):
            for result in get_args(Result):
                self._delivered.labels(kind, result)
        self._failing = Gauge(
            "gamekeeper_notification_targets_failing",
            "Targets of notifications that are not reached now",
            registry=registry,
        )

    def follow(self, failing: Callable[[], int]) -> None:
        """Show how many targets fail, asked whenever the page is read."""
        self._failing.set_function(lambda: float(failing()))

    def delivered(self, kind: str, result: Result) -> None:
        """Count what became of a message or an attempt."""
        self._delivered.labels(kind, result).inc()
