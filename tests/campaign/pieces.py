"""What a campaign plays: tests, each with which part of what they count."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.e2e.test_real_kills import SETTING as KILLED
from tests.loop.rooms.seeds import SETTING as SEEDS
from tests.loop.shares import SETTING as SHARE
from tests.loop.sweeps import ALL
from tests.loop.sweeps import SETTING as SWEEPS

WEATHER = "tests/loop/rooms/test_rooms_weather.py"
PLAYED_ON = "tests/loop/rooms/test_played_on.py"
REPLAYS = "tests/loop/rooms/test_seeds.py"
TRANSITIONS = "tests/loop/test_transitions.py"
REST = "tests/loop/rooms/test_rest.py"
SWEPT = (
    ("what vanishes", ("tests/loop/rooms/test_vanishing.py",)),
    ("deaths at files and git", ("tests/unit/adapters_git/test_crash_points.py",)),
    ("specs with mistakes", (TRANSITIONS, "-k", "mistake")),
    ("planted bugs", ("tests/loop/test_planted_bugs.py",)),
    ("planted bugs with rooms", ("tests/loop/rooms/test_planted_room_bugs.py",)),
    ("planted bugs with counts", ("tests/loop/scaling/test_planted_count_bugs.py",)),
    ("storms", ("tests/loop/rooms/test_storm.py",)),
    ("hostile repositories", ("tests/corpora/test_repositories.py",)),
    ("hostile YAML", ("tests/corpora/test_yaml.py",)),
    ("hostile templates", ("tests/corpora/test_jinja.py",)),
    ("forged webhooks", ("tests/unit/core/test_hook_signatures.py",)),
    ("webhooks that are sent again", ("tests/unit/service_faces/test_faces.py",)),
    ("secrets", ("tests/canaries",)),
)
"""Tests that are played as a whole."""
SHARED = (
    ("deaths", (PLAYED_ON, "-k", "dies"), 10),
    ("failures", (PLAYED_ON, "-k", "fails"), 60),
    ("old reads", (PLAYED_ON, "-k", "old"), 5),
    ("hours of Git faults", ("tests/loop/rooms/test_git_faults.py",), 1),
    ("fuzzing", ("tests/fuzz",), 20),
    ("replays", (REPLAYS, "-k", "the_same_run"), 5),
    ("transitions", (TRANSITIONS, "-k", "began"), 5),
    ("rest", (REST, "-k", "disturbed"), 1),
    ("two leaders", ("tests/loop/rooms/test_two_leaders.py",), 1),
)
"""Tests that play a share of their points, and into how many pieces they are cut."""
MOST_SEEDS, SEEDS_EACH = 1000, 50
KILLS = "tests/e2e/test_real_kills.py"
MOST_KILLS, KILLS_EACH = 200, 50


@dataclass(frozen=True, slots=True)
class Piece:
    """One run of pytest: what it is given, and what the environment says besides.

    One that `waits` is made of processes and deadlines, and computes little.
    """

    name: str
    arguments: tuple[str, ...]
    setting: str = ""
    value: str = ""
    waits: bool = False


def pieces() -> Iterator[Piece]:
    """Yield all there is to play; each takes some minutes."""
    for name, arguments in SWEPT:
        yield Piece(name, arguments, SWEEPS, ALL)
    for name, arguments, parts in SHARED:
        for part in range(parts):
            share = f"{part}/{parts}"
            yield Piece(f"{name} {share}", arguments, SHARE, share)
    for seeds in _ranges(MOST_SEEDS, SEEDS_EACH):
        yield Piece(f"seeds {seeds}", (WEATHER,), SEEDS, seeds)
    for kills in _ranges(MOST_KILLS, KILLS_EACH):
        # On the control plane that `make real` builds.
        yield Piece(f"kills {kills}", (KILLS,), KILLED, kills, waits=True)


def taken(queue: list[Piece], played: Iterable[Piece]) -> Piece:
    """Take the piece that is to be played beside those that are played now.

    One that waits and one that computes go well together: two of a kind take turns, or contend.
    """
    waits = not any(piece.waits for piece in played)
    chosen = next((piece for piece in queue if piece.waits == waits), queue[0])
    queue.remove(chosen)
    return chosen


def _ranges(most: int, each: int) -> Iterator[str]:
    for first in range(0, most, each):
        yield f"{first}-{first + each - 1}"
