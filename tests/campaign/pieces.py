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
    for part in range(10):
        share = f"{part}/10"
        yield Piece(f"deaths {share}", (PLAYED_ON, "-k", "dies"), SHARE, share)
    for part in range(50):
        share = f"{part}/50"
        yield Piece(f"failures {share}", (PLAYED_ON, "-k", "fails"), SHARE, share)
    for part in range(20):
        share = f"{part}/20"
        yield Piece(f"fuzzing {share}", ("tests/fuzz",), SHARE, share)
    for seeds in _ranges(MOST_SEEDS, SEEDS_EACH):
        yield Piece(f"seeds {seeds}", (WEATHER,), SEEDS, seeds)
    for kills in _ranges(MOST_KILLS, KILLS_EACH):
        # On the control plane that `make real` builds.
        yield Piece(f"kills {kills}", (KILLS,), KILLED, kills)


def _ranges(most: int, each: int) -> Iterator[str]:
    for first in range(0, most, each):
        yield f"{first}-{first + each - 1}"
