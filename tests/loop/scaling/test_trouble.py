"""What goes wrong between us and Git: each is told, stops no room, and is made good in the end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.model.errors import Conflict, Denied, PortError, Unavailable
from reconciler.model.pushes import Change
from reconciler.service.lease import NoLease
from tests.loop.scaling.house import FILE, Habits, ScalingService, Scene, scaled, scene
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import World

TIMES = [{"from": f"08:{2 * n:02}", "to": "20:00", "replicas": 2 + n} for n in range(1, 6)]
"""One room more at 08:02, 08:04, …, 08:10: seven in the end. The world begins at 08:00."""


@dataclass(frozen=True)
class Trouble:
    """One way in which nothing can be pushed; `says` are words of what is told."""

    name: str
    begin: Callable[[MemoryHost], None]
    says: str


def _refuses(error: PortError) -> Callable[[MemoryHost], None]:
    def begin(host: MemoryHost) -> None:
        host.refusal = error

    return begin


def _protects(sentence: str) -> Callable[[MemoryHost], None]:
    def begin(host: MemoryHost) -> None:
        host.protected["main"] = sentence

    return begin


TROUBLES = (
    Trouble("a protected branch", _protects("protected branch hook declined"), "protected branch"),
    Trouble("a hook that rejects", _protects("every commit names a ticket"), "names a ticket"),
    Trouble("an expired token", MemoryHost.denied, "credentials"),
    Trouble("a token that may only read", _refuses(Denied("may not write: 403")), "403"),
    Trouble("a read-only mirror", _refuses(Denied("this mirror is read-only")), "read-only"),
    Trouble("a full disk of the host", _refuses(Unavailable("no space left there")), "no space"),
    Trouble("a repository that is gone", MemoryHost.vanish, "no such repository"),
    Trouble("a host that is down", MemoryHost.down, "does not answer"),
    Trouble("a lock left behind", _refuses(Conflict("main.lock: File exists")), "File exists"),
)


@pytest.mark.long
@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_rooms_follow_demand_the_trouble_is_told_and_one_commit_makes_it_good(
    trouble: Trouble,
) -> None:
    async def main() -> None:
        async with scene(scaled(2, TIMES)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            trouble.begin(there.world.host)
            for count in range(3, 8):
                await there.until(f"{count} rooms", partial(there.has_rooms, count), 180.0)
            await asyncio.sleep(120.0)
            assert there.count_in_git() == 2
            told = there.ledgers[0].troubles
            assert trouble.says in str(told[0])
            assert 3 <= len(told) <= 40, "tried again, and not every second"
            there.world.host.heal()
            await there.until("seven in Git", lambda: there.count_in_git() == 7, 700.0)
            assert there.subjects() == ["Scale arena to 7", "change", "change"]
            assert there.told("arena") == [(n, n + 1) for n in range(2, 7)]

    in_virtual_time(main())


LONG = [
    ("a host that is down", MemoryHost.down, 2),
    ("a full disk of the host", _refuses(Unavailable("no space left there")), 25),
    ("a protected branch", _protects("protected branch hook declined"), 4),
    ("a lock left behind", _refuses(Conflict("main.lock: File exists")), 2),
]


@pytest.mark.long
@pytest.mark.parametrize(("begin", "most"), [each[1:] for each in LONG], ids=[e[0] for e in LONG])
def test_a_trouble_that_lasts_does_not_fill_the_record_with_commits_that_are_nowhere(
    begin: Callable[[MemoryHost], None], most: int
) -> None:
    async def main() -> None:
        async with scene(scaled(2, TIMES[:1])) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            begin(there.world.host)
            await there.until("three rooms", lambda: there.rooms() == 3, 300.0)
            await asyncio.sleep(1800.0)
            assert there.leader is not None
            assert 1 <= len(there.leader.lane.store.repository.pushed) <= most
            there.world.host.heal()
            await there.until("three in Git", lambda: there.count_in_git() == 3, 700.0)
            assert there.head() in there.leader.lane.store.repository.pushed

    in_virtual_time(main())


class FullDisk(MemoryRepository):
    """A mirror on a disk that is full half-way through a commit."""

    full = False

    async def write(self, change: Change) -> str:
        """Fail where there is no room left."""
        if self.full:
            raise Unavailable("the commit cannot be written into the mirror: No space left")
        return await super().write(change)


@pytest.mark.long
def test_a_disk_that_is_full_in_the_middle_of_a_commit_stops_no_room() -> None:
    async def main() -> None:
        made: list[FullDisk] = []

        def opened(world: World, name: str) -> FullDisk:
            made.append(FullDisk(world.host))
            made[-1].full = True
            return made[-1]

        async with scene(scaled(2, TIMES), Habits(repository=opened)) as there:
            there.start("one")
            await there.until("seven rooms", lambda: there.rooms() == 7, 1800.0)
            await asyncio.sleep(300.0)
            assert there.count_in_git() == 2
            assert "No space left" in str(there.ledgers[0].troubles[0])
            made[0].full = False
            await there.until("seven in Git", lambda: there.count_in_git() == 7, 400.0)
            assert there.subjects()[:2] == ["Scale arena to 7", "change"]

    in_virtual_time(main())


def _reset(there: Scene) -> None:
    """Take our newest commit off the branch again."""
    host = there.world.host
    [parent] = host.commits[host.branches["main"]].parents
    host.branch("main", parent)


def _rewritten(there: Scene) -> None:
    """Push a history that nobody knew, with the number of before."""
    host = there.world.host
    files = dict(host.commits[host.branches["main"]].files)
    files[FILE] = scaled(2, TIMES).encode()
    host.rewrite(files)


@pytest.mark.long
@pytest.mark.parametrize("force", [_reset, _rewritten], ids=["set back", "rewritten"])
def test_a_force_push_over_our_commit_is_a_persons_word(force: Callable[[Scene], None]) -> None:
    async def main() -> None:
        async with scene(scaled(2, TIMES)) as there:
            there.start("one")
            await there.until("three in Git", lambda: there.count_in_git() == 3, 500.0)
            await asyncio.sleep(30.0)
            force(there)
            await there.until("two rooms", lambda: there.rooms() == 2, 90.0)
            await asyncio.sleep(780.0)
            assert (there.rooms(), there.count_in_git()) == (2, 2)
            await there.until("seven in Git", lambda: there.count_in_git() == 7, 1800.0)
            assert not any(move.forced for move in there.world.host.moves)

    in_virtual_time(main())


def test_a_force_push_beside_a_decision_on_its_way_loses_nothing() -> None:
    async def main() -> None:
        async with scene(scaled(2, TIMES)) as there:
            there.start("one")
            await there.until("three rooms", lambda: there.rooms() == 3, 500.0)
            host = there.world.host
            host.rewrite(dict(host.commits[host.branches["main"]].files))
            await there.until("three in Git", lambda: there.count_in_git() == 3, 200.0)
            assert there.subjects() == ["Scale arena to 3", "rewrite"]
            assert there.rooms() == 3

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("jump", [3600.0, -3600.0], ids=["an hour on", "an hour back"])
@pytest.mark.parametrize("when", ["waiting", "landed", "held"])
def test_a_clock_that_jumps_delays_no_commit_and_no_decision_by_an_hour(
    jump: float, when: str
) -> None:
    """The policy wants five at every time of day, so the jump itself changes no demand."""

    async def main() -> None:
        text = scaled(2, [{"replicas": 5}])
        async with scene(text) as there:
            service = there.start("one")
            await there.until("five rooms", lambda: there.rooms() == 5, 120.0)
            if when != "waiting":
                await there.until("five in Git", lambda: there.count_in_git() == 5, 120.0)
            if when == "held":
                there.world.commit({FILE: text})
                await there.until("two rooms", lambda: there.rooms() == 2, 120.0)
            service.clock.ahead = jump
            if when == "landed":
                there.world.commit({FILE: there.text().replace("replicas: 5", "replicas: 4", 1)})
                await there.until("four rooms", lambda: there.rooms() == 4, 120.0)
            hold_seconds = 0.0 if when == "waiting" else 900.0
            await there.until("five rooms", lambda: there.rooms() == 5, hold_seconds + 400.0)
            await there.until("five in Git", lambda: there.count_in_git() == 5, 150.0)

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("jump", [3600.0, -3600.0], ids=["an hour on", "an hour back"])
@pytest.mark.parametrize("dies", [False, True], ids=["one process", "another one leads"])
def test_a_persons_number_holds_for_its_time_whatever_the_clock_is_set_to(
    jump: float, dies: bool
) -> None:
    async def main() -> None:
        text = scaled(2, [{"replicas": 5}])
        async with scene(text) as there:
            service = there.start("one")
            await there.until("five in Git", lambda: there.count_in_git() == 5, 240.0)
            there.world.commit({FILE: text})
            await there.until("two rooms", lambda: there.rooms() == 2, 120.0)
            taken_in_at = elapsed()
            service.clock.ahead = jump
            await asyncio.sleep(60.0)
            if dies:
                await service.kill()
                there.start("two").clock.ahead = jump
            while elapsed() < taken_in_at + 850.0:
                await asyncio.sleep(10.0)
                assert there.wanted() in (None, 2), f"{elapsed() - taken_in_at:.0f} s"
            await there.until("five rooms", lambda: there.rooms() == 5, 150.0)

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("judged", [False, True], ids=["no new head", "a head judged after it"])
def test_a_clock_that_is_wrong_for_a_while_lengthens_no_hold(judged: bool) -> None:
    async def main() -> None:
        text = scaled(2, [{"replicas": 5}])
        async with scene(text) as there:
            service = there.start("one")
            await there.until("five in Git", lambda: there.count_in_git() == 5, 240.0)
            there.world.commit({FILE: text})
            await there.until("two rooms", lambda: there.rooms() == 2, 120.0)
            taken_in_at = elapsed()
            await asyncio.sleep(400.0)
            service.clock.ahead = 3600.0
            await asyncio.sleep(60.0)
            service.clock.ahead = 0.0
            if judged:
                there.world.commit({FILE: f"# somebody's remark\n{text}"})
            while elapsed() < taken_in_at + 850.0:
                await asyncio.sleep(10.0)
                assert there.wanted() == 2, f"{elapsed() - taken_in_at:.0f} s"
            await there.until("five rooms", lambda: there.rooms() == 5, 150.0)

    in_virtual_time(main())


class Stubborn(ScalingService):
    """A process that believes to be alone."""

    def start(self) -> None:
        """Start it without a lease."""
        self.task = asyncio.create_task(self.app.run(NoLease("alone")))


@pytest.mark.long
def test_two_who_both_believe_to_lead_lose_nothing_and_force_nothing() -> None:
    async def main() -> None:
        async with scene(scaled(2, TIMES)) as there:
            for name in ("one", "two"):
                there.enter(Stubborn(there.world, name, there.weather))
            await there.until("seven rooms", lambda: there.rooms() == 7, 2400.0)
            await there.until("seven in Git", lambda: there.count_in_git() == 7, 200.0)
            host = there.world.host
            assert not any(move.forced for move in host.moves)
            before = there.count_in_git()
            there.world.commit({FILE: there.text().replace("replicas: 7", "replicas: 5", 1)})
            await there.until("five rooms", lambda: there.rooms() == 5, 90.0)
            acted_at = elapsed()
            while elapsed() < acted_at + 700.0:
                await asyncio.sleep(10.0)
                assert (there.rooms(), there.count_in_git()) == (5, 5)
            await there.until("seven in Git", lambda: there.count_in_git() == before, 500.0)

    in_virtual_time(main())
