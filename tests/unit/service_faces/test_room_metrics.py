"""What rooms say, counted: few labels, and nothing lost between two looks at the page."""

from prometheus_client import CollectorRegistry, generate_latest

from reconciler.model.rooms import Mark
from reconciler.service.room_metrics import RoomMetrics, RoomObserver


def test_reports_are_counted_by_path_and_result() -> None:
    registry = CollectorRegistry()
    observer: RoomObserver = RoomMetrics(registry)
    observer.reported("maestro", "taken")
    observer.reported("maestro", "taken")
    observer.reported("collections", "refused")
    read = registry.get_sample_value
    name = "gamekeeper_room_reports_total"
    assert read(name, {"path": "maestro", "result": "taken"}) == 2
    assert read(name, {"path": "collections", "result": "refused"}) == 1


def test_only_a_flip_that_was_written_counts_into_the_time_of_flips() -> None:
    registry = CollectorRegistry()
    metrics = RoomMetrics(registry)
    metrics.flipped(Mark.BUSY, "done", 0.02)
    metrics.flipped(Mark.BUSY, "failed", 30.0)
    metrics.flipped(Mark.IDLE, "dropped", 4.0)
    read = registry.get_sample_value
    assert read("gamekeeper_room_flips_total", {"to": "busy", "result": "failed"}) == 1
    assert read("gamekeeper_room_flip_seconds_count", {}) == 1
    assert read("gamekeeper_room_flip_seconds_sum", {}) == 0.02
    assert read("gamekeeper_room_flip_seconds_bucket", {"le": "0.01"}) == 0
    assert read("gamekeeper_room_flip_seconds_bucket", {"le": "0.025"}) == 1
    assert read("gamekeeper_room_flip_seconds_bucket", {"le": "+Inf"}) == 1


def test_the_sweep_shows_the_age_of_the_oldest_last_report() -> None:
    registry = CollectorRegistry()
    metrics = RoomMetrics(registry)
    metrics.swept(17.5)
    assert registry.get_sample_value("gamekeeper_room_report_age_seconds") == 17.5
    assert b"# TYPE gamekeeper_room_report_age_seconds gauge" in generate_latest(registry)
