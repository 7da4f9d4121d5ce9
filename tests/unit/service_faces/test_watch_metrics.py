from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from reconciler.model.errors import Unavailable, Unserved
from reconciler.service.views import ClusterView
from reconciler.service.watch_metrics import WatchMetrics
from tests.unit.service_views.scripted import INSTANCE, Scripted, VirtualClock

AGE, FAILURES = "gamekeeper_watch_age_seconds", "gamekeeper_watch_failures_total"


def _view(cluster: Any, clock: VirtualClock) -> ClusterView:
    return ClusterView(
        cluster,
        INSTANCE,
        clock,
        lambda keys: None,
        lambda ref, gone: None,
        elapsed=lambda: clock.at,
        kinds=("ConfigMap",),
    )


async def test_a_kind_that_is_followed_twice_is_one_series_of_the_longer_silence() -> None:
    clock = VirtualClock()
    began = clock.at
    view = _view(Scripted([("10", [])]), clock)
    WatchMetrics("eu", view, registry := CollectorRegistry())
    beside, records = (each for each in view.followed if each.followed.kind == "ConfigMap")
    clock.at += 90.0
    await records.read()
    for each in (beside, records):
        await each._recover(Unavailable("silent"), 0.0)
    clock.at += 10.0
    labels = {"cluster": "eu", "kind": "ConfigMap"}
    # `beside` was never told of anything, and `records` 90 s after the start.
    assert registry.get_sample_value(AGE, labels) == clock.at - began
    assert registry.get_sample_value(FAILURES, {**labels, "reason": "Unavailable"}) == 2
    await records._recover(Unserved("no such kind"), 0.0)
    assert not registry.get_sample_value(FAILURES, {**labels, "reason": "Unserved"})
    page = generate_latest(registry).decode().splitlines()
    assert len(page) == len(set(page))
