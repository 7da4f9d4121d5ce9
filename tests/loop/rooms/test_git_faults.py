"""A day of Git that fails in thirteen ways, with matches played: no room goes, and it is caught up.

Each hour is one test: six faults after each other, of some minutes each, now and then with a
leader that dies in it. While a fault lasts somebody wants one room more; once it is over, that room
is there within two intervals of the poll.
"""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.git.memory import MemoryHost
from reconciler.model.errors import Unavailable
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.lines import FarRepository, Line
from tests.loop.rooms.matches import full, in_match, marks
from tests.loop.rooms.service import RoomService
from tests.loop.rooms.wishes import Wish
from tests.loop.service import Service
from tests.loop.shares import share
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import CONFIG
from tests.scorecard import score

HOURS, FAULTS_AN_HOUR = 24, 6
POLL_SECONDS = 60.0
RECOVERED_SECONDS = 2 * POLL_SECONDS
HOUR_SECONDS = 3600.0
MOST_KIB = 512 * 1024
FORGET_THE_PEAK = "5"
"""What the kernel is told for its largest resident size to begin anew, see proc(5)."""


class GitHouse(Playhouse):
    """A playhouse of which every process reads Git over one line."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.line = Line()

    @property
    def host(self) -> MemoryHost:
        """The Git host."""
        return self.world.host

    @property
    def tip(self) -> str:
        """Where the branch stands."""
        return self.host.branches["main"]

    def _process(self, name: str) -> Service:
        service = RoomService(self.world, name, self.weather)
        service.head.repository = FarRepository(self.host, self.line)
        return service


def _limited(there: GitHouse) -> None:
    there.host.fault = Unavailable("too many requests", retry_after_seconds=POLL_SECONDS)


def _first(there: GitHouse) -> str:
    """The first commit of the branch, which has no specs."""
    host = there.host
    return next(each for each in host.ancestors(there.tip) if not host.commits[each].parents)


def _emptied(there: GitHouse) -> None:
    there.world.commit(dict.fromkeys(there.host.commits[there.tip].files))


def _broken(there: GitHouse) -> None:
    files = there.host.commits[there.tip].files
    halves = {path: text.decode()[: len(text) // 2] for path, text in files.items()}
    there.world.commit({path: f"<<<<<<< HEAD\n{text}" for path, text in halves.items()})


FAULTS: dict[str, Callable[[GitHouse], object]] = {
    "the host does not answer": lambda there: there.host.down(),
    "the credentials are refused": lambda there: there.host.denied(),
    "the repository is gone": lambda there: there.host.vanish(),
    "the host says: too many requests": _limited,
    "a fetch hangs": lambda there: setattr(there.line, "stalls", True),
    "two looks of three fail": lambda there: setattr(there.line, "flaps", True),
    "what was fetched cannot be read": lambda there: setattr(there.line, "unreadable", True),
    "the host tells of an old head": lambda there: setattr(there.line, "old", _first(there)),
    "the branch is gone": lambda there: there.host.branches.pop("main"),
    "another project is pushed over it": lambda there: there.host.rewrite({"README.md": "other\n"}),
    "it is set back to its beginning": lambda there: there.host.branch("main", _first(there)),
    "a commit empties it": _emptied,
    "every file is cut off in a conflict": _broken,
}
KINDS = list(FAULTS)


async def _hour(number: int) -> int:
    """Play an hour; return how many recoveries were late."""
    chance = random.Random(number)
    late = 0
    async with in_match(free=1, config=CONFIG, made=GitHouse) as (there, wish):
        assert isinstance(there, GitHouse)
        begun, standing, playing = elapsed(), set(marks(there)), full(there)
        for each in range(FAULTS_AN_HOUR):
            kind = KINDS[(number * FAULTS_AN_HOUR + each) % len(KINDS)]
            await _fails(there, wish, kind, chance)
            late += await _recovered(there, wish) > RECOVERED_SECONDS
            assert not standing - set(marks(there)), kind
            standing = set(marks(there))
            assert playing <= full(there), kind
            assert "draining" not in marks(there).values(), kind
        assert elapsed() - begun < HOUR_SECONDS, "the hour is longer"
        await asyncio.sleep(HOUR_SECONDS - (elapsed() - begun))
        assert standing == set(marks(there))
        assert not [call for call in there.writes if call.verb == "delete"]
    return late


async def _fails(there: GitHouse, wish: Wish, kind: str, chance: random.Random) -> None:
    """Let Git fail for some minutes, while one room more is wanted and perhaps a leader dies."""
    await asyncio.sleep(chance.uniform(1.0, 40.0))
    name = chance.choice(sorted(wish.pieces))
    wish.change(name, wish.wanted[name][0] + 1, 1)
    tip, there.line.met = there.tip, 0
    FAULTS[kind](there)
    seconds = chance.uniform(120.0, 420.0)
    await asyncio.sleep(seconds / 2)
    if chance.random() < 0.3:
        await there.services[-1].kill()
        there.start(f"process-{len(there.services)}")
    await asyncio.sleep(seconds / 2)
    assert there.line.met or there.tip != tip, f"{kind}: nobody met it"
    there.host.heal()
    there.line.calm()
    there.host.branch("main", tip)


async def _recovered(there: GitHouse, wish: Wish) -> float:
    """Wait until what is wanted is there; return how long that took (seconds)."""
    wanted = sum(rooms for rooms, _ in wish.wanted.values())

    def is_there() -> bool:
        ready = [mark for mark in marks(there).values() if mark in ("idle", "busy")]
        return len(ready) == wanted

    return await there.until("one room more", is_there, 4 * RECOVERED_SECONDS)


def _memory_kib(field: str) -> int:
    """Return a line of what the kernel tells of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


@pytest.mark.long
@pytest.mark.parametrize("number", share(range(HOURS), "hours of Git faults"))
def test_no_fault_of_git_takes_a_room_and_each_is_caught_up_with(number: int) -> None:
    score(15, hours=1, faults=FAULTS_AN_HOUR, late=0, failed=1)
    Path("/proc/self/clear_refs").write_text(FORGET_THE_PEAK, encoding="ascii")
    before = _memory_kib("VmRSS")
    late = in_virtual_time(_hour(number))
    # House, games and processes together, beside what the tests before left in this process.
    grown = _memory_kib("VmHWM") - before
    score(15, late=late, most_KiB_of_an_hour=grown)
    assert not late
    assert grown <= MOST_KIB
    score(15, failed=-1)


def test_a_day_has_every_fault_more_than_once() -> None:
    assert len(KINDS) >= 12
    assert 2 * len(KINDS) <= HOURS * FAULTS_AN_HOUR
