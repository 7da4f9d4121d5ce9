"""What a campaign plays: tests, each with which part of what they count."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.e2e.test_real_kills import SETTING as KILLED
from tests.loop.rooms.seeds import SETTING as SEEDS
from tests.loop.shares import SETTING as SHARE
from tests.loop.sweeps import ALL
from tests.loop.sweeps import SETTING as SWEEPS

WEATHER = "tests/loop/rooms/test_rooms_weather.py"
PLAYED_ON = "tests/loop/rooms/test_played_on.py"
GIT_DEATHS = "tests/unit/adapters_git/test_crash_points.py"
GIT_FAULTS = "tests/loop/rooms/test_git_faults.py"
REPLAYS = "tests/loop/rooms/test_seeds.py"
TRANSITIONS = "tests/loop/test_transitions.py"
REST = "tests/loop/rooms/test_rest.py"
TWO_LEADERS = "tests/loop/rooms/test_two_leaders.py"
SHARED = (
    ("deaths", (PLAYED_ON, "-k", "dies"), 10),
    ("failures", (PLAYED_ON, "-k", "fails"), 50),
    ("hours of Git faults", (GIT_FAULTS,), 1),
    ("fuzzing", ("tests/fuzz",), 20),
    ("replays", (REPLAYS, "-k", "the_same_run"), 5),
    ("transitions", (TRANSITIONS, "-k", "began"), 5),
    ("rest", (REST, "-k", "disturbed"), 1),
    ("two leaders", (TWO_LEADERS,), 1),
)
"""Tests that play a share of their points, and into how many pieces they are cut."""
MOST_SEEDS, SEEDS_EACH = 1000, 50
KILLS = "tests/e2e/test_real_kills.py"
MOST_KILLS, KILLS_EACH = 200, 50


@dataclass(frozen=True, slots=True)
class Piece:
    """One run of pytest: what it is given, and what the environment says besides."""

    name: str
    arguments: tuple[str, ...]
    setting: str = ""
    value: str = ""


def pieces() -> Iterator[Piece]:
    """Yield all there is to play; each takes some minutes."""
    yield Piece("what vanishes", ("tests/loop/rooms/test_vanishing.py",), SWEEPS, ALL)
    yield Piece("deaths at files and git", (GIT_DEATHS,), SWEEPS, ALL)
    yield Piece("specs with mistakes", (TRANSITIONS, "-k", "mistake"), SWEEPS, ALL)
    for name, arguments, parts in SHARED:
        for part in range(parts):
            share = f"{part}/{parts}"
            yield Piece(f"{name} {share}", arguments, SHARE, share)
    for seeds in _ranges(MOST_SEEDS, SEEDS_EACH):
        yield Piece(f"seeds {seeds}", (WEATHER,), SEEDS, seeds)
    for kills in _ranges(MOST_KILLS, KILLS_EACH):
        # On the control plane that `make real` builds.
        yield Piece(f"kills {kills}", (KILLS,), KILLED, kills)


def _ranges(most: int, each: int) -> Iterator[str]:
    for first in range(0, most, each):
        yield f"{first}-{first + each - 1}"
