"""A policy takes no room on the word of a commit that is held because a record was lost."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reconciler.model.errors import Unavailable
from reconciler.model.holds import Hold, HoldKind
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_brakes import held
from tests.loop.scaling.test_counts_branch import APART, counts
from tests.loop.scaling.test_counts_file import IN_A_FILE
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import spec

pytestmark = pytest.mark.long

Times = list[dict[str, Any]]
ONE: Times = [{"from": "08:00", "to": "20:00", "replicas": 1}]
RUSH: Times = [{"from": "08:30", "to": "08:45", "replicas": 14}, *ONE]
MANY: Times = [{"from": "08:00", "to": "20:00", "replicas": 14}]
TEN: Times = [{"from": "08:01", "to": "08:20", "replicas": 10}, *ONE]
"""The world begins at 08:00."""
NUMBER = "  replicas: 1\n"
CUP = """\
apiVersion: gamekeeper.dev/v1
kind: Config
spec:
  freeze:
    - {name: cup, schedule: "20 8 * * *", timeZone: UTC, durationSeconds: 3600}
"""
HELD = scaled(8, ONE, low=1)


async def lost(there: Scene, head: Callable[[], object]) -> None:
    """Let a record be lost while nobody looks, and a head come meanwhile."""
    before = there.start("one")
    await there.until("ten rooms", lambda: there.rooms() == 10, 900.0)
    await asyncio.sleep(90.0)
    ref = before.lane.store._places.state(ARENA)
    await before.kill()
    there.world.delete(f"/api/v1/namespaces/{ref.namespace}/configmaps/{ref.name}")
    head()
    there.start("two")


async def lost_beside(there: Scene, text: str) -> None:
    """Lose it where a spec is committed that asks for fewer rooms, which is held."""
    await lost(there, lambda: there.world.commit({FILE: text}))
    await there.until("it is held", lambda: bool(held(there)), 200.0)


def holds_it(there: Scene, rooms: int = 10) -> bool:
    """Whether it is held that a record was lost, and so many rooms are there."""
    hold = held(there)
    is_held = hold is not None and hold.kind is HoldKind.NO_ACCEPTED_COMMIT
    return is_held and (there.wanted(), there.rooms()) == (rooms, rooms)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(scaled(1, ONE, low=1, high=6), id="above its max"),
        pytest.param(scaled(1, MANY, low=1, high=6), id="above its max, and more are wanted"),
        pytest.param(scaled(1, ONE, low=1), id="inside its bounds"),
    ],
)
def test_no_room_goes_by_its_policy_until_somebody_approves(text: str) -> None:
    async def main() -> None:
        async with stage({FILE: spec("arena", 10)}, {"arena": Bounds(30, 0)}) as there:
            await lost_beside(there, text)
            await asyncio.sleep(1800.0)
            assert holds_it(there)
            assert there.leader is not None
            pause = there.leader.lane.pause(ARENA)
            assert pause is not None
            assert "nobody has approved" in pause.message
            hold = held(there)
            assert hold is not None
            there.world.approve(hold.change_hash)
            await there.until("it goes", lambda: there.rooms() in (1, 6), 400.0)

    in_virtual_time(main())


def test_rooms_are_added_all_the_same_and_none_of_that_lands_in_git() -> None:
    """A number of ours beside what is held would let it pass."""

    async def main() -> None:
        async with stage({FILE: spec("arena", 10)}, {"arena": Bounds(30, 0)}) as there:
            await lost_beside(there, scaled(1, RUSH, low=1))
            await there.until("the rush", lambda: there.rooms() == 14, 3000.0)
            await asyncio.sleep(3600.0)
            assert holds_it(there, 14)
            assert there.count_in_git() == 1

    in_virtual_time(main())


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param([HELD.replace("game: arena", "gaem: arena"), HELD], id="broken and mended"),
        pytest.param([None, HELD], id="gone and back"),
        pytest.param([scaled(9, ONE, low=1)], id="another number, within the budget"),
    ],
)
def test_what_follows_it_is_not_reviewed_either(texts: Sequence[str | None]) -> None:
    async def main() -> None:
        files = {FILE: spec("arena", 10), "schedulers/lobby.yaml": spec("lobby", 1)}
        bounds = dict.fromkeys(("arena", "lobby"), Bounds(30, 0))
        async with stage(files, bounds) as there:
            await lost_beside(there, HELD)
            for text in texts:
                there.world.commit({FILE: text})
                await asyncio.sleep(200.0)
            await asyncio.sleep(1800.0)
            assert holds_it(there)

    in_virtual_time(main())


def test_nor_is_what_follows_it_in_a_freeze() -> None:
    """What waits was looked at by nobody, and when it waits no more it is asked for."""

    async def main() -> None:
        files = {"gamekeeper.yaml": CUP, FILE: spec("arena", 10)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            await lost_beside(there, HELD)
            leader = there.leader
            assert leader is not None
            await there.until("frozen", lambda: bool(leader.lane.store.repository.freezes), 1800.0)
            await asyncio.sleep(60.0)
            assert holds_it(there)
            there.world.commit({FILE: scaled(9, ONE, low=1)})
            await asyncio.sleep(600.0)
            hold = held(there)
            assert hold is not None
            assert hold.kind is HoldKind.FROZEN
            assert (there.wanted(), there.rooms()) == (10, 10)
            await asyncio.sleep(4200.0)
            assert holds_it(there)

    in_virtual_time(main())


def test_nor_is_what_it_says_once_the_branch_of_counts_is_gone() -> None:
    """What acted goes on as our own number then, and takes nothing away itself."""

    async def main() -> None:
        files = {"gamekeeper.yaml": APART, FILE: scaled(8, TEN, low=1)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            host = there.world.host
            host.protected["main"] = "changes go through merge requests"

            def fewer() -> None:
                assert counts(there) == {"Scheduler/arena": 10}
                text = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
                files = {"replicas.yaml": text.replace("arena: 10", "arena: 2")}
                host.commit(files, branch="counts")

            await lost(there, fewer)
            await there.until("it is held", lambda: bool(held(there)), 200.0)
            assert there.leader is not None
            await there.leader.kill()
            del host.branches["counts"]
            there.start("three")
            await asyncio.sleep(1800.0)
            assert holds_it(there)

    in_virtual_time(main())


def test_of_a_spec_without_a_number_that_is_one_of_its_rooms() -> None:
    """So nothing is taken away, and its policy goes on from there."""

    async def main() -> None:
        text = scaled(1, TEN, low=1)
        assert NUMBER in text
        async with stage(
            {"gamekeeper.yaml": IN_A_FILE, FILE: spec("arena", 10)}, {"arena": Bounds(30, 0)}
        ) as there:
            await lost(there, lambda: there.world.commit({FILE: text.replace(NUMBER, "", 1)}))
            await asyncio.sleep(600.0)
            assert held(there) is None
            assert (there.wanted(), there.rooms()) == (10, 10)
            await there.until("fewer, step by step", lambda: there.rooms() == 7, 1800.0)

    in_virtual_time(main())


def test_taking_its_number_out_takes_nothing_away() -> None:
    """Then it is what was accepted, whatever its policy has added since."""

    async def main() -> None:
        text = scaled(1, RUSH, low=1)
        async with stage(
            {"gamekeeper.yaml": IN_A_FILE, FILE: spec("arena", 10)}, {"arena": Bounds(30, 0)}
        ) as there:
            await lost_beside(there, text)
            await there.until("the rush", lambda: there.rooms() == 14, 3000.0)
            there.world.commit({FILE: text.replace(NUMBER, "", 1)})
            await there.until("it holds no more", lambda: held(there) is None, 200.0)
            await there.until("fewer, step by step", lambda: there.rooms() < 10, 3600.0)

    in_virtual_time(main())


@asynccontextmanager
async def image_held(times: Times) -> AsyncIterator[tuple[Scene, Hold]]:
    """Stage a new image of a spec without a number, which waits for its record was lost."""
    text = scaled(1, times, low=1).replace("game:1", "game:2").replace(NUMBER, "", 1)
    files = {"gamekeeper.yaml": IN_A_FILE, FILE: spec("arena", 10)}
    async with stage(files, {"arena": Bounds(30, 0)}) as there:
        await lost_beside(there, text)
        hold = held(there)
        assert hold is not None
        yield there, hold


def test_an_image_waits_for_one_approval_however_many_rooms_end_meanwhile() -> None:
    async def main() -> None:
        async with image_held(MANY) as (there, hold):
            for pod in there.world.pods("arena")[:3]:
                there.world.delete(f"/api/v1/namespaces/arena/pods/{pod['metadata']['name']}")
                await asyncio.sleep(60.0)
            assert there.rooms() == 7
            there.world.approve(hold.change_hash)
            await there.until("it is let through", lambda: there.rooms() == 14, 600.0)

    in_virtual_time(main())


def test_a_room_that_ends_right_before_an_approval_takes_it_from_nobody() -> None:
    """The look that finds the approval is the first that sees the room gone, a second later."""

    async def main() -> None:
        async with image_held(MANY) as (there, hold):
            await asyncio.sleep(61.3)
            first = there.world.pods("arena")[0]["metadata"]["name"]
            there.world.delete(f"/api/v1/namespaces/arena/pods/{first}")
            await asyncio.sleep(0.5)
            await asyncio.sleep(1.99 - there.world.time.now() % 1.0)
            there.world.approve(hold.change_hash)
            await there.until("it is let through", lambda: held(there) is None, 60.0)

    in_virtual_time(main())


def test_an_approval_of_a_spec_without_a_number_is_none_of_one_with_nought() -> None:
    async def main() -> None:
        numbered = scaled(1, TEN, low=0).replace("game:1", "game:2")
        files = {"gamekeeper.yaml": IN_A_FILE, FILE: spec("arena", 10)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            await lost_beside(there, numbered.replace(NUMBER, "", 1))
            hold = held(there)
            assert hold is not None
            await asyncio.sleep(70.0)
            there.world.host.fault = Unavailable("down")
            await asyncio.sleep(5.0)
            there.world.approve(hold.change_hash)
            await asyncio.sleep(5.0)
            there.world.commit({FILE: numbered.replace("replicas: 1\n", "replicas: 0\n", 1)})
            there.world.host.fault = None
            await asyncio.sleep(400.0)
            assert held(there) is not None

    in_virtual_time(main())


def test_who_approves_an_image_approves_no_other_count() -> None:
    async def main() -> None:
        async with image_held(TEN) as (there, hold):
            there.world.approve(hold.change_hash)
            await there.until("it is let through", lambda: held(there) is None, 60.0)
            counts = []
            for _ in range(60):
                await asyncio.sleep(5.0)
                counts.append(there.wanted())
            assert set(counts) == {10}
            await there.until("fewer, step by step", lambda: there.rooms() == 7, 1800.0)

    in_virtual_time(main())


@pytest.mark.parametrize("approves", [False, True])
def test_once_it_holds_no_more_its_policy_acts(approves: bool) -> None:
    """A person's number that a branch of counts overrules is held at first, and asked no more."""

    async def main() -> None:
        files = {"gamekeeper.yaml": APART, FILE: scaled(8, TEN, low=1)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            there.world.host.protected["main"] = "changes go through merge requests"
            await lost_beside(there, scaled(2, TEN, low=1))
            hold = held(there)
            assert hold is not None
            if approves:
                there.world.approve(hold.change_hash)
            await there.until("it holds no more", lambda: held(there) is None, 600.0)
            await there.until("its policy acts", lambda: there.rooms() == 1, 7200.0)

    in_virtual_time(main())
