"""A person's number holds for its time, whatever the clocks of those who lead in turn."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.model.errors import Unavailable
from reconciler.model.pushes import Change, Pushed
from reconciler.model.records import RepositoryRecord
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Habits, LoopTime, scaled, scene, stage
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import spec

pytestmark = pytest.mark.long


@pytest.mark.parametrize("ahead", [-3600.0, 0.0, 3600.0], ids=["behind", "right", "ahead"])
@pytest.mark.parametrize("later", [-3600.0, 0.0, 3600.0], ids=["behind", "right", "ahead"])
def test_a_persons_hold_is_by_the_clock_that_all_replicas_share(ahead: float, later: float) -> None:
    async def main() -> None:
        text = scaled(2, [{"replicas": 5}])
        async with scene(text) as there:
            one = there.start("one")
            one.clock.ahead, one.lane.server_now = ahead, LoopTime().now
            await there.until("five in Git", lambda: there.count_in_git() == 5, 340.0)
            there.world.commit({FILE: text})
            await there.until("two rooms", lambda: there.rooms() == 2, 120.0)
            taken_in_at = elapsed()
            await asyncio.sleep(60.0)
            await one.kill()
            two = there.start("two")
            two.clock.ahead, two.lane.server_now = later, LoopTime().now
            while elapsed() < taken_in_at + 850.0:
                await asyncio.sleep(10.0)
                assert there.wanted() in (None, 2), f"{elapsed() - taken_in_at:.0f} s"
            await there.until("five rooms", lambda: there.rooms() == 5, 150.0)

    in_virtual_time(main())


def test_a_number_with_a_longer_hold_in_one_commit_holds_that_long() -> None:
    config = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {{writeBack: {{{}}}}}\n"

    async def main() -> None:
        text = scaled(2, [{"replicas": 6}])
        before = {"gamekeeper.yaml": config.format("humanHoldSeconds: 900"), FILE: text}
        async with stage(before, {"arena": Bounds(30, 0)}) as there:
            one = there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 340.0)
            await asyncio.sleep(60.0)
            # The API server takes its time for the one record that has the Config.
            save, name_of = one.lane.store.change_repository, "change_repository"

            async def slowly(change: Callable[[RepositoryRecord], RepositoryRecord]) -> None:
                await asyncio.sleep(3.0)
                await save(change)

            setattr(one.lane.store, name_of, slowly)
            after = {"gamekeeper.yaml": config.format("humanHoldSeconds: 1800")}
            there.world.commit({**after, FILE: text.replace("replicas: 2", "replicas: 3", 1)})
            await there.until("three rooms", lambda: there.rooms() == 3, 120.0)
            taken_in_at = elapsed()
            while elapsed() < taken_in_at + 1750.0:
                await asyncio.sleep(10.0)
                assert there.wanted() == 3, f"{elapsed() - taken_in_at:.0f} s"
            await there.until("six rooms", lambda: there.rooms() == 6, 150.0)

    in_virtual_time(main())


class Late(MemoryRepository):
    """The answer to the first push is lost, and it comes to the host while the next one is made."""

    def __init__(self, host: MemoryHost, then: Callable[[], object]) -> None:
        super().__init__(host)
        self._then: Callable[[], object] | None = then

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, sooner or later."""
        then, self._then = self._then, None
        if then is None:
            await asyncio.sleep(2.0)
            return await super().push(change, commit)
        stand = partial(self._host.branches.__setitem__, change.branch, commit)
        asyncio.get_running_loop().call_later(2.2, stand)
        then()
        raise Unavailable("the connection ended before the Git host had answered")


@pytest.mark.parametrize("jump", [-3600.0, 0.0, 3600.0], ids=["back", "not", "ahead"])
def test_a_push_in_doubt_is_ours_however_the_clock_is_set_meanwhile(jump: float) -> None:
    clocks: list[LoopTime] = []

    def set_it() -> None:
        clocks[0].ahead = jump

    async def main() -> None:
        habits = Habits(repository=lambda world, name: Late(world.host, set_it))
        files = {FILE: scaled(2, [{"replicas": 6}])}
        async with stage(files, {"arena": Bounds(30, 0)}, habits) as there:
            one = there.start("one")
            clocks.append(one.clock)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            await asyncio.sleep(60.0)
            assert there.head() in one.lane.store.repository.pushed
            assert one.lane.store.state(ARENA).scaling.held_by == ""

    in_virtual_time(main())


