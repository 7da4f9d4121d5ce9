"""A policy that is switched off decides no more, also where its rooms wait for an approval."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from reconciler.cli.statuses import status_of
from reconciler.model.holds import Hold, HoldKind
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_counts_branch import APART, counts
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

RUSH = [
    {"from": "08:05", "to": "08:10", "replicas": 12},
    {"from": "08:10", "to": "20:00", "replicas": 16},
]
"""The world begins at 08:00."""
SPEC = scaled(2, RUSH)


def off(text: str) -> str:
    """Return the spec with its policy switched off."""
    return text.replace("autoscaling:\n", "autoscaling:\n    enabled: false\n")


def without(text: str) -> str:
    """Return the spec without a policy."""
    return spec("arena", 2)


@asynccontextmanager
async def pulled(braked: str, config: str = CONFIG, text: str = SPEC) -> AsyncIterator[Scene]:
    """Open a scene in which twelve act that the host does not take, and a commit is held."""
    files = {"gamekeeper.yaml": config, FILE: text}
    async with stage(files, {"arena": Bounds(30, 0)}) as there:
        there.world.host.protected.update(dict.fromkeys(("main", "counts"), "ask for a review"))
        there.start("one")
        await there.until("twelve rooms", lambda: there.rooms() == 12, 400.0)
        there.world.commit({FILE: braked})
        await there.until("it is held", lambda: bool(held(there)), 90.0)
        yield there


def held(there: Scene) -> Hold | None:
    """What is to be approved, None for nothing."""
    holds = there.leader.lane.wanted.holds if there.leader else ()
    return next((each for each in holds if each.key == ARENA and each.change_hash), None)


def shown(there: Scene) -> list[tuple[HoldKind, str]]:
    """What `status` says is held, each with the hash that approves it."""
    assert there.leader is not None
    (arena,) = status_of(there.leader.lane, [ARENA], None, 0.0).workloads
    return sorted((each.kind, each.change_hash) for each in arena.holds)


@pytest.mark.parametrize("brake", [off, without])
@pytest.mark.parametrize("config", [CONFIG, APART], ids=["one branch", "counts apart"])
def test_it_decides_no_more_while_its_rooms_wait_for_an_approval(
    config: str, brake: Callable[[str], str]
) -> None:
    async def main() -> None:
        async with pulled(brake(SPEC), config) as there:
            await asyncio.sleep(600.0)
            assert (there.wanted(), there.rooms()) == (12, 12)
            hold = held(there)
            assert hold is not None
            assert hold.reason.endswith(" (that its policy is off acts at once)")
            there.world.approve(hold.change_hash)
            await there.until("what Git says", lambda: there.rooms() == 2, 200.0)

    in_virtual_time(main())


@pytest.mark.parametrize("config", [CONFIG, APART], ids=["one branch", "counts apart"])
def test_it_goes_on_from_there_where_that_is_taken_back(config: str) -> None:
    async def main() -> None:
        async with pulled(off(SPEC), config) as there:
            there.start("two")
            await there.services[0].kill()
            await asyncio.sleep(600.0)
            assert (there.wanted(), there.rooms()) == (12, 12)
            there.world.host.protected.clear()
            there.world.commit({FILE: SPEC})
            await there.until("sixteen", lambda: there.rooms() == 16, 200.0)
            if config is CONFIG:
                await there.until("in Git", lambda: there.count_in_git() == 16, 200.0)
            else:
                lists = {"Scheduler/arena": 16}
                await there.until("in Git", lambda: counts(there) == lists, 200.0)

    in_virtual_time(main())


@pytest.mark.parametrize("config", [CONFIG, APART], ids=["one branch", "counts apart"])
def test_a_head_without_the_brake_is_judged_as_if_none_had_been(config: str) -> None:
    async def main() -> None:
        async with pulled(off(SPEC), config) as there:
            fewer = SPEC.replace("  replicas: 2\n", "  replicas: 5\n")
            there.world.commit({FILE: fewer})
            # Inside reviewed bounds, so no budget holds it.
            await there.until("a person's number", lambda: there.wanted() == 5, 90.0)
            assert held(there) is None

    in_virtual_time(main())


def test_what_is_suspended_no_more_goes_on_while_its_rooms_wait_for_an_approval() -> None:
    async def main() -> None:
        async with pulled(off(SPEC) + "  suspend: true\n") as there:
            hold = held(there)
            assert hold is not None
            assert "(that it is suspended and its policy is off acts at once)" in hold.reason
            there.world.delete(f"/api/v1/namespaces/arena/pods/{there.world.names('arena')[0]}")
            await asyncio.sleep(60.0)
            assert there.pods() == 11
            there.world.commit({FILE: off(SPEC)})
            await there.until("it is made again", lambda: there.rooms() == 12, 120.0)
            hold = held(there)
            assert hold is not None
            assert hold.reason.endswith("(that its policy is off acts at once)")

    in_virtual_time(main())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(off(SPEC).replace("max: 20", "max: many"), id="a mistake"),
        pytest.param(off(SPEC) + "  more: [", id="no YAML"),
        pytest.param("", id="an empty file"),
        pytest.param(None, id="no file"),
    ],
)
@pytest.mark.parametrize("brake", [off, lambda text: off(text) + "  suspend: true\n"])
def test_a_head_that_does_not_say_what_is_wanted_releases_no_brake(
    text: str | None, brake: Callable[[str], str]
) -> None:
    async def main() -> None:
        async with pulled(brake(SPEC)) as there:
            there.world.commit({FILE: text})
            await asyncio.sleep(200.0)
            there.start("two")
            await there.services[0].kill()
            await asyncio.sleep(400.0)
            assert (there.wanted(), there.rooms()) == (12, 12)
            there.world.host.protected.clear()
            there.world.commit({FILE: SPEC})
            await there.until("it goes on", lambda: there.rooms() == 16, 200.0)

    in_virtual_time(main())


def test_of_what_nobody_asks_for_any_more_what_acts_is_told_alone() -> None:
    async def main() -> None:
        async with pulled(off(SPEC)) as there:
            there.world.commit({FILE: off(SPEC).replace("max: 20", "max: many")})
            await asyncio.sleep(100.0)
            assert shown(there) == [(HoldKind.FINDING, "")]
            assert there.leader is not None
            record = there.leader.lane.store.state(ARENA)
            assert record.held is not None
            assert record.held.told == "its policy is off, by an earlier commit that was held"

    in_virtual_time(main())
