"""A record of ours that somebody else writes is no race lost in Git, and hides no commit."""

import asyncio

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import RecordChanged, Unavailable
from reconciler.model.pushes import Change, Pushed
from reconciler.model.refs import Json
from reconciler.service.committer import MOST_RACES
from tests.loop.scaling.house import Habits, ScalingService, scaled, scene
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World

RECORDS = "/api/v1/namespaces/gamekeeper/configmaps"
OURS = f"{RECORDS}/gamekeeper-main"
ARENAS = f"{RECORDS}/gamekeeper-main-local-scheduler-arena.arena"
TEXT = scaled(2, [{"replicas": 5}])


class Meddled(MemoryRepository):
    """A repository beside which somebody writes our records: right before a push, or after it."""

    def __init__(self, world: World, before: str = "", after: str = "", times: int = 1) -> None:
        super().__init__(world.host)
        self.world, self.before, self.after = world, before, after
        self.times = times
        self.service: ScalingService | None = None

    async def write(self, change: Change) -> str:
        """Commit, and let a hand write a record before the commit's id is put on it."""
        commit = await super().write(change)
        if self.before and self.times:
            self.times -= 1
            self.world.touch(self.before)
        return commit

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, and let a hand write a record once the branch has moved."""
        pushed = await super().push(change, commit)
        if self.after:
            self.world.touch(self.after)
        elif self.service is not None:
            self.service.transport.down = "the API server is not reached"
        return pushed


@pytest.mark.parametrize("record", [OURS, ARENAS], ids=["of the branch", "of the workload"])
def test_a_record_that_changed_before_a_push_is_no_lost_race(record: str) -> None:
    async def main() -> None:
        habits = Habits(repository=lambda world, _: Meddled(world, before=record))
        async with scene(TEXT, habits) as there:
            there.start("one")
            await there.until("five in Git", lambda: there.count_in_git() == 5, 200.0)
            [ledger] = there.ledgers
            assert (ledger.races, ledger.troubles) == (0, [])
            [error] = ledger.unrecorded_errors
            assert isinstance(error, RecordChanged)
            assert record.rpartition("/")[2] in str(error)
            assert [landed.commit for landed in ledger.commits] == [there.head()]

    in_virtual_time(main())


def test_a_record_that_changes_at_every_try_is_told_as_a_trouble_and_asked_ever_more_seldom() -> (
    None
):
    async def main() -> None:
        habits = Habits(repository=lambda world, _: Meddled(world, before=OURS, times=20))
        async with scene(TEXT, habits) as there:
            there.start("one")
            [ledger] = there.ledgers
            await there.until("told", lambda: bool(ledger.troubles), 200.0)
            assert len(ledger.unrecorded_errors) == MOST_RACES
            assert isinstance(ledger.troubles[0], RecordChanged)
            assert there.count_in_git() == 2
            await there.until("five in Git", lambda: there.count_in_git() == 5, 1200.0)
            assert ledger.races == 0

    in_virtual_time(main())


def test_a_record_that_changed_after_a_push_hides_no_commit() -> None:
    async def main() -> None:
        habits = Habits(repository=lambda world, _: Meddled(world, after=ARENAS))
        async with scene(TEXT, habits) as there:
            there.start("one")
            [ledger] = there.ledgers
            await there.until("told", lambda: bool(ledger.commits), 200.0)
            assert (ledger.commits[0].commit, ledger.races) == (there.head(), 0)
            [error] = ledger.unrecorded_errors
            assert isinstance(error, RecordChanged)
            await there.until("five rooms", lambda: there.rooms() == 5, 200.0)
            assert there.subjects()[:2] == ["Scale arena to 5", "change"]

    in_virtual_time(main())


def test_an_api_server_that_goes_right_after_a_push_is_laid_to_no_git_host() -> None:
    async def main() -> None:
        made: list[Meddled] = []

        def opened(world: World, name: str) -> Meddled:
            made.append(Meddled(world))
            return made[-1]

        async with scene(TEXT, Habits(repository=opened)) as there:
            one = there.start("one")
            assert isinstance(one, ScalingService)
            made[0].service = one
            [ledger] = there.ledgers
            await there.until("told", lambda: bool(ledger.commits), 200.0)
            made[0].service, one.transport.down = None, ""
            assert (ledger.commits[0].commit, ledger.troubles) == (there.head(), [])
            [error] = ledger.unrecorded_errors
            assert isinstance(error, Unavailable)
            await there.until("five rooms", lambda: there.rooms() == 5, 200.0)
            assert there.count_in_git() == 5

    in_virtual_time(main())


class Beside(MemoryRepository):
    """A repository into which somebody pushes while a commit of ours is made.

    The commit is ready when that head has gone on record, of which the answer is on its way.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world.host)
        self.world = world
        self.on_its_way = asyncio.Event()
        self.service: ScalingService | None = None

    async def write(self, change: Change) -> str:
        """Commit, and wait until the other writer of the record has begun."""
        commit = await super().write(change)
        service, self.service = self.service, None
        if service is not None:
            self._hold(service)
            self.world.commit({"README.md": "A fleet"})
            service.app.head_service.wake()
            await self.on_its_way.wait()
        return commit

    def _hold(self, service: ScalingService) -> None:
        send, name_of = service.transport.send, "send"

        async def held(call: Call) -> tuple[int, Json]:
            answer = await send(call)
            if call.path.startswith(f"{OURS}?") and not self.on_its_way.is_set():
                self.on_its_way.set()
                await asyncio.sleep(1.0)  # virtual: whatever can be done meanwhile is done
            return answer

        setattr(service.transport, name_of, held)


def test_two_writers_of_one_process_are_not_taken_for_somebody_else() -> None:
    async def main() -> None:
        made: list[Beside] = []

        def opened(world: World, name: str) -> Beside:
            made.append(Beside(world))
            return made[-1]

        async with scene(TEXT, Habits(repository=opened)) as there:
            one = there.start("one")
            assert isinstance(one, ScalingService)
            made[0].service = one
            await there.until("five in Git", lambda: there.count_in_git() == 5, 200.0)
            assert made[0].on_its_way.is_set()
            assert one.ledger.unrecorded_errors == []
            await there.until("judged", lambda: one.lane.wanted.commit == there.head(), 60.0)
            known = one.lane.store.repository
            assert known.commit == there.head() in known.pushed

    in_virtual_time(main())