@pytest.mark.parametrize("back", [0.0, 3600.0], ids=["right", "an hour back"])
def test_commits_keep_their_distance_after_a_clock_was_set_back(back: float) -> None:
    async def main() -> None:
        plain = scaled(2, [{"replicas": 6}])
        # What no edit can write waits for a person, and is committable at once then.
        shared = plain.replace("replicas: 2\n", "replicas: &n 2\n", 1)
        shared = shared.replace("min: 2\n", "min: *n\n", 1)
        files = {FILE: shared, "schedulers/lobby.yaml": plain.replace("arena", "lobby")}
        bounds = {"arena": Bounds(30, 0), "lobby": Bounds(30, 0)}
        async with stage(files, bounds) as there:
            one, host = there.start("one"), there.world.host
            await asyncio.sleep(20.0)
            one.clock.ahead = -back
            await there.until("the lobby's commit", lambda: len(host.moves) == 1, 500.0)
            first = elapsed()
            await asyncio.sleep(8.0)
            there.world.commit({FILE: plain})
            one.app.head_service.wake()
            await there.until("six in Git", lambda: there.count_in_git() == 6, 300.0)
            assert elapsed() - first >= 59.0

    in_virtual_time(main())


@pytest.mark.parametrize("later", [-3600.0, 0.0, 3600.0], ids=["behind", "right", "ahead"])
def test_a_budget_is_spent_whatever_the_clock_of_who_leads_next(later: float) -> None:
    async def main() -> None:
        files = {FILE: spec("arena", 12)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            one = there.start("one")
            one.lane.server_now = LoopTime().now
            await there.until("twelve rooms", lambda: there.rooms() == 12, 120.0)
            there.world.commit({FILE: spec("arena", 9)})
            await there.until("nine rooms", lambda: there.rooms() == 9, 120.0)
            spent_at = elapsed()
            await one.kill()
            two = there.start("two")
            two.clock.ahead, two.lane.server_now = later, LoopTime().now
            there.world.commit({FILE: spec("arena", 6)})
            while elapsed() < spent_at + 540.0:
                await asyncio.sleep(10.0)
                assert there.rooms() == 9, f"{elapsed() - spent_at:.0f} s"
            assert [hold.kind for hold in two.lane.wanted.holds] == ["over-budget"]

    in_virtual_time(main())


@pytest.mark.parametrize("later", [-3600.0, 0.0, 3600.0], ids=["behind", "right", "ahead"])
def test_a_policy_takes_no_more_than_its_budget_whatever_the_clock_of_who_leads_next(
    later: float,
) -> None:
    async def main() -> None:
        async with scene(scaled(12, [{"replicas": 2}])) as there:
            one = there.start("one")
            one.lane.server_now = LoopTime().now
            await there.until("nine rooms", lambda: there.wanted() == 9, 120.0)
            taken_at = elapsed()
            await asyncio.sleep(20.0)
            await one.kill()
            two = there.start("two")
            two.clock.ahead, two.lane.server_now = later, LoopTime().now
            while elapsed() < taken_at + 590.0:
                await asyncio.sleep(10.0)
                assert there.wanted() in (None, 9), f"{elapsed() - taken_at:.0f} s"
            await there.until("six rooms", lambda: there.wanted() == 6, 60.0)

    in_virtual_time(main())


@pytest.mark.parametrize("later", [-3600.0, 0.0, 3600.0], ids=["behind", "right", "ahead"])
def test_a_cool_down_lasts_whatever_the_clock_of_who_leads_next(later: float) -> None:
    """It is longer than the time for which a budget is spent, so that nothing else holds."""
    text = scaled(12, [{"replicas": 2}])
    text = text.replace(
        "stabilizationSeconds: 0", "stabilizationSeconds: 0\n      cooldownSeconds: 1500"
    )

    async def main() -> None:
        async with scene(text) as there:
            one = there.start("one")
            one.lane.server_now = LoopTime().now
            await there.until("nine rooms", lambda: there.wanted() == 9, 120.0)
            taken_at = elapsed()
            await asyncio.sleep(700.0)
            await one.kill()
            two = there.start("two")
            two.clock.ahead, two.lane.server_now = later, LoopTime().now
            while elapsed() < taken_at + 1490.0:
                await asyncio.sleep(10.0)
                assert there.wanted() in (None, 9), f"{elapsed() - taken_at:.0f} s"
            await there.until("six rooms", lambda: there.wanted() == 6, 60.0)

    in_virtual_time(main())
