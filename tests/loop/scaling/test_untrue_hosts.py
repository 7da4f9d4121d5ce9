"""A host that takes a push and moves nothing, and the quiet time over a change of leader."""

import asyncio
from collections.abc import Callable

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.git.memory_host import MemoryHost
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.pushes import Change, Pushed
from reconciler.model.trees import Head
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Habits, ScalingService, scaled, scene, stage
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

SHUT_SECONDS = 240.0
FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""


class Forgetful(MemoryHost):
    """A host that says yes to a push and stays where it is."""

    forgets = True
    taken = 0

    def take(self, commit: str, branch: str, expected: str) -> None:
        """Say yes."""
        self.taken += 1
        if not self.forgets:
            super().take(commit, branch, expected)


def test_a_host_that_takes_each_push_and_moves_nothing_is_told_and_nothing_is_lost() -> None:
    async def main() -> None:
        later = {"from": "08:20", "to": "20:00", "replicas": 8}
        times = [{**FROM_EIGHT[0], "to": "08:20"}, later]
        async with scene(scaled(2, times)) as there:
            old = there.world.host
            host = Forgetful(old.branches, old.commits)
            there.world.host = host
            one = there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 500.0)
            await there.until("told", lambda: bool(there.ledgers[0].troubles), 600.0)
            assert "says that it took 4 commits" in str(there.ledgers[0].troubles[0])
            assert len(there.ledgers[0].commits) == 3
            await asyncio.sleep(1800.0)
            assert there.rooms() == 8, "what is decided acts"
            assert 5 <= host.taken <= 45, "tried again, and no more often than it is committed"
            assert len(one.lane.store.repository.pushed) <= 15, "none of them stands there"
            host.forgets = False
            await there.until("eight in Git", lambda: there.count_in_git() == 8, 200.0)
            assert there.told("arena") == [(2, 6), (6, 8)]
            await asyncio.sleep(120.0)
            assert there.ledgers[0].commits[-1].commit == there.head(), "that it ended is told"
            assert there.head() in one.lane.store.repository.pushed
            assert [count for _, count in there.ledgers[0].decisions] == [6, 8]

    in_virtual_time(main())


def test_who_leads_next_commits_no_sooner_than_the_quiet_time_allows() -> None:
    async def main() -> None:
        shared = scaled(2, FROM_EIGHT).replace("replicas: 2\n", "replicas: &n 2\n", 1)
        shared = shared.replace("min: 2\n", "min: *n\n", 1)
        lobby = "schedulers/lobby.yaml"
        files = {FILE: shared, lobby: scaled(2, FROM_EIGHT).replace("arena", "lobby")}
        async with stage(files, dict.fromkeys(("arena", "lobby"), Bounds(30, 0))) as there:
            one, host = there.start("one"), there.world.host
            await there.until("the lobby's commit", lambda: len(host.moves) == 1, 500.0)
            await one.stop()
            there.world.commit({FILE: shared.replace("&n 2", "2").replace("*n", "2")})
            there.start("two")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 200.0)
            first, second = (host.commits[move.after].committed_at for move in host.moves)
            assert 59.0 <= second - first <= 70.0

    in_virtual_time(main())


class Interrupting(MemoryRepository):
    """A repository whose first push is taken when something else happens."""

    then: Callable[[], None] = staticmethod(lambda: None)

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, and let it happen."""
        pushed = await super().push(change, commit)
        self.then()
        self.then = lambda: None
        return pushed


def test_a_commit_counts_for_the_quiet_time_also_where_no_record_of_it_can_be_kept() -> None:
    async def main() -> None:
        shared = scaled(2, FROM_EIGHT).replace("replicas: 2\n", "replicas: &n 2\n", 1)
        shared = shared.replace("min: 2\n", "min: *n\n", 1)
        files = {FILE: shared, "schedulers/lobby.yaml": scaled(2, FROM_EIGHT)}
        files["schedulers/lobby.yaml"] = files["schedulers/lobby.yaml"].replace("arena", "lobby")
        habits = Habits(repository=lambda world, name: Interrupting(world.host))
        bounds = dict.fromkeys(("arena", "lobby"), Bounds(30, 0))
        async with stage(files, bounds, habits) as there:
            one, host = there.start("one"), there.world.host
            assert isinstance(one, ScalingService)
            assert isinstance(one.repository, Interrupting)

            def interrupt() -> None:
                one.transport.down = "the API server is not reached"
                there.world.commit({FILE: shared.replace("&n 2", "2").replace("*n", "2")})

            one.repository.then = interrupt
            await there.until("the lobby's commit", lambda: len(host.moves) == 1, 500.0)
            await asyncio.sleep(5.0)
            one.transport.down = ""
            await there.until("six in Git", lambda: there.count_in_git() == 6, 300.0)
            first, second = (host.commits[move.after].committed_at for move in host.moves)
            assert 59.0 <= second - first <= 90.0

    in_virtual_time(main())


def test_pushes_that_nobody_answers_fill_no_record_while_people_push_all_the_time() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            one, host = there.start("one"), there.world.host
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            host.refusal = Unavailable("the proxy says 502")
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            for number in range(45):
                there.world.commit({"README.md": f"{number}\n"})
                await asyncio.sleep(60.0)
            assert len(one.lane.store.repository.pushed) <= 25, "none of them stands there"
            host.heal()
            await there.until("six in Git", lambda: there.count_in_git() == 6, 200.0)
            await asyncio.sleep(90.0)
            assert there.head() in one.lane.store.repository.pushed
            assert [count for _, count in there.ledgers[0].decisions] == [6]

    in_virtual_time(main())


class Refusing(MemoryRepository):
    """The host takes the first push, and `error` is the answer; every fetch takes a while."""

    def __init__(self, host: MemoryHost, error: PortError) -> None:
        super().__init__(host)
        self._error: PortError | None = error

    async def fetch(self) -> Head:
        """Tell what stood there when it was asked."""
        head = await super().fetch()
        await asyncio.sleep(3.0)
        return head

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, and hear that it was refused."""
        pushed = await super().push(change, commit)
        error, self._error = self._error, None
        if error is not None:
            raise error
        return pushed


