"""What a campaign plays: tests, each with which part of what they count."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.e2e.test_real_kills import SETTING as KILLED
from tests.loop.rooms.seeds import SETTING as SEEDS
from tests.loop.shares import SETTING as SHARE
from tests.loop.sweeps import ALL
from tests.loop.sweeps import SETTING as SWEEPS

Rows = tuple[int, ...]
Arguments = tuple[str, ...]
WEATHER = "tests/loop/rooms/test_rooms_weather.py"
PLAYED_ON = "tests/loop/rooms/test_played_on.py"
REPLAYS = "tests/loop/rooms/test_seeds.py"
TRANSITIONS = "tests/loop/test_transitions.py"
IN_MATCH = "tests/loop/rooms/test_edits_in_match.py"
REST = "tests/loop/rooms/test_rest.py"
ARRIVING = "tests/unit/service_faces/test_forged_deliveries.py"
SWEPT: tuple[tuple[str, Rows, Arguments], ...] = (
    ("what vanishes", (11,), ("tests/loop/rooms/test_vanishing.py",)),
    ("deaths at files and git", (1,), ("tests/unit/adapters_git/test_crash_points.py",)),
    ("deaths around a push", (1,), ("tests/loop/rooms/test_deaths_around_a_push.py",)),
    ("specs with mistakes", (8,), (TRANSITIONS, "-k", "mistake")),
    ("planted bugs", (7,), ("tests/loop/test_planted_bugs.py",)),
    ("planted bugs with rooms", (7,), ("tests/loop/rooms/test_planted_room_bugs.py",)),
    ("planted bugs of ports", (7,), ("tests/loop/rooms/test_ports.py", "-k", "caught")),
    ("planted bugs with counts", (7,), ("tests/loop/scaling/test_planted_count_bugs.py",)),
    ("watches that break", (3,), ("tests/loop/test_watch_faults.py",)),
    ("storms", (25,), ("tests/loop/rooms/test_storm.py",)),
    ("stalls", (25,), ("tests/loop/test_watch_stalls.py",)),
    ("hostile repositories", (16,), ("tests/corpora/test_repositories.py",)),
    ("hostile YAML", (17,), ("tests/corpora/test_yaml.py",)),
    ("hostile templates", (18,), ("tests/corpora/test_jinja.py",)),
    ("forged webhooks", (20,), ("tests/unit/core/test_hook_signatures.py",)),
    ("webhooks that are sent again", (20,), ("tests/unit/service_faces/test_faces.py",)),
    ("forged webhooks that arrive", (20,), (ARRIVING,)),
)
"""Tests that are played as a whole: name, rows, what pytest is given."""
SECRETS = ("tests/unit", "tests/contract", "tests/e2e", "tests/canaries", "-m", "not real")
"""Where secrets are planted: in all that needs no control plane but what plays rooms."""
SHARED: tuple[tuple[str, Rows, Arguments, int], ...] = (
    ("deaths", (1, 4), (PLAYED_ON, "-k", "dies"), 10),
    ("failures", (2, 4), (PLAYED_ON, "-k", "fails or cannot_be_opened"), 60),
    ("old reads", (3, 4), (PLAYED_ON, "-k", "old"), 5),
    ("hours of Git faults", (15,), ("tests/loop/rooms/test_git_faults.py",), 1),
    ("fuzzing", (19,), ("tests/fuzz",), 20),
    ("replays", (6,), (REPLAYS, "-k", "the_same_run or two_runs"), 5),
    ("transitions", (8,), (TRANSITIONS, "-k", "began"), 5),
    ("transitions in match", (8,), (IN_MATCH,), 10),
    ("rest", (5,), (REST, "-k", "disturbed or mishap"), 1),
    ("two leaders", (10,), ("tests/loop/rooms/test_two_leaders.py",), 1),
    ("split reports", (10,), ("tests/loop/rooms/test_split_reports.py",), 1),
)
"""Tests that play a share of their points, and into how many pieces they are cut."""
ANYWHERE = 22
"""The row of secrets: whatever is played, what it says is searched for them."""
MOST_SEEDS, SEEDS_EACH = 1000, 50
KILLS = "tests/e2e/test_real_kills.py"
MOST_KILLS, KILLS_EACH = 200, 20
"""A test that takes a quarter of an hour is ended: so many it plays in time, if each is as slow as
it may be."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One run of pytest: what it is given, and what the environment says besides.

    `rows` are those of the scorecard that it is played for. What its tests count of others besides
    is that of another piece, but for what is counted `ANYWHERE`. One that `waits` is made of
    processes and deadlines, and computes little.
    """

    name: str
    arguments: Arguments
    setting: str = ""
    value: str = ""
    waits: bool = False
    rows: Rows = ()

    def counts(self, row: int) -> bool:
        """Whether figures of a row are this piece's to tell."""
        return row == ANYWHERE or row in self.rows


def pieces() -> Iterator[Piece]:
    """Yield all there is to play; each takes some minutes."""
    for name, rows, arguments in SWEPT:
        yield Piece(name, arguments, SWEEPS, ALL, rows=rows)
    yield Piece("secrets", SECRETS, waits=True, rows=(ANYWHERE,))
    for name, rows, arguments, parts in SHARED:
        for part in range(parts):
            share = f"{part}/{parts}"
            yield Piece(f"{name} {share}", arguments, SHARE, share, rows=rows)
    for seeds in _ranges(MOST_SEEDS, SEEDS_EACH):
        yield Piece(f"seeds {seeds}", (WEATHER,), SEEDS, seeds, rows=(3, 6))
    for kills in _ranges(MOST_KILLS, KILLS_EACH):
        # On the control plane that `make real` builds.
        yield Piece(f"kills {kills}", (KILLS,), KILLED, kills, waits=True, rows=(9,))


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
