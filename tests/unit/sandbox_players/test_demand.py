"""How many players there are, and where a matchmaker sends them."""

import random
from pathlib import Path

import pytest

from reconciler.sandbox.players.demand import Tide, Trace
from reconciler.sandbox.players.matchmaker import Matchmaker

TRACES = sorted((Path(__file__).parents[3] / "benchmarks" / "traces").glob("*.csv"))
HOUR = 3600.0
HOLES = """\
time,players
2025-03-17T13:00:00Z,100
2025-03-17T14:00:00Z,0
2025-03-17T15:00:00Z,120
2025-03-17T16:00:00Z,10
2025-03-17T17:00:00Z,140
"""


def test_a_failed_reading_of_a_trace_is_not_an_empty_game() -> None:
    trace = Trace.read(HOLES, most=140, began=0.0)
    hours = [trace.players(at * HOUR) for at in range(4)]
    assert hours == [100, 110, 120, 130]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param("2025-03-17T13:00:00Z,100", id="one reading"),
        pytest.param("2025-03-17T13:00:00Z,9\n2025-03-17T13:00:00Z,9", id="twice the same moment"),
        pytest.param("2025-03-17T14:00:00Z,9\n2025-03-17T13:00:00Z,9", id="the newest first"),
    ],
)
def test_what_is_not_one_after_another_in_time_is_no_trace(rows: str) -> None:
    with pytest.raises(ValueError, match="one after another"):
        Trace.read(f"time,players\n{rows}\n", most=20, began=0.0)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_every_trace_can_be_played(path: Path) -> None:
    trace = Trace.read(path.read_text(), most=500, began=1000.0, speed=60.0)
    counts = [trace.players(1000.0 + at * 30.0) for at in range(3000)]
    assert max(counts) in range(450, 501)
    assert min(counts) >= 0
    if "launch" not in path.stem:
        assert min(counts) > 0


def test_there_are_traces() -> None:
    assert len(TRACES) == 6


def test_a_tide_is_the_same_for_a_seed_and_never_below_nobody() -> None:
    counts = [Tide(100.0, swing=1.0, noise=0.5, seed=7).players(at * 600.0) for at in range(400)]
    assert counts == [
        Tide(100.0, swing=1.0, noise=0.5, seed=7).players(at * 600.0) for at in range(400)
    ]
    assert min(counts) == 0
    assert max(counts) > 150


def test_a_matchmaker_acts_on_an_old_list() -> None:
    maker = Matchmaker(random.Random(1), oldest_seconds=10.0)
    assert maker.choose(0.0) is None
    for at in range(30):
        maker.listed(["old"] if at < 20 else ["new"], float(at))
    chosen = {maker.choose(25.0) for _ in range(200)}
    assert chosen == {"old", "new"}
    assert {maker.choose(31.0) for _ in range(200)} == {"new"}