@pytest.mark.parametrize("error", [Denied("HTTP 403"), Misconfigured("HTTP 404")], ids=str)
def test_a_push_that_the_host_takes_and_says_it_refused_is_no_persons(error: PortError) -> None:
    habits = Habits(repository=lambda world, name: Refusing(world.host, error))

    async def main() -> None:
        later = {"from": "08:08", "to": "20:00", "replicas": 12}
        text = scaled(2, [{**FROM_EIGHT[0], "to": "08:08"}, later])
        async with stage({FILE: text}, {"arena": Bounds(30, 0)}, habits) as there:
            one = there.start("one")
            one.clock.ahead = 0.3
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            first = there.head()
            await asyncio.sleep(30.0)
            assert first in one.lane.store.repository.pushed
            assert one.lane.store.state(ARENA).scaling.held_until == 0.0
            await there.until("twelve rooms", lambda: there.rooms() == 12, 200.0)
            await there.until("twelve in Git", lambda: there.count_in_git() == 12, 200.0)
            assert there.told("arena") == [(2, 6), (6, 12)]

    in_virtual_time(main())


class Lagging(MemoryRepository):
    """Reads come from a copy that is `LAG_SECONDS` behind the host that takes the pushes."""

    old = ""

    async def fetch(self) -> Head:
        """Tell what stood there long ago."""
        tip = self._host.branches[self._branch]
        self.old = self.old or tip
        if elapsed() >= LAG_SECONDS:
            return await super().fetch()
        self._host.branches[self._branch] = self.old
        try:
            return await super().fetch()
        finally:
            self._host.branches[self._branch] = tip


LAG_SECONDS = 960.0


def test_what_the_host_said_it_took_is_ours_however_late_it_is_seen() -> None:
    habits = Habits(repository=lambda world, name: Lagging(world.host))

    async def main() -> None:
        times = [
            {"from": "08:00", "to": "08:16", "replicas": 6},
            {"from": "08:16", "to": "20:00", "replicas": 9},
        ]
        async with stage({FILE: scaled(2, times)}, {"arena": Bounds(30, 0)}, habits) as there:
            one = there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 200.0)
            first = there.head()
            await asyncio.sleep(LAG_SECONDS + 70.0 - elapsed())
            assert first in one.lane.store.repository.pushed
            assert one.lane.store.state(ARENA).scaling.held_by == ""
            await there.until("nine rooms", lambda: there.rooms() == 9, 60.0)

    in_virtual_time(main())


class _ShutDoor(MemoryRepository):
    """Takes the first push; from its answer on, and for a while, whoever asks is refused."""

    def __init__(self, host: MemoryHost, error: type[PortError]) -> None:
        super().__init__(host)
        self._error = error
        self._until: float | None = None

    async def fetch(self) -> Head:
        self._check()
        return await super().fetch()

    async def tip(self, branch: str) -> str:
        self._check()
        return await super().tip(branch)

    async def push(self, change: Change, commit: str = "") -> Pushed:
        self._check()
        done = await super().push(change, commit)
        if self._until is None:
            self._until = elapsed() + SHUT_SECONDS
            self._check()
        return done

    def _check(self) -> None:
        if self._until is not None and elapsed() < self._until:
            raise self._error("HTTP 403: the session has expired")


@pytest.mark.parametrize("error", [Unavailable, Denied, Misconfigured])
def test_a_push_that_was_taken_before_the_door_shut_takes_no_later_room(
    error: type[PortError],
) -> None:
    wanted: list[int | None] = []

    async def main() -> None:
        grows = [
            {"from": "08:05", "to": "08:08", "replicas": 6},
            {"from": "08:08", "to": "20:00", "replicas": 14},
        ]
        habits = Habits(repository=lambda world, name: _ShutDoor(world.host, error))
        slow = "    scaleUp: {step: 1, cooldownSeconds: 10}\n    scaleDown:"
        text = scaled(2, grows).replace("    scaleDown:", slow)
        async with stage({FILE: text}, {"arena": Bounds(30, 0)}, habits) as there:
            there.start("one")
            while elapsed() < 1000:
                await asyncio.sleep(1)
                wanted.append(there.wanted())
            assert there.count_in_git() == 14

    in_virtual_time(main())
    counts = [each for each in wanted if each is not None]
    assert counts == sorted(counts)
    assert counts[-1] == 14
