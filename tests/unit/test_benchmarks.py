"""Measurements run apart: one that breaks or hangs is told, and loses nothing but itself."""

from benchmarks.apart import measure_apart, summary


def test_a_measurement_that_breaks_is_told_from_one_that_misses() -> None:
    ended = measure_apart(["nobody-measures-this"], 60.0)

    assert not ended.passed
    assert ended.word == "**FAILED** (code 1)"


def test_a_measurement_that_hangs_is_ended_at_its_deadline() -> None:
    ended = measure_apart(["hostile"], 0.05)

    assert ended.word.startswith("**HUNG**")
    assert ended.seconds < 30.0
    assert "| hostile | **HUNG**" in summary([ended])
